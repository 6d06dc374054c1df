"""Columns as a model of an evolving table knows them: fields inside them, values, changes.

A value is held by the keys of fields, which stay the same under every name, place and type. So no
change of a column changes its values.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    IdentityColumn,
    MapType,
    SchemaField,
    StructType,
)
from colonnade.tableformat.table.alteration import (
    AddColumn,
    Alteration,
    DropColumn,
    MoveColumn,
    RenameColumn,
    WidenColumn,
)
from tests.widened import model_of

WIDER = {
    "byte": ("short", "int", "double", "decimal(7,1)"),
    "short": ("int", "long", "decimal(18,3)"),
    "int": ("long", "double", "decimal(12,2)"),
    "long": ("decimal(19,0)", "decimal(25,3)"),
    "float": ("double",),
    "decimal(5,2)": ("decimal(9,2)", "decimal(9,3)", "decimal(20,2)"),
    "decimal(9,3)": ("decimal(22,3)", "decimal(38,10)"),
    "decimal(20,2)": ("decimal(22,2)", "decimal(38,10)"),
    "varchar(3)": ("varchar(5)", "string"),
    "varchar(5)": ("string",),
    "void": ("byte", "int", "float", "decimal(5,2)", "varchar(3)"),
}
NARROW = ("byte", "short", "int", "float", "decimal(5,2)", "varchar(3)")
WIDEST = ("long", "double", "string", "decimal(38,10)")
OTHERS = (
    *("boolean", "binary", "date", "timestamp", "timestamp_ntz", "time(6)"),
    *("interval month", "interval day to second"),
)
FIXED: dict[str, tuple[Any, ...]] = {
    "char(3)": ("a  ", "abc"),
    "string collate UNICODE_CI": ("a", "A"),
    "variant": ({"value": b"\x0c\x01", "metadata": b"\x01\x00\x00"},),
}
"""Values of types that this model does not widen."""


@dataclass(frozen=True)
class Generated:
    """A column that is computed from another one: as SQL text with its name, and in Python."""

    source: int
    sql: str
    compute: Callable[[Any], Any]

    def of(self, row: Mapping[int, Any]) -> Any:
        """Return the value in a row."""
        value = row.get(self.source)
        return None if value is None else self.compute(value)


@dataclass(frozen=True)
class Column:
    """A column, or a field inside one. `type` is `struct`, `array`, `map` or that of a value.

    `default` is the value of rows that leave the column out, and `initial` that of rows which were
    written before the column was there. A column with a `rule` gets its values from the table.
    """

    key: int
    name: str
    type: str
    children: tuple[Column, ...] = ()
    default: Any = None
    initial: Any = None
    nullable: bool = True
    rule: Generated | IdentityColumn | None = None

    def field(self) -> SchemaField:
        """Return the column as a schema states it."""
        children = [child.field() for child in self.children]
        found: DataType = self.type
        if self.type == "array":
            found = ArrayType(element=children[0])
        elif self.type == "map":
            found = MapType(
                key=children[0].model_copy(update={"nullable": False}), value=children[1]
            )
        elif self.type == "struct":
            found = StructType(fields=tuple(children))
        return SchemaField(name=self.name, type=found, nullable=self.nullable)

    def shown(self, value: Any) -> Any:
        """Return a value in the form that Arrow needs for the present type."""
        if value is None:
            return None
        if self.type == "struct":
            return {child.name: child.shown(value.get(child.key)) for child in self.children}
        if self.type == "array":
            return [self.children[0].shown(each) for each in value]
        if self.type == "map":
            key, item = self.children
            return [(key.shown(one), item.shown(other)) for one, other in value]
        return model_of(value, self.type)


class Columns:
    """Makes columns, values and changes at random."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.next_key = 0

    def column(self, type_name: str, children: tuple[Column, ...] = ()) -> Column:
        """Return a new column with a name that no other one had."""
        self.next_key += 1
        return Column(self.next_key, f"c{self.next_key}", type_name, children)

    def nested(self, depth: int = 2) -> Column:
        """Return a new column of a nested type."""
        kind = self.rng.choice(("struct", "struct", "array", "map"))
        if kind == "struct":
            inside = tuple(self.any(depth - 1) for _ in range(self.rng.randrange(1, 4)))
        elif kind == "array":
            inside = (replace(self.any(depth - 1), name="element"),)
        else:
            key = self.column("int")
            if self.rng.random() < 0.5:
                key = self.column("struct", (key,))
            inside = (replace(key, name="key"), replace(self.any(depth - 1), name="value"))
        return self.column(kind, inside)

    def any(self, depth: int) -> Column:
        """Return a new column whose type is nested at most `depth` deep."""
        if depth and self.rng.random() < 0.6:
            return self.nested(depth)
        return self.column(self.rng.choice((*NARROW, *WIDEST, *OTHERS, *FIXED)))

    def value(self, column: Column, number: int | None = None) -> Any:
        """A value that fits the narrowest type that the column had; most values occur often.

        A `number` makes a value unique: it is in each of its integers.
        """
        if column.type == "void" or (number is None and self.rng.random() < 0.1):
            return None
        if column.type == "struct":
            return {child.key: self.value(child, number) for child in column.children}
        if column.type == "array":
            return [self.value(column.children[0]) for _ in range(self.rng.randrange(4))]
        if column.type == "map":
            key, item = column.children
            return [(self.value(key, n), self.value(item)) for n in range(self.rng.randrange(4))]
        if column.type in FIXED:
            return self.rng.choice(FIXED[column.type])
        small = self.rng.choice((0, 1, 2, self.rng.randrange(-99, 100)))
        small = small if number is None else number
        if column.type in ("float", "double"):
            return small / 4
        if column.type == "boolean":
            return small > 0
        if column.type == "binary":
            return bytes([abs(small)])
        if column.type.startswith("time("):
            return abs(small) * 10**9
        if column.type.startswith(("varchar", "string")):
            return f"v{small % 50}"
        return Decimal(small) if column.type.startswith("decimal") else small

    def change_inside(self, column: Column) -> tuple[Column, Alteration] | None:
        """Return a column after a change inside it, and the change; None if it has no place."""
        places = [each for each in _places(column) if each[1].type in ("struct", *WIDER)]
        if not places:
            return None
        path, found = self.rng.choice(places)
        if found.type != "struct":
            new = replace(found, type=self.rng.choice(WIDER[found.type]))
            return _replaced(column, found, new), WidenColumn(path, new.type)
        children = found.children
        changes = [self._add]
        if children:
            changes += [self._rename, self._move]
        if children and "key" not in path:
            changes += [self._drop, self._drop]
        after, change = self.rng.choice(changes)(path, children)
        return _replaced(column, found, replace(found, children=after)), change

    def _add(self, path: Path, children: tuple[Column, ...]) -> Change:
        new, at = self.any(1), self.rng.randrange(len(children) + 1)
        before = children[at - 1].name if at else None
        change = AddColumn(new.field(), before, first=at == 0, parent=path)
        return (*children[:at], new, *children[at:]), change

    def _drop(self, path: Path, children: tuple[Column, ...]) -> Change:
        gone = self.rng.choice(children)
        return tuple(c for c in children if c is not gone), DropColumn((*path, gone.name))

    def _rename(self, path: Path, children: tuple[Column, ...]) -> Change:
        found = self.rng.choice(children)
        self.next_key += 1
        new = replace(found, name=f"r{self.next_key}")
        renamed = tuple(new if c is found else c for c in children)
        return renamed, RenameColumn((*path, found.name), new.name)

    def _move(self, path: Path, children: tuple[Column, ...]) -> Change:
        found = self.rng.choice(children)
        return (found, *(c for c in children if c is not found)), MoveColumn(
            (*path, found.name), first=True
        )


Path = tuple[str, ...]
Change = tuple[tuple[Column, ...], Alteration]


def _places(column: Column, above: Path = ()) -> Iterator[tuple[Path, Column]]:
    """Yield the column and all fields inside it, each with its path."""
    path = (*above, column.name)
    yield path, column
    for child in column.children:
        yield from _places(child, path)


def _replaced(column: Column, old: Column, new: Column) -> Column:
    if column is old:
        return new
    return replace(column, children=tuple(_replaced(c, old, new) for c in column.children))
