"""RowSets and deletion vectors in golden files are read, and written the same again.

`python -m tests.spec.make_golden rowset` makes the files.
Specification: docs/spec/rowset.md, docs/spec/deletion-vector.md
"""

from __future__ import annotations

import json
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.ids import ObjectId
from colonnade.manifests.model.deletion_vector import (
    DeletionVector,
    encode_deletion_vector,
    read_deletion_vector,
    write_deletion_vector,
)
from colonnade.manifests.model.entries import DeletionVectorEntry, RowSetEntry
from colonnade.manifests.model.schema import ArrayType, SchemaField, TableSchema
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import LocalStore, MemoryStore, ObjectStore
from colonnade.tableformat.rowset.bloom_filter import hash_rows, members
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.rowset.encodings.registry import ENCODINGS
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.stored.column_segments import ColumnSegments
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.spec.golden_logs import counted_ids
from tests.strategies import identical

GOLDEN = Path(__file__).parent / "golden"
JOB = "0123456789abcdef"
FOLDERS: dict[str, tuple[int, ...]] = {
    "rowset-v1": (),
    "rowset-v1-filters": (1, 2, 3, 4, 5, 6, 7, 10, 12, 13),
}
"""Folders of RowSets, and the columns of which they have Bloom filters."""

VECTORS_IN = "rowset-v1"
ROWS = 600

SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="narrowed", type="long"),
        SchemaField(id=2, name="dictionary", type="string"),
        SchemaField(id=3, name="constant", type="double"),
        SchemaField(id=4, name="null", type="date"),
        SchemaField(id=5, name="binary", type="binary"),
        SchemaField(id=6, name="price", type="decimal(12,2)", nullable=False),
        SchemaField(id=7, name="total", type="decimal(38,4)"),
        SchemaField(
            id=8, name="list", type=ArrayType(element=SchemaField(id=9, name="element", type="int"))
        ),
        SchemaField(id=10, name="at", type="timestamp"),
        SchemaField(id=11, name="flag", type="boolean"),
        SchemaField(id=12, name="lengths", type="string"),
        SchemaField(id=13, name="ratio", type="float"),
    )
)
PLACES: dict[str, dict[str, Any]] = {
    "inline": {"inline_bytes": 2**20},
    "packed": {"inline_bytes": 0, "block_rows": 400},
    "directory": {"inline_bytes": 0, "packed_bytes": 0, "block_rows": 400},
}

VECTORS = {"small": range(10, 20), "large": range(0, 6000, 3)}


