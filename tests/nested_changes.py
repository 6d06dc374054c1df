"""RowSets that were written before the fields inside a column changed, and their rows after it.

Each case is one kind of change in one kind of nesting, and has fields of every type.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.evolution.columns import FIXED, NARROW, OTHERS, WIDER, WIDEST, Column, Columns

ROWS = 20
"""The rows of a block."""


@dataclass(frozen=True)
class Case:
    """A column as a RowSet has it, as the table has it now, and the values of its rows."""

    old: Column
    new: Column
    values: tuple[Any, ...]

    @property
    def before(self) -> TableSchema:
        """The column before the change."""
        return TableSchema(fields=(_field(self.old),))

    @property
    def after(self) -> TableSchema:
        """The column after the change."""
        return TableSchema(fields=(_field(self.new),))

    @property
    def stored(self) -> pa.RecordBatch:
        """The rows that were written before the change."""
        return _batch(self.before, self.old, self.values)

    @property
    def wanted(self) -> pa.RecordBatch:
        """The rows that a reader returns after the change."""
        return _batch(self.after, self.new, self.values)


def _field(column: Column) -> SchemaField:
    """Return a column whose ids are its keys."""
    found = column.field()
    found = found.with_children(_field(child) for child in column.children)
    if column.type == "map":
        key, value = found.children()
        found = found.with_children((key.model_copy(update={"nullable": False}), value))
    return found.model_copy(update={"id": column.key})


def _batch(schema: TableSchema, column: Column, values: tuple[Any, ...]) -> pa.RecordBatch:
    arrow = arrow_schema(schema)
    array = pa.array([column.shown(value) for value in values], arrow.field(0).type)
    return pa.RecordBatch.from_arrays([array], schema=arrow)


Struct = tuple[Column, ...]


def _added(make: Columns, fields: Struct) -> Struct:
    return (make.nested(2), *fields[:3], make.column("int"), *fields[3:], make.nested(1))


def _exchanged(make: Columns, fields: Struct) -> Struct:
    names = [each.name for each in (*fields[1:], fields[0])]
    return tuple(replace(each, name=name) for each, name in zip(fields, names, strict=True))


def _again(make: Columns, fields: Struct) -> Struct:
    """Drop all fields, and add new ones of the same names and types."""
    return tuple(replace(make.column(each.type), name=each.name) for each in fields)


def _widened(make: Columns, fields: Struct) -> Struct:
    types = [(*WIDER.get(each.type, ()), each.type) for each in fields]
    return tuple(replace(each, type=t[0]) for each, t in zip(fields, types, strict=True))


_STEPS: dict[str, Callable[[Columns, Struct], Struct]] = {
    "add": _added,
    "drop": lambda make, fields: fields[::2],
    "drop all": lambda make, fields: (),
    "drop all and add one": lambda make, fields: (make.column("string"),),
    "drop and add again": _again,
    "move": lambda make, fields: fields[::-1],
    "exchange names": _exchanged,
    "widen": _widened,
    "everything": lambda make, fields: _widened(make, _added(make, fields[::2]))[::-1],
}


def _pair(make: Columns, key: Column, value: Column) -> Column:
    return make.column("map", (replace(key, name="key"), replace(value, name="value")))


def _nested(make: Columns, inner: Column) -> dict[str, Column]:
    element = replace(inner, name="element")
    lists = make.column("array", (replace(make.column("array", (element,)), name="element"),))
    return {
        "a struct": inner,
        "a struct of a struct": make.column("struct", (make.column("int"), inner)),
        "an array of arrays": lists,
        "the values of a map": _pair(make, make.column("int"), inner),
        "the keys of a map": _pair(make, inner, make.column("string")),
    }


NESTINGS = tuple(_nested(Columns(random.Random(0)), Column(0, "", "struct")))
CHANGES = tuple(
    f"{step} in {nesting}"
    for nesting in NESTINGS
    for step in _STEPS
    if not ("keys" in nesting and "drop" in step)
)
"""The names of all cases."""

CASES = [
    pytest.param(name, marks=() if "everything" in name or "all" in name else pytest.mark.long)
    for name in CHANGES
]
"""The names as arguments of tests: the default run has the cases with most changes."""


def changed(name: str) -> Case:
    """Return the case of a name."""
    step, _, nesting = name.partition(" in ")
    make = Columns(random.Random(name))
    inner = make.column(
        "struct", tuple(make.column(t) for t in (*NARROW, *WIDEST, *OTHERS, *FIXED))
    )
    old = _nested(make, inner)[nesting]
    new = _replaced(old, inner, _STEPS[step](make, inner.children))
    values = [make.value(old) for _ in range(2 * ROWS)]
    nothing = {child.key: None for child in old.children} if old.type == "struct" else None
    return Case(old, new, (*values, *[nothing] * ROWS, *[None] * ROWS, *values[:7]))


def _replaced(column: Column, inner: Column, fields: Struct) -> Column:
    if column.key == inner.key:
        return replace(column, children=fields)
    children = tuple(_replaced(child, inner, fields) for child in column.children)
    return replace(column, children=children)
