"""Scans of whole tables: deletion vectors count everywhere, and pruning shows in nothing but time.

The tables have RowSets in all three places, some with deletion vectors of either kind, and the
same rows are found by reading everything and filtering it in plain Python.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests import object_names
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import ObjectId, new_object_id, new_transaction_id
from colonnade.manifests.log.log import Change, Log, create_database
from colonnade.manifests.model.codec import byte_check
from colonnade.manifests.model.deletion_vector import (
    DeletionVector,
    encode_deletion_vector,
    write_deletion_vector,
)
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.model.operations import AddDeletionVector
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.predicate import col
from colonnade.tableformat.rowset.writer import RowSetWriter
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.design import new_table
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.write.job import plan_write, write_options
from tests.faults import FaultyStore
from tests.tableformat.predicate.oracle import TYPES, Oracle, random_predicate, random_value

JOB = "0123456789abcdef"
PLACES: dict[str, dict[str, Any]] = {
    "inline": {"inline_bytes": 2**20},
    "packed": {"inline_bytes": 0},
    "directory": {"inline_bytes": 0, "packed_bytes": 0},
}


def new(store: ObjectStore, types: dict[str, str], sort_key: Sequence[str] = ()) -> ArrowTable:
    """An empty table of a store of its own."""
    fields = tuple(SchemaField(name=name, type=text) for name, text in types.items())
    location = Location(store, "t", exists=True)
    base = create_database(store, lone_table=False)
    design = new_table("t", TableSchema(fields=fields), sort_key)
    log = Log(store)
    job = plan_write(location, base, "append", create=design)
    return ArrowTable(location, log, commit_written(job, (), log, base))


def reopened(table: ArrowTable, store: ObjectStore) -> ArrowTable:
    log = Log(store)
    return ArrowTable(Location(store, "t", exists=True), log, log.read_head())


def append(
    store: ObjectStore, table: ArrowTable, rows: pa.Table, place: str, block_rows: int = 16
) -> None:
    """Append as `ArrowTable.append` does, to a place and with blocks of one's choice."""
    base, schema, key = table.refresh(), table.state.schema, table.state.sort_key
    job = plan_write(Location(store, "t", exists=True), base, "append")
    options = replace(
        write_options(schema, key, job.settings), block_rows=block_rows, **PLACES[place]
    )
    with RowSetWriter(store, job.target.prefix, job.job_id, schema, key, options) as writer:
        writer.write(conform(rows, schema))
        entries = writer.close()
    commit_written(job, entries, Log(store), base)
    table.refresh()


def delete(
    store: ObjectStore, table: ArrowTable, rowset: int, rows: Iterable[int], inline: bool
) -> None:
    """Commit a deletion vector that replaces the one there is."""
    base = table.refresh()
    live = {each.id: each for each in Log(store).read_rowsets(table.state)}[rowset]
    before = None if live.vector is None else ObjectId(live.vector.object)
    vector = DeletionVector.of(rows)
    if inline:
        entry = write_deletion_vector(store, table.state.prefix, JOB, vector, before)
        assert entry.data is not None
    else:
        data, object_id = encode_deletion_vector(vector), new_object_id(JOB)
        name = object_names.deletion_vector_name(table.state.prefix, object_id)
        store.put(name, data, sync=False)
        entry = DeletionVectorEntry(
            object=object_id,
            cardinality=vector.cardinality,
            check=byte_check(data),
            predecessor=before,
        )
    op = AddDeletionVector(table=table.state.id, rowset=rowset, vector=entry)
    change = Change(transaction=new_transaction_id(), operation="delete", parameters={}, ops=(op,))
    Log(store).commit(change, base)
    table.refresh()


def numbers(first: int, count: int) -> pa.Table:
    return pa.table({"n": np.arange(first, first + count)})


@pytest.mark.parametrize("inline", [True, False], ids=["vector inline", "vector object"])
@pytest.mark.parametrize("place", PLACES)
def test_deleted_rows_are_gone_from_the_epoch_of_their_vector_on(place: str, inline: bool) -> None:
    store = MemoryStore()
    table = new(store, {"n": "long"})
    append(store, table, numbers(0, 50), place)
    append(store, table, numbers(50, 50), place)
    assert {each.rowset.entry.place for each in table.scan().plan.rowsets} == {place}
    whole = table.epoch
    # First and last row of a block and of the RowSet.
    delete(store, table, 0, [0, 15, 16, 49], inline)
    delete(store, table, 1, range(50), inline)
    delete(store, table, 0, [0, 15, 16, 17, 49], not inline)

    def found(**ask: Any) -> list[int]:
        scan = reopened(table, store).scan(["n"], **ask)
        rows: list[int] = scan.to_arrow()["n"].to_pylist()
        assert scan.to_reader().read_all()["n"].to_pylist() == rows
        return rows

    left = [n for n in range(50) if n not in (0, 15, 16, 17, 49)]
    assert found() == left
    assert found(where="n BETWEEN 14 AND 18") == [14, 18]
    assert found(where="n IN (0, 49, 60)") == []
    assert found(where=~(col("n") > 14)) == list(range(1, 15))
    assert table.scan([]).to_arrow().num_rows == len(left)
    assert found(epoch=whole) == list(range(100))
    assert found(epoch=whole + 1) == sorted({*range(100)} - {0, 15, 16, 49})
    assert found(epoch=whole + 2) == sorted({*range(50)} - {0, 15, 16, 49})
    assert found(epoch=whole + 1, where="n >= 48") == [48, *range(50, 100)]
    table.overwrite(numbers(7, 1))
    assert found() == [7]


