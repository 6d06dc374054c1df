"""Adds, drops and renames columns and their defaults, while concurrent writers write rows."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade import AddColumn, DropColumn, DropDefault, SchemaField, SetDefault
from colonnade.tableformat.table.alteration import Alteration
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.world import TABLES, World

NAMES = ("d", "e")
"""The extra columns."""


@dataclass(frozen=True)
class Evolver:
    """Gives a table a column or takes one away, or changes a default."""

    weight: float = 2.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Change one column of one table, as of the state that was seen last."""
        table, name = database.table(order.choice(TABLES)), order.choice(NAMES)
        known = name in table.schema.names
        before = world.oracle.columns[table.epoch][table.name].by_name
        default = order.randint(1, 4)
        if not known:
            given = default if order.random() < 0.7 else None
            column = SchemaField(name=name, type=order.choice(("int", "long")))
            change: Alteration = AddColumn(column, default=given)
            wanted = (given, given)
        elif (chance := order.random()) < 0.3:
            table.alter(DropColumn(name))
            return
        elif chance < 0.8:
            change, wanted = SetDefault(name, default), (before[name].initial, default)
        else:
            change, wanted = DropDefault(name), (before[name].initial, None)
        epoch = table.alter(change)
        made = world.oracle.columns[epoch][table.name].by_name[name]
        assert (made.initial, made.default) == wanted, f"{change} made {made}"
