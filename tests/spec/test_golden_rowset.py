"""RowSets and deletion vectors that an earlier writer left are read, and written the same again.

`python -m tests.spec.test_golden_rowset` makes the files of a new format version; existing ones
are never edited. Specification: docs/spec/rowset.md, docs/spec/deletion-vector.md
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from manifests.deletion_vector import (
    DeletionVector,
    encode_deletion_vector,
    read_deletion_vector,
    write_deletion_vector,
)
from manifests.entries import DeletionVectorEntry, RowSetEntry
from manifests.ids import ObjectId
from manifests.schema import ArrayType, SchemaField, TableSchema
from manifests.store import LocalStore, MemoryStore, ObjectStore
from tableformat.arrow_types import arrow_schema
from tableformat.rowset_reader import RowSetReader
from tableformat.rowset_writer import RowSetWriter, WriteOptions

GOLDEN = Path(__file__).parent / "golden" / "rowset-v1"
JOB = "0123456789abcdef"
ROWS = 300

SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="narrowed", type="long"),
        SchemaField(id=2, name="dictionary", type="string"),
        SchemaField(id=3, name="constant", type="double"),
        SchemaField(id=4, name="null", type="date"),
        SchemaField(id=5, name="plain", type="binary"),
        SchemaField(id=6, name="price", type="decimal(12,2)", nullable=False),
        SchemaField(id=7, name="total", type="decimal(38,4)"),
        SchemaField(
            id=8, name="list", type=ArrayType(element=SchemaField(id=9, name="element", type="int"))
        ),
        SchemaField(id=10, name="at", type="timestamp"),
        SchemaField(id=11, name="flag", type="boolean"),
    )
)

PLACES: dict[str, dict[str, Any]] = {
    "inline": {"inline_bytes": 2**20},
    "packed": {"inline_bytes": 0, "block_rows": 200},
    "directory": {"inline_bytes": 0, "packed_bytes": 0, "block_rows": 200},
}

VECTORS = {"small": range(10, 20), "large": range(0, 6000, 3)}


def golden_rows() -> pa.RecordBatch:
    columns: list[list[Any]] = [
        [None if i % 7 == 0 else 2**40 + i for i in range(ROWS)],
        [("Lima", "Oslo", None, "São Paulo")[i % 4] for i in range(ROWS)],
        [-0.0] * ROWS,
        [None] * ROWS,
        [bytes([i % 256, i * i % 251]) * (i % 3) for i in range(ROWS)],
        [Decimal(7 * i - 1000).scaleb(-2) for i in range(ROWS)],
        [Decimal(f"{i}12345678901234567890.{i:04}") for i in range(ROWS)],
        [None if i % 5 == 0 else [i, None] * (i % 3) for i in range(ROWS)],
        [-(10**15) + i * i * 1_000_003 for i in range(ROWS)],
        [(True, False, None)[i % 3] for i in range(ROWS)],
    ]
    shown = arrow_schema(SCHEMA)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, shown, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=shown)


def write_rowset(store: ObjectStore, place: str) -> RowSetEntry:
    options = WriteOptions(indexed_columns=frozenset(range(1, 12)), **PLACES[place])
    with RowSetWriter(store, "", JOB, SCHEMA, (), options) as writer:
        writer.write(golden_rows())
        (entry,) = writer.close()
    return entry


def golden() -> dict[str, Any]:
    return dict(json.loads((GOLDEN / "entries.json").read_text()))


def entry_of(place: str) -> RowSetEntry:
    return RowSetEntry.model_validate_json(json.dumps(golden()["rowsets"][place]))


def objects(store: ObjectStore, object_id: ObjectId | str) -> dict[str, bytes]:
    """The objects of one RowSet, by what follows its id in their names."""
    return {
        each.name.removeprefix(object_id): store.get(each.name)
        for each in store.list("")
        if each.name.startswith(object_id)
    }


@pytest.mark.parametrize("place", PLACES)
def test_an_earlier_rowset_is_read(place: str) -> None:
    found = RowSetReader(LocalStore(str(GOLDEN)), "", entry_of(place)).read(SCHEMA.fields)
    assert pa.concat_batches([batch for _, batch in found]).equals(golden_rows())


@pytest.mark.parametrize("place", PLACES)
def test_the_same_rows_make_the_same_bytes(place: str) -> None:
    if pa.__version__ != golden()["pyarrow"]:
        # Which of the valid streams Arrow writes is its own choice, release by release.
        pytest.skip(f"the files were written by pyarrow {golden()['pyarrow']}")
    store = MemoryStore()
    new, old = write_rowset(store, place), entry_of(place)
    assert new.model_copy(update={"object": old.object}) == old
    assert objects(store, new.object) == objects(LocalStore(str(GOLDEN)), old.object)


@pytest.mark.parametrize("size", VECTORS)
def test_an_earlier_vector_is_read_and_written_the_same_again(size: str) -> None:
    store = LocalStore(str(GOLDEN))
    entry = DeletionVectorEntry.model_validate_json(json.dumps(golden()["vectors"][size]))
    vector = read_deletion_vector(store, "", entry, 6000)
    assert vector == DeletionVector.of(VECTORS[size])
    assert len(encode_deletion_vector(vector)) == entry.check.length


def make() -> None:
    """Write the files; refuses to touch existing ones."""
    GOLDEN.mkdir(parents=True)
    store = LocalStore(str(GOLDEN))
    entries = {
        "pyarrow": pa.__version__,
        "rowsets": {
            place: write_rowset(store, place).model_dump(mode="json", exclude_none=True)
            for place in PLACES
        },
        "vectors": {
            size: write_deletion_vector(store, "", JOB, DeletionVector.of(rows)).model_dump(
                mode="json", exclude_none=True
            )
            for size, rows in VECTORS.items()
        },
    }
    (GOLDEN / "entries.json").write_text(json.dumps(entries, indent=1) + "\n")


if __name__ == "__main__":
    make()
