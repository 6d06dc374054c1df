"""The index of a column states what its blocks take decoded, also which of its structs are NULL.

Specification: docs/spec/rowset.md#decoded
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import ArrayType, SchemaField, StructType, TableSchema
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.tableformat.rowset import ipc_stream
from colonnade.tableformat.rowset.block import decode_block
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.stored_block import StoredBlock
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.types.conform import conform

ROWS = 40_000


def struct(*fields: SchemaField) -> StructType:
    return StructType(fields=fields)


SCHEMA = TableSchema(
    fields=(
        SchemaField(
            id=1,
            name="flags",
            type=struct(
                SchemaField(id=2, name="a", type="boolean"),
                SchemaField(id=3, name="b", type="boolean"),
            ),
        ),
        SchemaField(
            id=4,
            name="points",
            type=ArrayType(
                element=SchemaField(
                    id=5,
                    name="element",
                    type=struct(
                        SchemaField(id=6, name="x", type="byte"),
                        SchemaField(id=7, name="y", type="short"),
                    ),
                )
            ),
        ),
        SchemaField(
            id=8,
            name="deep",
            type=struct(
                SchemaField(
                    id=9,
                    name="inner",
                    type=struct(SchemaField(id=10, name="s", type="string")),
                ),
                SchemaField(
                    id=11,
                    name="list",
                    type=ArrayType(element=SchemaField(id=12, name="element", type="byte")),
                ),
            ),
        ),
        SchemaField(id=13, name="n", type="int"),
    )
)


def nested_rows() -> pa.RecordBatch:
    columns: dict[str, list[Any]] = {
        "flags": [None if i % 8 == 0 else {"a": i % 2 == 0, "b": True} for i in range(ROWS)],
        "points": [[None, {"x": i % 4, "y": 300}][: i % 3] for i in range(ROWS)],
        "deep": [
            None if i % 4 == 0 else {"inner": {"s": "ab"} if i % 2 else None, "list": [1, 2]}
            for i in range(ROWS)
        ],
        "n": [i % 100 for i in range(ROWS)],
    }
    types = {
        "flags": pa.struct([("a", pa.bool_()), ("b", pa.bool_())]),
        "points": pa.list_(pa.struct([("x", pa.int8()), ("y", pa.int16())])),
        "deep": pa.struct(
            [("inner", pa.struct([("s", pa.string())])), ("list", pa.list_(pa.int8()))]
        ),
        "n": pa.int32(),
    }
    rows = pa.table({name: pa.array(columns[name], types[name]) for name in columns})
    return conform(rows, SCHEMA)


def write_rowset(store: ObjectStore) -> RowSetEntry:
    with RowSetWriter(store, "", "0123456789abcdef", SCHEMA, (), WriteOptions()) as writer:
        writer.write(nested_rows())
        (entry,) = writer.close()
    return entry


def blocks(store: ObjectStore, entry: RowSetEntry) -> Iterator[tuple[str, StoredBlock]]:
    """All blocks that have bytes, with the names of their columns."""
    for stretch in RowSetReader(store, View.written(""), as_written(entry)).read_stored(
        SCHEMA.fields
    ):
        for field, found in zip(SCHEMA.fields, stretch.blocks, strict=True):
            yield from ((field.name, block) for block in found)


def test_blocks_of_nested_columns_state_what_their_streams_take() -> None:
    store = MemoryStore()
    for name, block in blocks(store, write_rowset(store)):
        assert ipc_stream.measure(pa.py_buffer(block.data)) <= block.entry.decoded, name


@pytest.mark.slow
def test_a_block_that_takes_more_than_its_index_states_is_refused() -> None:
    store = MemoryStore()
    fields = {field.name: column_of(field) for field in SCHEMA.fields}
    for name, block in blocks(store, write_rowset(store)):
        data = pa.py_buffer(block.data)
        taken = ipc_stream.measure(data)
        decode_block(data, replace(block.entry, decoded=taken), fields[name])
        with pytest.raises(ValueError, match=f"would take {taken} bytes decoded"):
            decode_block(data, replace(block.entry, decoded=taken - 1), fields[name])
