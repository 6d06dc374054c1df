"""Writes: statements of every kind, transactions over several tables, batches that come again."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tableformat.database import Database
from tests.simulation.statements import (
    Condition,
    Kind,
    Rows,
    State,
    Step,
    random_condition,
    random_rows,
)
from tests.simulation.world import World

KINDS: tuple[Kind, ...] = ("append", "delete", "update", "upsert", "replace", "overwrite")

MOST_ROWS = 60
"""Tables above this size are deleted from rather than added to."""


@dataclass(frozen=True)
class Writer:
    """Asks for one statement, or for several in a transaction; `mix` weighs the `KINDS`."""

    weight: float = 8.0
    mix: tuple[float, ...] = (5, 4, 4, 4, 1, 0.3)

    def act(self, database: Database, world: World, order: random.Random) -> None:
        """Ask for one intent; it may have been planned on any state that was seen before."""
        state = world.oracle.states[database.snapshot.epoch]
        if order.random() < 0.12:
            steps = [self._step(world, order, table, rows) for table, rows in state.items()]
            world.ask(database, world.intend(*steps, *self._new_table(world, order, state)))
            return
        table = order.choice(sorted(state))
        step = self._step(world, order, table, state[table])
        expected = database.snapshot.epoch if order.random() < 0.05 else None
        world.ask(database, world.intend(step, expect_epoch=expected))

    def _new_table(self, world: World, order: random.Random, state: State) -> list[Step]:
        others = sorted(name for name in state if name.startswith("t"))
        if others:
            return [Step("drop", order.choice(others))]
        ids = world.new_ids(1)
        return [Step("create", f"t{ids[0]}", random_rows(order, ids))]

    def _step(self, world: World, order: random.Random, table: str, rows: Rows) -> Step:
        where = random_condition(order, rows)
        fresh: Callable[[int], list[int]] = world.new_ids
        if len(rows) > MOST_ROWS:
            return Step("delete", table, where=Condition("above", (1,)))
        kind = order.choices(KINDS, self.mix)[0]
        match kind:
            case "append" | "overwrite":
                return Step(kind, table, random_rows(order, fresh(order.randint(2, 8))))
            case "upsert":
                known = order.sample(sorted(rows), min(len(rows), order.randint(0, 2)))
                # A few ids that others may insert at the same time.
                shared = [1_000_000 + order.randint(0, 5)]
                ids = dict.fromkeys([*known, *fresh(1), *shared])
                return Step("upsert", table, random_rows(order, list(ids)))
            case "replace":
                value = order.randint(0, 4)
                new = tuple((row, value) for row in fresh(order.randint(0, 2)))
                return Step("replace", table, new, Condition("is", (value,)))
        return Step(kind, table, where=where, value=order.randint(0, 4))
