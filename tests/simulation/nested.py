"""The nested columns of simulated tables, whose types and forms a number decides.

Five columns have values that follow from the `id` of a row, and never change. In the column `inner`
lies a struct with the `id`. Writers add fields to it, and drop, rename, move, widen and fill them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.model.schema import (
    ArrayType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.tableformat.types.arrow_types import arrow_schema, arrow_type
from tests.large_tables import TableMaker, field_of
from tests.strategies import PRIMITIVES, identical

FIXED = ("every", "lists", "pairs", "c0", "c1")
"""The columns that never change."""

INNER, KEY = "inner", "k"
"""The column with a struct that changes, and the field of the struct that stays."""

MORE = ("x", "y")
"""The names that other fields of the struct get."""

PATHS = (
    (INNER,),
    (INNER, "element"),
    (INNER, "value"),
    (INNER, "below", "element"),
)
"""What leads to the struct: it is the column, or lies in a list, a map, or a list in a struct."""

CHANGING = (
    ("int", "long"),
    ("varchar(3)", "string"),
    ("decimal(5,2)", "decimal(9,3)"),
    ("float", "double"),
    ("date", "timestamp_ntz"),
)
"""The type that other fields of the struct have in a run, and the wider one that they may get."""

_TYPES = 8
"""The primitive types of one number. Four numbers in a row have all types."""

_LONGEST = 300
"""The most bytes of a text. Some runs have each row 1,500 times."""

_US_OF_A_DAY = 86_400_000_000

Fields = Mapping[str, int | None]
"""The numbers of a struct beside its `k`, by name. Each number means a value in every type."""


@dataclass(frozen=True)
class Nested:
    """The nested columns of the tables of one run.

    `path` leads to the struct that changes, whose fields are of the type `narrow` or `wide`. `pool`
    has the rows of the other columns.
    """

    path: tuple[str, ...]
    narrow: str
    wide: str
    fixed: TableSchema
    pool: pa.RecordBatch

    def name_of(self, name: str) -> str:
        """The whole name of a field of the struct that changes."""
        return ".".join((*self.path, name))

    def inner_field(self, names: Iterable[str] = (), *, wide: bool = False) -> pa.Field:
        """The column with a struct that has `k` and more fields."""
        kind = self.wide if wide else self.narrow
        more = (SchemaField(name=name, type=kind) for name in names)
        struct = StructType(fields=(SchemaField(name=KEY, type="long"), *more))
        return arrow_schema(TableSchema(fields=(_wrapped(self.path, struct),))).field(0)

    def rows(self, ids: NDArray[np.int64]) -> pa.RecordBatch:
        """The columns that never change."""
        return self.pool.take(pa.array(ids % self.pool.num_rows))

    def inner(self, ids: Sequence[int], fields: Sequence[Fields], target: pa.DataType) -> pa.Array:
        """The struct that changes, in rows with these ids. Some rows have none, others several."""
        types = inner_types(target)
        found = [
            self._wrap(row, {KEY: row, **{n: _value(v, types[n]) for n, v in each.items()}})
            for row, each in zip(ids, fields, strict=True)
        ]
        return pa.array(found, target)

    def check(self, ids: NDArray[np.int64], found: pa.Table) -> None:
        """Compare the columns that never change."""
        for batch in found.select(FIXED).combine_chunks().to_batches():
            assert identical(batch, self.rows(ids)), "a damaged row was read"

    def _wrap(self, row: int, struct: Mapping[str, Any]) -> Any:
        several = [struct, None, struct][: row % 4]
        if row % 5 == 0:
            return None
        match self.path:
            case (_,):
                return struct
            case (_, "element"):
                return several
            case (_, "value"):
                return [(str(number), each) for number, each in enumerate(several)]
        return {"below": None if row % 3 == 0 else several}


@lru_cache(maxsize=64)
def nested_columns(number: int) -> Nested:
    """Return the nested columns of a number."""
    share = [PRIMITIVES[(_TYPES * number + i) % len(PRIMITIVES)] for i in range(_TYPES)]
    maker = TableMaker(number, share, longest=_LONGEST)
    fields = (*_columns(list(map(field_of, share))), *maker.schema(2).fields[2:])
    fixed = TableSchema(fields=fields)
    # Each draw has another share of NULLs.
    drawn = [maker.rows_of(fixed, 8) for _ in range(3)]
    empty = [
        pa.nulls(1, arrow_type(field)) if field.nullable else column.slice(0, 1)
        for field, column in zip(fields, drawn[0].columns, strict=True)
    ]
    last = pa.RecordBatch.from_arrays(empty, schema=drawn[0].schema)
    pool = pa.Table.from_batches([*drawn, last]).combine_chunks().to_batches()[0]
    narrow, wide = CHANGING[number % len(CHANGING)]
    return Nested(PATHS[number % len(PATHS)], narrow, wide, fixed, pool)


def inner_types(found: pa.DataType) -> dict[str, pa.DataType]:
    """The types of the fields beside `k`, by their names, of a column `INNER` of this type."""
    while not (pa.types.is_struct(found) and found.get_field_index(KEY) >= 0):
        if pa.types.is_map(found):
            found = found.item_type
        else:
            found = found.value_type if pa.types.is_list(found) else found.field(0).type
    return {field.name: field.type for field in found if field.name != KEY}


def _value(number: int | None, target: pa.DataType) -> Any:
    """The value of a type that a number stands for."""
    if number is None:
        return None
    if pa.types.is_string(target):
        return str(number)
    if pa.types.is_decimal(target):
        return Decimal(number)
    return number * _US_OF_A_DAY if pa.types.is_timestamp(target) else number


def inner_fields(schema: TableSchema) -> Iterator[tuple[str, SchemaField]]:
    """The fields beside `k` of the struct that changes, each with its whole name."""
    path: tuple[str, ...] = (INNER,)
    found = schema.field(INNER)
    while KEY not in (children := {each.name: each for each in found.children()}):
        name = next(reversed(children))
        path, found = (*path, name), children[name]
    for name, field in children.items():
        if name != KEY:
            yield ".".join((*path, name)), field


def _columns(types: list[SchemaField]) -> Iterator[SchemaField]:
    """A struct, a list of structs and a map of structs, with all types in turn."""
    lists = SchemaField(name="below", type=ArrayType(element=_named("element", types[3])))
    yield SchemaField(name="every", type=StructType(fields=tuple(types)))
    yield _wrapped(("lists", "element"), StructType(fields=(*types[:3], lists)))
    flags = SchemaField(name="flags", type=StructType(fields=tuple(types[4:6])))
    yield _wrapped(("pairs", "value"), StructType(fields=(*types[6:], flags)))


def _named(name: str, field: SchemaField) -> SchemaField:
    return field.model_copy(update={"name": name})


def _wrapped(path: Sequence[str], struct: StructType) -> SchemaField:
    """A column in which a path leads to a struct."""
    name, *rest = path
    if not rest:
        return SchemaField(name=name, type=struct)
    inside = _wrapped(rest, struct)
    if inside.name == "element":
        return SchemaField(name=name, type=ArrayType(element=inside))
    if inside.name == "value":
        key = SchemaField(name="key", type="string", nullable=False)
        return SchemaField(name=name, type=MapType(key=key, value=inside))
    return SchemaField(name=name, type=StructType(fields=(inside,)))
