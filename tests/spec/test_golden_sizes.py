"""Blocks of nested columns whose index states fewer bytes than they take are read all the same.

The first writers left out which structs are NULL when they stated how many bytes a block takes. The
RowSet in `golden/rowset-v3-understated` was written by such a `write_rowset`. No
later writer makes such a file.
Specification: docs/spec/rowset.md#decoded
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import ArrayType, SchemaField, StructType, TableSchema
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.store import LocalStore, MemoryStore, ObjectStore
from colonnade.tableformat.rowset import ipc_stream
from colonnade.tableformat.rowset.block import understated
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.stored_block import StoredBlock
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.types.conform import conform
from tests.strategies import identical

GOLDEN = Path(__file__).parent / "golden" / "rowset-v3-understated"
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


def golden_rows() -> pa.RecordBatch:
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
        writer.write(golden_rows())
        (entry,) = writer.close()
    return entry


def golden_entry() -> RowSetEntry:
    return RowSetEntry.model_validate_json((GOLDEN / "entry.json").read_text())


def blocks(store: ObjectStore, entry: RowSetEntry) -> Iterator[tuple[str, StoredBlock]]:
    """All blocks that have bytes, with the names of their columns."""
    for stretch in RowSetReader(store, "", as_written(entry)).read_stored(SCHEMA.fields):
        for field, found in zip(SCHEMA.fields, stretch.blocks, strict=True):
            yield from ((field.name, block) for block in found)


def names_of_understated(store: ObjectStore, entry: RowSetEntry) -> set[str]:
    found = blocks(store, entry)
    return {name for name, block in found if understated(pa.py_buffer(block.data), block.entry)}


def test_the_old_rowset_is_read() -> None:
    reader = RowSetReader(LocalStore(str(GOLDEN)), "", as_written(golden_entry()))
    found = pa.concat_batches([batch for _, batch in reader.read(SCHEMA.fields)])
    assert identical(found, golden_rows())


def test_each_column_of_the_old_rowset_with_nullable_structs_states_too_few_bytes() -> None:
    store = LocalStore(str(GOLDEN))
    assert names_of_understated(store, golden_entry()) == {"flags", "points", "deep"}


def test_the_same_rows_now_state_what_their_streams_take() -> None:
    store = MemoryStore()
    entry = write_rowset(store)
    assert names_of_understated(store, entry) == set()
    for _, block in blocks(store, entry):
        assert ipc_stream.measure(pa.py_buffer(block.data)).total <= block.entry.decoded
