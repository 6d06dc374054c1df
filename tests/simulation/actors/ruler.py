"""Adds and drops constraints while concurrent writers write rows that they do not allow."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade import AddConstraint, DropConstraint
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.world import TABLES, World

VALUES = (0, 3)
"""The values of `v` that constraints forbid. Writers write these values, and four more."""


@dataclass(frozen=True)
class Ruler:
    """Forbids a value of `v` in a table, or allows it again."""

    weight: float = 2.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Change one table; a row with the value refuses the constraint."""
        table, value = database.table(order.choice(TABLES)), order.choice(VALUES)
        name, condition = f"not {value}", f"v <> {value}"
        if name in table.constraints:
            table.alter(DropConstraint(name))
        else:
            table.alter(AddConstraint(name, condition))
