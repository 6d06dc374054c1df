"""Changes columns and fields inside them, while concurrent writers write rows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from colonnade import (
    AddColumn,
    ArrowTable,
    DropColumn,
    DropDefault,
    MoveColumn,
    RenameColumn,
    SchemaField,
    SetDefault,
    WidenColumn,
)
from colonnade.tableformat.table.alteration import Alteration
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.nested import MORE, nested_columns
from tests.simulation.world import TABLES, World

NAMES = ("d", "e")
"""The extra columns."""


def all_names(world: World) -> tuple[str, ...]:
    """The extra columns, and the extra fields inside a column."""
    columns = nested_columns(world.shape.nested)
    return (*NAMES, *map(columns.name_of, MORE))


def _types(world: World, above: Sequence[str]) -> tuple[str, str]:
    """The type that an extra column or field may have, and the wider one."""
    columns = nested_columns(world.shape.nested)
    return (columns.narrow, columns.wide) if above else ("int", "long")


@dataclass(frozen=True)
class Evolver:
    """Gives a table a column or field, takes one away, or changes its name, place or default."""

    weight: float = 2.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Change one column of one table, as of the state that was seen last."""
        table, name = database.table(order.choice(TABLES)), order.choice(all_names(world))
        known = world.oracle.columns[table.epoch][table.name].by_name
        *above, last = name.split(".")
        if name not in known:
            self._add(table, above, last, world, order)
            return
        chance = order.random()
        if chance < 0.3:
            table.alter(DropColumn((*above, last)))
        elif chance < 0.45:
            others = MORE if above else NAMES
            table.alter(RenameColumn((*above, last), others[last == others[0]]))
        elif chance < 0.55:
            table.alter(MoveColumn((*above, last), first=True))
        elif chance < 0.65:
            table.alter(WidenColumn((*above, last), _types(world, above)[1]))
        elif not above:
            self._set_default(table, last, world, order)

    def _add(
        self,
        table: ArrowTable,
        above: Sequence[str],
        last: str,
        world: World,
        order: random.Random,
    ) -> None:
        given = order.randint(1, 4) if not above and order.random() < 0.7 else None
        column = SchemaField(name=last, type=order.choice(_types(world, above)))
        change = AddColumn(column, default=given, parent=tuple(above))
        self._alter(table, change, ".".join((*above, last)), (given, given), world)

    def _set_default(
        self, table: ArrowTable, name: str, world: World, order: random.Random
    ) -> None:
        default = order.randint(1, 4) if order.random() < 0.7 else None
        initial = world.oracle.columns[table.epoch][table.name].by_name[name].initial
        change = DropDefault(name) if default is None else SetDefault(name, default)
        self._alter(table, change, name, (initial, default), world)

    def _alter(
        self,
        table: ArrowTable,
        change: Alteration,
        name: str,
        wanted: tuple[int | None, int | None],
        world: World,
    ) -> None:
        made = world.oracle.columns[table.alter(change)][table.name].by_name[name]
        assert (made.initial, made.default) == wanted, f"{change} made {made}"
