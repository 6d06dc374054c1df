"""Sets properties that name a column, which others rename, drop and restore."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade import AlterProperties, RenameColumn
from colonnade.manifests.model.columns.properties import BLOOM, names_column
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.actors.evolver import NAMES
from tests.simulation.world import TABLES, World


@dataclass(frozen=True)
class Namer:
    """Sets or removes a property of an extra column, or lets two columns exchange their names."""

    weight: float = 2.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Change the properties of one table, as of the state that was seen last."""
        table = database.table(order.choice(TABLES))
        known = [name for name in NAMES if name in table.schema.names]
        stated = [name for name in table._state.properties if names_column(name)]
        if len(known) == 2 and order.random() < 0.3:
            one, other = known
            table.alter(RenameColumn(one, "x"), RenameColumn(other, one), RenameColumn("x", other))
        elif stated and order.random() < 0.3:
            table.alter(AlterProperties(remove=(order.choice(stated),)))
        elif known:
            name = order.choice(known)
            mode = order.choice(("add", "max", "min"))
            choices = [{f"merge.{name}": mode}, {f"{BLOOM}{name}": "true"}, {"sequence": name}]
            choices += [{f"sequence.{name}": other} for other in known if other != name]
            table.alter(AlterProperties(order.choice(choices)))
