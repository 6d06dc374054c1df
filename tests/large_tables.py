"""Random tables of up to hundreds of thousands of rows: every type, nested up to four levels deep.

Values come from small pools that `strategies.py` makes. Arrow joins them into columns, so that
100,000 rows take a fraction of a second. Each table also exists in other physical forms:
slices, chunks, dictionaries, views, runs, and with values that lie under a NULL.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
    assign_ids,
)
from colonnade.tableformat.types.arrow_types import arrow_schema, arrow_type
from colonnade.tableformat.types.storage_form import map_entries
from tests.strategies import PRIMITIVES, identical, random_value

DEPTH = 4
"""How deep types are nested at most."""

_MOST_ELEMENTS = 200_000
"""Elements of all lists at one place together, for each 100,000 rows or fewer."""

_LONG_BYTES = 24_000
"""The longest text that is repeated in many rows, unless a test wants shorter ones."""


def field_of(primitive: str) -> SchemaField:
    """A field of a type, named by it."""
    return SchemaField(name=primitive.replace(" ", "_"), type=primitive)


_INNER = (
    field_of("long"),
    SchemaField(name="below", type=ArrayType(element=SchemaField(name="element", type="string"))),
    SchemaField(name="flags", type=StructType(fields=(field_of("date"), field_of("boolean")))),
)


NESTED = TableSchema(
    fields=(
        SchemaField(name="flags", type=StructType(fields=(field_of("boolean"),))),
        SchemaField(name="every", type=StructType(fields=tuple(map(field_of, PRIMITIVES)))),
        SchemaField(
            name="lists",
            type=ArrayType(element=SchemaField(name="element", type=StructType(fields=_INNER))),
        ),
        SchemaField(
            name="pairs",
            type=MapType(
                key=SchemaField(name="key", type="string", nullable=False),
                value=SchemaField(name="value", type=StructType(fields=_INNER)),
            ),
        ),
    )
)
"""Columns of every type, in structs, lists and maps; their ids are for `assign_ids` to give."""


class TableMaker:
    """Makes schemas and rows for them; the same seed makes the same ones.

    A text that is repeated in many rows has at most `longest` bytes.
    """

    def __init__(
        self, seed: int, primitives: Sequence[str] = PRIMITIVES, longest: int = _LONG_BYTES
    ) -> None:
        self._values = random.Random(seed)
        self._rng = np.random.default_rng(seed)
        self._primitives = primitives
        self._longest = longest

    def schema(self, columns: int, depth: int = DEPTH) -> TableSchema:
        """A schema with a NOT NULL `id`, an `n`, and columns that are nested as often as not."""
        fields = [
            SchemaField(name="id", type="long", nullable=False),
            SchemaField(name="n", type="int"),
            *(self._field(f"c{i}", self._values.choice((0, depth))) for i in range(columns)),
        ]
        return assign_ids(TableSchema(fields=tuple(fields)), 1)[0]

    def rows(self, schema: TableSchema, rows: int, first: int = 0) -> pa.Table:
        """Rows whose ids are `first` and those that follow it, in no order."""
        columns = [pa.array(first + self._rng.permutation(rows))]
        columns += [self._array(field, rows) for field in schema.fields[1:]]
        return pa.Table.from_arrays(columns, schema=arrow_schema(schema))

    def rows_of(self, schema: TableSchema, rows: int) -> pa.RecordBatch:
        """Rows of any schema."""
        columns = [self._array(field, rows) for field in schema.fields]
        return pa.RecordBatch.from_arrays(columns, schema=arrow_schema(schema))

    def other_form(self, table: pa.Table) -> pa.Table:
        """Return the same rows in other physical forms, which differ from column to column."""
        columns = {
            name: self._other_chunks(column.combine_chunks())
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
        return pa.table(columns)

    def _field(self, name: str, depth: int) -> SchemaField:
        nullable = self._values.random() < 0.8
        return SchemaField(name=name, type=self._type(depth), nullable=nullable)

    def _type(self, depth: int) -> DataType:
        kind = self._values.choice(("array", "map", "struct", "struct", "")) if depth else ""
        if kind == "array":
            return ArrayType(element=self._field("element", depth - 1))
        if kind == "map":
            key = SchemaField(name="key", type=self._primitive(), nullable=False)
            return MapType(key=key, value=self._field("value", depth - 1))
        if kind == "struct":
            count = self._values.choice((1, 2, 5))
            return StructType(fields=tuple(self._field(f"f{i}", depth - 1) for i in range(count)))
        return self._primitive()

    def _primitive(self) -> str:
        return self._values.choice(self._primitives)

    def _array(self, field: SchemaField, rows: int) -> pa.Array:
        target = arrow_type(field)
        nulls = self._nulls(rows) if field.nullable else np.zeros(rows, bool)
        match field.type:
            case ArrayType(element=element):
                offsets = self._offsets(rows)
                values = self._array(element, int(offsets[-1]))
                return _array(target, nulls, [values], offsets)
            case StructType(fields=fields):
                return _array(target, nulls, [self._array(each, rows) for each in fields])
            case _:
                return self._pooled(field, target, nulls)

    def _pooled(
        self, field: SchemaField, target: pa.DataType, nulls: NDArray[np.bool_]
    ) -> pa.Array:
        """Values of a few, in random order or in runs."""
        count = min(self._values.choice((1, 3, 60, 400)), max(1, len(nulls)))
        lone = field.model_copy(update={"nullable": False})
        pool: list[Any] = [random_value(lone, self._values) for _ in range(count)]
        if field.type in ("string", "binary") and self._values.random() < 0.1:
            pool.append(("x" if field.type == "string" else b"x") * self._longest)
            pool *= 40
        picked = self._rng.integers(0, len(pool), len(nulls))
        if self._values.random() < 0.3:
            picked.sort()
        return pa.array(pool, target).take(pa.array(picked, mask=nulls))

    def _nulls(self, rows: int) -> NDArray[np.bool_]:
        share = self._values.choice((0.0, 0.0, 0.001, 0.3, 0.97, 1.0))
        if self._values.random() < 0.3:  # in runs
            runs = self._rng.random(rows // 1000 + 1) < share
            return np.repeat(runs, 1000)[:rows]
        return self._rng.random(rows) < share

    def _offsets(self, rows: int) -> NDArray[np.int64]:
        longest = max(1, min(6, _MOST_ELEMENTS // max(rows, 1)))
        offsets = np.zeros(rows + 1, np.int64)
        np.cumsum(self._rng.integers(0, longest + 1, rows), out=offsets[1:])
        return offsets

    def _other_chunks(self, array: pa.Array) -> pa.ChunkedArray:
        ends = sorted(
            self._values.randrange(len(array) + 1) for _ in range(self._values.choice((0, 1, 4)))
        )
        bounds = [0, *ends, len(array)]
        form = self._values.randrange(4)
        chunks = [
            self._other_array(array.slice(start, end - start), form)
            for start, end in pairwise(bounds)
        ]
        return pa.chunked_array(chunks)

    def _other_array(self, array: pa.Array, form: int) -> pa.Array:
        """Return the values as a slice of a larger array, in `form` if the type has it."""
        before = self._values.randrange(9)
        padded = pa.concat_arrays([array.slice(0, before), array, array.slice(0, 3)])
        sliced = padded.slice(min(before, len(array)), len(array))
        return _in_form(sliced, form)


def _array(
    target: pa.DataType,
    nulls: NDArray[np.bool_],
    children: list[pa.Array],
    offsets: NDArray[np.int64] | None = None,
) -> pa.Array:
    """A list or struct whose NULLs may have values under them."""
    count = int(nulls.sum())
    buffers = [pa.array(~nulls).buffers()[1] if count else None]
    if offsets is not None:
        buffers.append(pa.py_buffer(offsets.astype(np.int32)))
    return pa.Array.from_buffers(target, len(nulls), buffers, count, children=children)


def _in_form(array: pa.Array, form: int) -> pa.Array:
    found = array.type
    if pa.types.is_struct(found):
        children = [_in_form(array.field(i), form) for i in range(found.num_fields)]
        fields = [found.field(i).with_type(each.type) for i, each in enumerate(children)]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(children, fields=fields, mask=mask)
    if pa.types.is_list(found):
        return _list_in_form(array, form)
    if form == 1 and (pa.types.is_string(found) or pa.types.is_binary(found)):
        return array.cast(pa.string_view() if pa.types.is_string(found) else pa.binary_view())
    if form == 2 and (pa.types.is_string(found) or pa.types.is_binary(found)):
        return array.cast(pa.large_string() if pa.types.is_string(found) else pa.large_binary())
    if form == 2 and pa.types.is_integer(found):
        return pc.run_end_encode(array)
    if form == 3 and (pa.types.is_string(found) or pa.types.is_integer(found)):
        return array.dictionary_encode()
    return array


def _list_in_form(array: pa.Array, form: int) -> pa.Array:
    offsets = array.offsets.to_numpy()
    values = _in_form(array.values.slice(offsets[0], offsets[-1] - offsets[0]), form)
    field = array.type.value_field.with_type(values.type)
    offsets = offsets - offsets[0]
    buffers = [array.is_valid().buffers()[1] if array.null_count else None]
    if form == 1:
        target = pa.list_view(field)
        sizes = np.diff(offsets).astype(np.int32)
        buffers += [pa.py_buffer(offsets[:-1].copy()), pa.py_buffer(sizes)]
    elif form == 2:
        target = pa.large_list(field)
        buffers.append(pa.py_buffer(offsets.astype(np.int64)))
    else:
        target = pa.list_(field)
        buffers.append(pa.py_buffer(offsets))
    return pa.Array.from_buffers(target, len(array), buffers, array.null_count, children=[values])


def feed(digest: Any, array: pa.Array) -> None:
    """Put the values of an array into a digest (of `hashlib`), whatever its physical form.

    Values under a NULL do not count. Takes arrays as tables have them: no views or dictionaries.
    """
    digest.update(np.packbits(array.is_valid().to_numpy(zero_copy_only=False)))
    found = array.type
    if pa.types.is_struct(found):
        for child in array.flatten():
            feed(digest, child)
    elif pa.types.is_map(found) or pa.types.is_list(found):
        lists = map_entries(array) if pa.types.is_map(found) else array
        digest.update(lists.value_lengths().fill_null(0).to_numpy())
        feed(digest, lists.flatten())
    elif pa.types.is_boolean(found):
        digest.update(np.packbits(array.drop_null().to_numpy(zero_copy_only=False)))
    elif len(array) > array.null_count:
        # A copy, so that no buffer has more than these values.
        values = pa.concat_arrays([array.drop_null(), array.slice(0, 0)])
        _feed_values(digest, values)


def _feed_values(digest: Any, values: pa.Array) -> None:
    if pa.types.is_string(values.type) or pa.types.is_binary(values.type):
        digest.update(pc.binary_length(values).to_numpy())
        first, last = (
            np.frombuffer(values.buffers()[1], np.int32)[at]
            for at in (values.offset, values.offset + len(values))
        )
        digest.update(values.buffers()[2][int(first) : int(last)] if last > first else b"")
        return
    width = values.type.bit_width // 8
    start = values.offset * width
    digest.update(values.buffers()[1][start : start + len(values) * width])


def same_rows(left: pa.Table, right: pa.Table) -> bool:
    """Whether tables hold the same rows in any order; ids tell them apart."""
    if left.num_rows != right.num_rows or left.schema.names != right.schema.names:
        return False
    sides = []
    for table in (left, right):
        whole = table.combine_chunks()
        batches = whole.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
        [batch] = batches
        sides.append(batch.take(pc.sort_indices(batch.column("id"))))
    return identical(*sides)