def test_a_vector_that_is_missing_or_damaged_is_named_and_no_row_returned() -> None:
    store = MemoryStore()
    table = new(store, {"n": "long"})
    append(store, table, numbers(0, 50), "packed")
    delete(store, table, 0, [3], inline=False)
    (name,) = [info.name for info in store.list("") if info.name.endswith(".dv")]
    data = store.get(name)
    store.delete(name)
    for damaged in (None, data[:-1], bytes([data[0] ^ 1]) + data[1:]):
        if damaged is not None:
            store.put(name, damaged, sync=False)
        batches = table.scan().to_batches()
        with pytest.raises(CorruptionError, match=name):
            next(batches)


def test_planning_opens_no_data_and_a_read_only_what_the_predicate_leaves() -> None:
    disk = MemoryStore()
    made = new(disk, {"n": "long", "other": "string"})
    for first in (0, 100, 200):
        rows = numbers(first, 100).append_column("other", pa.array(["x"] * 50 + ["y"] * 50))
        append(disk, made, rows, "directory")
    append(disk, made, rows, "packed")
    delete(disk, made, 1, [3], inline=False)

    store = FaultyStore(disk)
    table = reopened(made, store)
    scan = table.scan(["n"], where="n = 130")
    assert {call.name.partition("/")[0] for call in store.trace} == {"_manifest"}
    assert len(scan.plan.rowsets) == 1

    store.trace.clear()
    assert scan.to_arrow()["n"].to_pylist() == [130]
    opened = [call.name.rpartition("/")[2] for call in store.trace]
    (vector,) = [name for name in opened if name.endswith(".dv")]
    assert sorted(opened) == sorted(["rowset.json", "1.idx", "1.col", vector])


def test_a_string_with_a_collation_is_never_pruned_by_its_bytes() -> None:
    store = MemoryStore()
    table = new(store, {"s": "string collate UNICODE_CI", "n": "long"}, ["n"])
    rows = pa.table({"s": ["a", "B", "c"] * 20, "n": range(60)})
    for place in PLACES:
        append(store, table, rows, place)
    for rowset in Log(store).read_rowsets(table.state):
        found = rowset.entry.statistics[table.state.schema.field("s").id]
        assert (found.min, found.max) == (None, None)
    assert table.scan(where="s IS NOT NULL").to_arrow().num_rows == 180


class Tables:
    """Tables of random types and rows; each RowSet has its place and perhaps its vector."""

    def __init__(self, seed: int, is_sorted: bool) -> None:
        rng = self.rng = random.Random(seed)
        self.types = {name: rng.choice(TYPES) for name in "xyz"}
        self.store = MemoryStore()
        self.table = new(self.store, self.types, ["x", "y desc"] if is_sorted else [])
        for rowset in range(rng.randint(1, 4)):
            count = rng.randint(1, 30)
            append(self.store, self.table, self.rows(count), rng.choice([*PLACES]), 5)
            if rng.random() < 0.6:
                gone = rng.sample(range(count), rng.randint(1, count))
                delete(self.store, self.table, rowset, gone, rng.random() < 0.5)

    def rows(self, count: int) -> pa.Table:
        """Few distinct values, so that some blocks and RowSets cannot match."""
        columns = []
        for field in self.table.schema:
            pool = [random_value(self.rng, self.types[field.name]) for _ in range(3)]
            nulls = self.rng.choice((0.0, 0.3, 1.0))
            values = [
                None if self.rng.random() < nulls else self.rng.choice(pool) for _ in range(count)
            ]
            columns.append(pa.array(values, field.type))
        return pa.Table.from_arrays(columns, schema=self.table.schema)


def plain(rows: pa.Table) -> list[dict[str, Any]]:
    """Rows as the oracle takes them: dates and times as the integers that are stored."""
    columns = []
    for column in rows.columns:
        kind = column.type
        if pa.types.is_temporal(kind):
            wide = pa.int32() if kind.bit_width == 32 else pa.int64()
            column = pa.chunked_array([chunk.view(wide) for chunk in column.chunks], wide)
        columns.append(column.to_pylist())
    return [
        dict(zip(rows.column_names, values, strict=True)) for values in zip(*columns, strict=True)
    ]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_a_pruned_scan_equals_a_filter_over_everything(seed: int, is_sorted: bool) -> None:
    tables = Tables(seed, is_sorted)
    oracle = Oracle(tables.types)
    every = plain(tables.table.scan().to_arrow())
    for _ in range(12):
        predicate = random_predicate(tables.rng, tables.types)
        scan = tables.table.scan(where=predicate)
        expected = [row for row in every if oracle.truth(predicate, row) is True]
        assert repr(plain(scan.to_arrow())) == repr(expected), predicate
