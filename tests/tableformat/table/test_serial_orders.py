"""A serializable table is as if its statements had run one by one, in cycles of two and three."""

from __future__ import annotations

import random
from itertools import product

import pytest

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


@pytest.mark.parametrize("kind", STATEMENTS)
def test_two_statements_at_once_are_as_if_one_came_after_the_other(kind: str) -> None:
    rng = random.Random(f"two {kind}")
    for other in STATEMENTS:
        for kinds in ((kind, other), (other, kind)):
            case = random_case(rng, kinds)
            if case is not None:
                case.check()


@pytest.mark.parametrize("seed", range(4))
def test_three_statements_at_once_are_as_if_each_came_after_another(seed: int) -> None:
    try_cases(3, seed, 40)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_many_cycles_of_two_and_three_are_as_if_one_came_after_another(seed: int) -> None:
    try_cases(2, 100 + seed, 4 * len(STATEMENTS) ** 2)
    try_cases(3, 200 + seed, 1_000)
