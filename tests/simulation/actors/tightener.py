"""Forbids NULL in columns and allows it again, while concurrent writers write rows with NULL."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade import DropNotNull, SetNotNull
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.rows import Condition
from tests.simulation.statements import Step
from tests.simulation.world import TABLES, World


@dataclass(frozen=True)
class Tightener:
    """Makes a column NOT NULL or nullable. Writers give `v` and most columns NULL now and then."""

    weight: float = 2.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Change one column of one table, most often `v`, whose NULLs are replaced before."""
        table = database.table(order.choice(TABLES))
        names = sorted(world.oracle.columns[table.epoch][table.name].whole)
        name = order.choice(["v", "v", *names])
        if not table.schema.field(name).nullable:
            table.alter(DropNotNull((name,)))
            return
        if name == "v":
            step = Step("update", table.name, where=Condition("null"), value=order.randint(0, 4))
            world.ask_of(database, world.intend(step))
            table = database.table(table.name)
        table.alter(SetNotNull((name,)))
