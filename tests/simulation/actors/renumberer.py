"""Gives the RowSets of a table new ids, beside concurrent writers."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.world import TABLES, World


@dataclass(frozen=True)
class Renumberer:
    """Renumbers one of the tables that are always there."""

    weight: float = 0.5

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Renumber one table. The state that was seen last may be old."""
        database.table(order.choice(TABLES)).renumber()
