"""Deletes ranges of sorted tables without reading them, and names the deleted rows later."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.compaction.clean import clean_table
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.rows import Condition
from tests.simulation.statements import Step
from tests.simulation.world import TABLES, World


@dataclass(frozen=True)
class Ranger:
    """Deletes some ids of one table, perhaps those that rows will have later, too."""

    weight: float = 4.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Delete one range. It may have been planned on any state that was seen before."""
        table = order.choice(TABLES)
        known = sorted(world.oracle.states[database._snapshot.epoch].get(table, {})) or [0]
        first = order.choice(known)
        ends = order.choice(((), (first + 1,), (first + 3,), (first + 12,)))
        where = Condition("between", (first, *ends))
        world.ask_of(database, world.intend(Step("delete_range", table, where=where)))


@dataclass(frozen=True)
class Cleaner:
    """Names the rows of the range tombstones of one table, as `maintain` does."""

    weight: float = 1.5

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Clean one table. The state that was seen last may be old."""
        base = database._snapshot
        clean_table(database._log, base, order.choice(sorted(base.tables)))
