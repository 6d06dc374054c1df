"""Compacts as users do, by policy or into a z-order, beside concurrent writers."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.compaction.execute import execute_plan
from colonnade.tableformat.compaction.optimize import Choices, plan_table
from colonnade.tableformat.compaction.run import compact_here
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.world import World


@dataclass(frozen=True)
class Optimizer:
    """Runs one compaction of a table, without groups that a concurrent writer rewrote first.

    A share `earlier` of the plans is made on the state that was seen last.
    """

    weight: float = 1.0
    earlier: float = 0.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Compact one table of the newest state, or of an earlier one as a slow round does."""
        if self.earlier and order.random() < self.earlier:
            self._compact_earlier(database, order)
            return
        table = database.table(order.choice(database.tables()))
        optimize = table.optimize().option("min-rowsets", 2).option("deleted-share", 0.1)
        optimize = optimize._elsewhere(compact_here(database._log.store, 1))
        if order.random() < 0.5:
            optimize.executeCompaction()
        else:
            optimize.executeZOrderBy("v", "id")

    def _compact_earlier(self, database: ArrowDatabase, order: random.Random) -> None:
        log, base = database._log, database._snapshot
        table = base.tables[order.choice(sorted(base.tables))]
        plan, _ = plan_table(log, base, table, Choices(options=(("min-rowsets", "2"),)))
        execute_plan(log, base, plan, runner=compact_here(log.store, 1))
