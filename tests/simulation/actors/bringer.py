"""Appends rows that bring columns which their table may not have, or of a wider type."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.actors.evolver import NAMES, all_names
from tests.simulation.chance import random_rows
from tests.simulation.statements import Step
from tests.simulation.world import TABLES, World


@dataclass(frozen=True)
class Bringer:
    """Appends with evolution, beside actors that bring, drop and add the same columns."""

    weight: float = 2.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Append rows with some or all of the extra columns and fields."""
        names = all_names(world)
        given = order.choice((names, NAMES, names[:1], names[1:2], names[1:3], names[2:]))
        rows = random_rows(order, world.new_ids(order.randint(1, 3)))
        step = Step("append", order.choice(TABLES), rows, given=given, evolve=True)
        world.ask_of(database, world.intend(step))
