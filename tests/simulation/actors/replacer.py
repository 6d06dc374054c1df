"""Replaces tables by others of their names, as CREATE OR REPLACE does, beside all other work."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.actors.evolver import NAMES
from tests.simulation.chance import random_rows
from tests.simulation.statements import Step
from tests.simulation.world import TABLES, World


@dataclass(frozen=True)
class Replacer:
    """Makes a new table of the name of another one, with some of the extra columns."""

    weight: float = 1.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Replace one table; a concurrent writer's rows are a conflict."""
        given = tuple(name for name in NAMES if order.random() < 0.5)
        rows = random_rows(order, world.new_ids(order.randint(1, 4)))
        step = Step("replace_table", order.choice(TABLES), rows, given=given)
        world.ask_of(database, world.intend(step))
