"""Statements by chance, so that those who run at the same time meet often."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from tests.simulation.rows import Condition, Test, Values
from tests.simulation.statements import Kind, Step

KINDS: tuple[Kind, ...] = (
    "append", "delete", "update", "upsert", "replace", "overwrite", "replace_partitions"
)  # fmt: skip
MIX = (5.0, 4.0, 4.0, 4.0, 1.0, 0.3, 1.0)
"""How often each of them is chosen."""

MOST_ROWS = 60
"""Tables above this size are deleted from rather than added to."""

SHARED_ROWS = range(1_000_000, 1_000_006)
"""Ids that several writers insert, perhaps at the same time."""


def random_condition(order: random.Random, known: Collection[int]) -> Condition:
    """A condition that some of the rows with these ids may meet."""
    tests: tuple[Test, ...] = ("ids", "is", "above", "not", "all")
    test = order.choices(tests, (8, 4, 1, 1, 0.2))[0]
    if test == "ids":
        ids = sorted(known) or [0]
        return Condition("ids", tuple(order.sample(ids, min(len(ids), order.randint(1, 3)))))
    return Condition(test, (order.randint(0, 4),))


def random_rows(order: random.Random, ids: Iterable[int]) -> Values:
    """New rows with these ids."""
    return tuple((row, order.choice((None, 0, 1, 2, 3, 4))) for row in ids)


def with_columns(order: random.Random, step: Step, names: Collection[str]) -> Step:
    """The step with rows that have some of the extra columns; an upsert needs all of them."""
    if not step.rows or not names:
        return step
    given = [name for name in sorted(names) if step.kind == "upsert" or order.random() < 0.6]
    return replace(step, given=tuple(given), salt=order.randint(0, 6))


def random_step(
    order: random.Random,
    table: str,
    known: Collection[int],
    new_ids: Callable[[int], list[int]],
    mix: Sequence[float] = MIX,
) -> Step:
    """A statement on a table that was seen with the rows `known`; those after `mix` are not."""
    if len(known) > MOST_ROWS:
        return Step("delete", table, where=Condition("above", (1,)))
    kind = order.choices(KINDS[: len(mix)], mix)[0]
    match kind:
        case "append" | "overwrite":
            return Step(kind, table, random_rows(order, new_ids(order.randint(2, 8))))
        case "upsert":
            old = order.sample(sorted(known), min(len(known), order.randint(0, 2)))
            ids = dict.fromkeys([*old, *new_ids(1), order.choice(SHARED_ROWS)])
            return Step("upsert", table, random_rows(order, ids))
        case "replace":
            value = order.randint(0, 4)
            new = tuple((row, value) for row in new_ids(order.randint(0, 2)))
            return Step("replace", table, new, Condition("is", (value,)))
        case "replace_partitions":
            return Step(kind, table, random_rows(order, new_ids(order.randint(1, 3))))
    where = random_condition(order, known)
    return Step(kind, table, where=where, value=order.randint(0, 4))
