"""Compacts as users do, by policy or into a z-order, beside concurrent writers."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.compaction.run import compact_here
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.world import World


@dataclass(frozen=True)
class Optimizer:
    """Runs one compaction of a table, without groups that a concurrent writer rewrote first."""

    weight: float = 1.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Compact one table of the newest state."""
        table = database.table(order.choice(database.tables()))
        optimize = table.optimize().option("min-rowsets", 2).option("deleted-share", 0.1)
        optimize = optimize.elsewhere(compact_here(database._log.store, 1))
        if order.random() < 0.5:
            optimize.executeCompaction()
        else:
            optimize.executeZOrderBy("v", "id")
