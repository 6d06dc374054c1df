"""Gives tables a primary key, drops it and changes its rules, beside concurrent writers."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade import AlterProperties, DropPrimaryKey, SetPrimaryKey
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.keyed.rows import TABLES as KEYED
from tests.simulation.keyed.rows import key_of
from tests.simulation.rows import Condition
from tests.simulation.statements import Step
from tests.simulation.world import TABLES, World

CHANGES = (
    {"onDuplicate": "error"},
    {"onDuplicate": "ignore"},
    {"onDuplicate": "merge"},
    {"merge.m": "min"},
    {"merge.m": "max"},
)


@dataclass(frozen=True)
class Keyer:
    """Changes what one table says of its key. A table that lost its key gets it again."""

    weight: float = 2.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Change one table; rows that share a key are deleted before it gets one."""
        table = database.table(order.choice((*KEYED, *KEYED, *TABLES)))
        name = table.name
        if not table.primary_key:
            if name in KEYED:
                self._delete_repeated(database, world, order, name)
            key = KEYED[name][0] if name in KEYED else ("id", "copy")
            database.table(name).alter(SetPrimaryKey(*key))
        elif name not in KEYED or order.random() < 0.3:
            table.alter(DropPrimaryKey())
        else:
            table.alter(AlterProperties(dict(order.choice(CHANGES))))

    def _delete_repeated(
        self, database: ArrowDatabase, world: World, order: random.Random, name: str
    ) -> None:
        rows = world.oracle.states[database._snapshot.epoch].get(name, {})
        firsts = {key_of(it): row for row, it in reversed([*rows.items()])}
        repeated = tuple(row for row, it in rows.items() if firsts[key_of(it)] != row)
        if repeated and order.random() < 0.9:
            where = Condition("ids", repeated)
            world.ask_of(database, world.intend(Step("delete", name, where=where)))
