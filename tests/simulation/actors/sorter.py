"""Changes the sort key while concurrent writers write rows in the order of the old one."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.table.alteration import SetSortKey
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.world import TABLES, World

KEYS = ((), ("id desc",), ("w", "id"), ("v desc",))


@dataclass(frozen=True)
class Sorter:
    """Gives a table another sort key, or none, or one that it had before."""

    weight: float = 3.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Change one table of those that are always there."""
        database.table(order.choice(TABLES)).alter(SetSortKey(order.choice(KEYS)))
