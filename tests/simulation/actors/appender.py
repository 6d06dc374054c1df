"""Appends of writers that wait for each other."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.chance import random_rows
from tests.simulation.statements import Step
from tests.simulation.world import World


@dataclass(frozen=True)
class Appender:
    """Adds rows to one table, again and again."""

    weight: float = 20.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Append up to four times; the state that was seen last may be old."""
        for _ in range(order.randint(1, 4)):
            known = world.oracle.states[database._snapshot.epoch]
            rows = random_rows(order, world.new_ids(order.randint(1, 2)))
            intent = world.intend(Step("append", order.choice(sorted(known)), rows))
            world.ask_of(database, intent)
