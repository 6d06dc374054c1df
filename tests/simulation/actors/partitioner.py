"""Changes the partition layout while concurrent writers write rows of the old layout."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.rows import LAYOUTS
from tests.simulation.world import TABLES, World


@dataclass(frozen=True)
class Partitioner:
    """Gives a table another partition layout, or none, or one that it had before."""

    weight: float = 0.5

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Change one table of those that are always there."""
        table = database.table(order.choice(TABLES))
        table.partition_by(*order.choice(list(LAYOUTS)))
