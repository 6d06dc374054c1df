"""Drops tables, and brings them back by restoring the whole database."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.chance import random_rows
from tests.simulation.keyed.rows import TABLES as KEYED
from tests.simulation.statements import Step
from tests.simulation.world import TABLES, World

MOST = 2
"""So many tables more than those that are always there."""


@dataclass(frozen=True)
class Undropper:
    """Makes a table by a numbered batch, changes, drops or restores one that it made."""

    weight: float = 1.5

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Run one restore. It takes any epoch, preferably one with a table that was dropped."""
        oracle = world.oracle
        state = oracle.states[database.refresh().epoch]
        made = sorted(state.keys() - {*TABLES, *KEYED})
        lost = [
            epoch
            for epoch in range(2, oracle.head)
            if oracle.states[epoch].keys() - state.keys() and oracle.keeps(epoch)
        ]
        if lost and order.random() < 0.6:
            epoch = order.choice((*lost, order.randint(2, oracle.head)))
            world.ask_of(database, world.intend(Step("restore_all", "", epoch=epoch)))
        elif made and (len(made) >= MOST or order.random() < 0.7):
            name = order.choice(made)
            if order.random() < 0.5:
                rows = random_rows(order, world.new_ids(2))
                world.ask_of(database, world.intend(Step("append", name, rows)))
            else:
                world.ask_of(database, world.intend(Step("drop", name)))
        else:
            [number] = world.new_ids(1)
            step = Step("create", f"t{number}", random_rows(order, [number]))
            world.ask_of(database, world.intend(step, batch=(step.table, 1)))
