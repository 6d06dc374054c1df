"""Replaces tables by new tables of their names, as CREATE OR REPLACE does, beside other work."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.actors.evolver import all_names
from tests.simulation.chance import random_rows
from tests.simulation.rows import NUMBER, TWICE
from tests.simulation.statements import Step
from tests.simulation.world import TABLES, World


@dataclass(frozen=True)
class Replacer:
    """Makes a new table of the name of another one, with some of the extra columns and fields.

    It may also have a generated column and an identity column.
    """

    weight: float = 1.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Replace one table; a concurrent writer's rows are a conflict."""
        given = tuple(name for name in all_names(world) if order.random() < 0.5)
        made = tuple(name for name in (TWICE, NUMBER) if order.random() < 0.6)
        ids = [] if NUMBER in made else world.new_ids(order.randint(1, 4))
        rows = random_rows(order, ids)
        name = order.choice(TABLES)
        step = Step("replace_table", name, rows, given=given, made=made)
        world.ask_of(database, world.intend(step))
        if NUMBER in made:
            rows = random_rows(order, world.new_ids(order.randint(4, 8)))
            world.ask_of(database, world.intend(Step("append", name, rows)))