def golden_rows() -> pa.RecordBatch:
    rows = range(ROWS)
    columns: list[list[Any]] = [
        [None if i % 7 == 0 else 2**40 + i for i in rows],
        [("Lima", "Oslo", None, "São Paulo")[i % 4] for i in rows],
        [-0.0 for i in rows],
        [None for i in rows],
        [bytes([i % 256, i * i % 251]) * (i % 3) for i in rows],
        [Decimal(7 * i - 1000).scaleb(-2) for i in rows],
        [Decimal(f"{i}12345678901234567890.{i:04}") for i in rows],
        [None if i % 5 == 0 else [i, None] * (i % 3) for i in rows],
        [-(10**15) + i * i * 1_000_003 for i in rows],
        [(True, False, None)[i % 3] for i in rows],
        [None if i % 11 == 0 else f"{i}" + "é" * (i // 4) for i in rows],
        [(None, float("nan"), -0.0, i / 8)[i % 4] for i in rows],
    ]
    shown = arrow_schema(SCHEMA)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, shown, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=shown)


def write_rowset(store: ObjectStore, folder: str, place: str) -> RowSetEntry:
    options = WriteOptions(
        indexed_columns=frozenset(range(1, 13)),
        bloom_columns=frozenset(FOLDERS[folder]),
        **PLACES[place],
    )
    with RowSetWriter(store, "", JOB, SCHEMA, (), options) as writer:
        writer.write(golden_rows())
        (entry,) = writer.close()
    return entry


def golden_store(folder: str) -> LocalStore:
    return LocalStore(str(GOLDEN / folder))


def golden(folder: str) -> dict[str, Any]:
    return dict(json.loads(golden_store(folder).get("entries.json")))


def entry_of(folder: str, place: str) -> RowSetEntry:
    return RowSetEntry.model_validate_json(json.dumps(golden(folder)["rowsets"][place]))


def objects(store: ObjectStore, object_id: ObjectId | str) -> dict[str, bytes]:
    """The objects of one RowSet, by what follows its id in their names."""
    return {
        each.name.removeprefix(object_id): store.get(each.name)
        for each in store.list("")
        if each.name.startswith(object_id)
    }


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("folder", FOLDERS)
def test_an_earlier_rowset_is_read(folder: str, place: str) -> None:
    reader = RowSetReader(
        golden_store(folder), View.written(""), as_written(entry_of(folder, place))
    )
    found = reader.read(SCHEMA.fields)
    assert identical(pa.concat_batches([batch for _, batch in found]), golden_rows())


def test_some_rowset_holds_each_encoding() -> None:
    found = set()
    for folder in FOLDERS:
        entry = as_written(entry_of(folder, "directory"))
        segments = ColumnSegments(golden_store(folder), "", entry)
        for each in segments.open([column_of(field) for field in SCHEMA.fields]):
            found |= {block.encoding for block in each.index.entries} if each else set()
    assert found == set(ENCODINGS)


@pytest.mark.parametrize("place", PLACES)
def test_the_filters_of_an_earlier_rowset_hold_its_values(place: str) -> None:
    folder, fields = "rowset-v1-filters", SCHEMA.fields
    reader = RowSetReader(
        golden_store(folder), View.written(""), as_written(entry_of(folder, place))
    )
    columns = [column_of(SCHEMA.by_id(each)) for each in FOLDERS[folder]]
    found = set()
    for stretch in reader.read_stored(fields, bloom_columns=FOLDERS[folder]):
        reader.verify(fields, stretch)
        rows = dict(zip([f.id for f in fields], reader.decode(fields, stretch), strict=True))
        blocks = dict(zip([f.id for f in fields], stretch.blocks, strict=True))
        for column in columns:
            [block] = blocks[column.id]
            if block.bloom:
                found.add(column.id)
                assert members(block.bloom, hash_rows(rows[column.id], column)).all()
    # A constant column and one of NULL have no blocks that a filter could spare.
    assert found == {*FOLDERS[folder]} - {3, 4}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_same_rows_make_the_same_bytes(folder: str, place: str) -> None:
    written_by = golden(folder)["pyarrow"]
    if pa.__version__ != written_by:
        # Which of the valid streams Arrow writes is its own choice, release by release.
        pytest.skip(f"the files were written by pyarrow {written_by}")
    store = MemoryStore()
    new, old = write_rowset(store, folder, place), entry_of(folder, place)
    assert new.model_copy(update={"object": old.object}) == old
    assert objects(store, new.object) == objects(golden_store(folder), old.object)


@pytest.mark.parametrize("size", VECTORS)
def test_an_earlier_vector_is_read_and_written_the_same_again(size: str) -> None:
    store = golden_store(VECTORS_IN)
    entry = DeletionVectorEntry.model_validate_json(json.dumps(golden(VECTORS_IN)["vectors"][size]))
    vector = read_deletion_vector(store, "", entry, 6000)
    assert vector == DeletionVector.of(VECTORS[size])
    assert len(encode_deletion_vector(vector)) == entry.check.length


def make() -> None:
    """Make the files anew."""
    for name in FOLDERS:
        shutil.rmtree(GOLDEN / name, ignore_errors=True)
        (GOLDEN / name).mkdir(parents=True)
        store = golden_store(name)
        with counted_ids():
            made: dict[str, Any] = {
                "pyarrow": pa.__version__,
                "rowsets": {place: write_rowset(store, name, place) for place in PLACES},
            }
            if name == VECTORS_IN:
                made["vectors"] = {
                    size: write_deletion_vector(store, "", JOB, DeletionVector.of(rows))
                    for size, rows in VECTORS.items()
                }
        text = json.dumps(
            made, indent=1, default=lambda each: each.model_dump(mode="json", exclude_none=True)
        )
        (GOLDEN / name / "entries.json").write_text(text + "\n")
