"""A serializable table is as if its statements had run one by one, in cycles of two and three."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import product
from typing import Any
from unittest.mock import patch

import pytest

from colonnade.manifests.commit.change import TableRead
from colonnade.tableformat.statements import update
from colonnade.tableformat.statements.keyed import delete_keys, unique
from colonnade.tableformat.statements.statement import Statement, row_statement
from colonnade.tableformat.table.transaction.transaction import ArrowTransaction
from tests.serial_orders import METHODS, STATEMENTS, random_case, statements_of_the_api


def test_every_statement_that_changes_rows_is_tried() -> None:
    assert statements_of_the_api() == METHODS


def try_cases(size: int, seed: int, count: int) -> None:
    rng = random.Random(seed)
    every = list(product(STATEMENTS, repeat=size))
    chosen = every * (count // len(every)) + rng.sample(every, count % len(every))
    for kinds in chosen:
        case = random_case(rng, kinds)
        if case is not None:
            case.check()


@pytest.mark.slow
@pytest.mark.parametrize("kind", STATEMENTS)
def test_two_statements_at_once_are_as_if_one_came_after_the_other(kind: str) -> None:
    rng = random.Random(f"two {kind}")
    for other in STATEMENTS:
        for kinds in ((kind, other), (other, kind)):
            case = random_case(rng, kinds)
            if case is not None:
                case.check()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_three_statements_at_once_are_as_if_each_came_after_another(seed: int) -> None:
    try_cases(3, seed, 40)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_many_cycles_of_two_and_three_are_as_if_one_came_after_another(seed: int) -> None:
    try_cases(2, 100 + seed, 4 * len(STATEMENTS) ** 2)
    try_cases(3, 200 + seed, 1_000)


def _reading_nothing(*given: Any, **named: Any) -> Statement:
    return row_statement(*given, **{**named, "reads": ()})


def _unless_any_row(transaction: ArrowTransaction, read: TableRead) -> None:
    if read.may_match or read.columns is not None:
        transaction._reads.append(read)


BUGS: dict[str, tuple[str, tuple[str, ...], Callable[[], AbstractContextManager[Any]]]] = {
    "a deletion of keys": (
        "delete_keys",
        ("there", "not there"),
        lambda: patch.object(delete_keys, "row_statement", _reading_nothing),
    ),
    "an append that ignores keys": (
        "append ignore",
        ("there", "not there"),
        lambda: patch.object(unique._Comparison, "reads", lambda *_, **__: ()),
    ),
    "an update": (
        "update",
        ("less",),
        lambda: patch.object(update, "row_statement", _reading_nothing),
    ),
    "a statement that fails": (
        "delete",
        ("refused",),
        lambda: patch.object(ArrowTransaction, "_record_read", _unless_any_row),
    ),
}
"""A kind of statement, what the transaction beside it asks for, and who states no reads."""


FOUND: dict[str, int] = {"a deletion of keys": 29, "an append that ignores keys": 170}
"""A seed that finds the mistake; the search begins with it."""


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_statement_that_does_not_say_what_it_read_is_found(bug: str) -> None:
    kind, guards, plant = BUGS[bug]
    with plant():
        assert any(finds(kind, guards, seed) for seed in (FOUND.get(bug, 0), *range(500)))


def finds(kind: str, guards: Sequence[str], seed: int) -> bool:
    """Whether a kind of statement beside a transaction that has asked finds a mistake."""
    rng = random.Random(seed)
    case = random_case(rng, [kind, rng.choice(("append", "delete"))])
    assert case is not None
    one, other = case.steps
    one = replace(one, guard=None, in_transaction=False)
    other = replace(other, guard=rng.choice(guards), in_transaction=True)
    steps = rng.choice(((one, other), (other, one)))
    try:
        replace(case, steps=steps).check()
    except AssertionError:
        return True
    return False
