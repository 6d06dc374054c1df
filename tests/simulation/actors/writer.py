"""Writes: statements of every kind, and transactions over several tables."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.chance import KINDS, MIX, random_rows, random_step, with_columns
from tests.simulation.keyed.rows import TABLES as KEYED
from tests.simulation.rows import State
from tests.simulation.statements import Step
from tests.simulation.world import World

WITHIN = KINDS.index("replace_partitions")
"""A transaction has the statements before this one."""


@dataclass(frozen=True)
class Writer:
    """Asks for one statement, or for several in a transaction; `mix` weighs their kinds."""

    weight: float = 8.0
    mix: tuple[float, ...] = MIX

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Ask for one intent; it may have been planned on any state that was seen before."""
        epoch = database._snapshot.epoch
        columns = world.oracle.columns[epoch]
        state = {k: v for k, v in world.oracle.states[epoch].items() if k not in KEYED}
        if order.random() < 0.12:
            steps = [
                with_columns(
                    order,
                    random_step(order, table, rows, world.new_ids, self.mix[:WITHIN]),
                    columns[table].whole,
                )
                for table, rows in state.items()
            ]
            world.ask_of(database, world.intend(*steps, self._other_table(world, order, state)))
            return
        table = order.choice(sorted(state))
        step = random_step(order, table, state[table], world.new_ids, self.mix)
        step = with_columns(order, step, columns[table].whole)
        expected = database._snapshot.epoch if order.random() < 0.05 else None
        world.ask_of(database, world.intend(step, expect_epoch=expected))

    def _other_table(self, world: World, order: random.Random, state: State) -> Step:
        others = sorted(name for name in state if name.startswith("t"))
        if others:
            return Step("drop", order.choice(others))
        ids = world.new_ids(1)
        return Step("create", f"t{ids[0]}", random_rows(order, ids))
