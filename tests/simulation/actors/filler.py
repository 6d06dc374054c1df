"""Computes columns from another one, while concurrent writers add, change and compact rows."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.actors.evolver import NAMES
from tests.simulation.chance import random_condition
from tests.simulation.nested import INNER
from tests.simulation.statements import Step
from tests.simulation.world import TABLES, World


@dataclass(frozen=True)
class Filler:
    """Adds a computed column to a table, or computes one that is there again in some rows.

    The latter may be the column with fields inside, and all of them are then computed.
    """

    weight: float = 2.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Fill one column; a column that a concurrent writer has added first is an error."""
        table, name = database.table(order.choice(TABLES)), order.choice((*NAMES, INNER))
        step = Step("add_column", table.name, given=(name,), salt=order.randint(10, 90))
        if name in table.schema.names:
            known = world.oracle.states[table.epoch][table.name]
            step = replace(step, kind="backfill", where=random_condition(order, known))
        elif order.random() < 0.3:
            step = replace(step, value=1)
        world.ask_of(database, world.intend(step))
