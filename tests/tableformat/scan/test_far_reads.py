"""What a scan of one object per RowSet costs behind a network, in requests and rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import TableSchema, assign_ids
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.manifests.store.near_ranges import LONGEST, Request, plan_requests
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.stored.source import tail_bytes
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.scan.run import read_plan, read_plan_parallel
from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow
from tests.compaction_tables import new
from tests.far_store import FarStore
from tests.faults import FaultyStore

JOB = "0123456789abcdef"
COLUMNS = 50
ROWS = 200_000


class RangedStore(FarStore):
    """Keeps the requests that an object store gets for ranges."""

    def __init__(self, inner: MemoryStore) -> None:
        super().__init__(inner)
        self.requests: list[Request] = []

    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        self.requests += plan_requests(ranges)
        return super().get_ranges(name, ranges)


@cache
def wide_rows() -> pa.Table:
    rng = np.random.default_rng(2)
    columns = {f"c{i}": rng.integers(0, 2**15, ROWS) for i in range(COLUMNS - 2)}
    texts = pa.array([f"some text with {i * 7919 % ROWS}" for i in range(ROWS)])
    return pa.table({"id": np.arange(ROWS), "text": texts, **columns})


def write(store: MemoryStore, rows: pa.Table, **options: Any) -> tuple[TableSchema, RowSetEntry]:
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    chosen = replace(WriteOptions(one_object=True, inline_bytes=0), **options)
    with RowSetWriter(store, "", JOB, schema, (), chosen) as writer:
        for batch in rows.to_batches():
            writer.write(batch)
        (entry,) = writer.close()
    return schema, entry


@cache
def wide_rowset() -> tuple[MemoryStore, TableSchema, RowSetEntry]:
    store = MemoryStore()
    return store, *write(store, wide_rows(), block_rows=20_000)


def read(store: ObjectStore, schema: TableSchema, entry: RowSetEntry) -> pa.Table:
    batches = [
        batch
        for _, batch in RowSetReader(store, View.written(""), as_written(entry)).read(schema.fields)
    ]
    return pa.Table.from_batches(batches, arrow_schema(schema))


@pytest.mark.slow
@pytest.mark.parametrize("columns", [["c7"], ["id", "c20", "c40"], ["c1", "c2", "c3", "text"]])
def test_a_scan_of_k_columns_costs_a_tail_and_k_ranges_in_two_rounds(columns: list[str]) -> None:
    inner, schema, entry = wide_rowset()
    store = RangedStore(inner)
    assert entry.place == "packed"
    assert entry.bytes > 10_000_000
    with store.counted() as cost:
        found = read(store, schema.select(columns), entry)
    assert found.equals(wide_rows().select(columns))
    assert cost.rounds == 2
    assert len(store.requests) <= 1 + len(columns)
    assert sum(each.length for each in store.requests) < 0.2 * entry.bytes


def test_all_columns_are_read_in_long_requests() -> None:
    inner, schema, entry = wide_rowset()
    store = RangedStore(inner)
    assert read(store, schema, entry).equals(wide_rows())
    assert len(store.requests) <= 2 + entry.bytes // (LONGEST // 2)


@pytest.mark.parametrize("rows", [1, 20_000])
def test_a_small_rowset_is_one_request(rows: int) -> None:
    inner = MemoryStore()
    wanted = wide_rows().slice(0, rows).select(["id", "text", "c1"])
    schema, entry = write(inner, wanted, block_rows=3000)
    store = RangedStore(inner)
    assert read(store, schema, entry).equals(wanted)
    assert [(each.offset, each.length) for each in store.requests] == [(0, entry.bytes)]


def test_many_windows_are_read_ahead_and_hold_every_row(monkeypatch: pytest.MonkeyPatch) -> None:
    inner, schema, entry = wide_rowset()
    monkeypatch.setattr("colonnade.tableformat.rowset.stored.reader._FAR_WINDOW_BYTES", 10_000)
    monkeypatch.setattr("colonnade.tableformat.rowset.stored.reader._WINDOW_BYTES", 10_000)
    store = FaultyStore(inner)
    store.parallel = 4
    columns = ["text", "c3"]
    assert read(store, schema.select(columns), entry).equals(wide_rows().select(columns))
    assert len(store.trace) == 1 + -(-ROWS // 20_000)


@pytest.mark.slow
@pytest.mark.parametrize("block_rows", [3_000, 20_000, 65_536])
def test_the_estimated_tail_has_the_indexes_of_a_table_of_numbers(block_rows: int) -> None:
    inner = MemoryStore()
    schema, entry = write(inner, wide_rows(), block_rows=block_rows)
    store = RangedStore(inner)
    reader = RowSetReader(store, View.written(""), as_written(entry))
    reader.matching_ranges(schema.fields, [(0, ROWS)], lambda bounds: bounds.rows > 0)
    assert len(store.requests) == 1
    assert tail_bytes(entry) < 0.2 * entry.bytes


def test_a_directory_is_read_side_by_side() -> None:
    inner = MemoryStore()
    wanted = wide_rows().select(["id", "text", "c1", "c2"])
    schema = assign_ids(schema_from_arrow(wanted.schema), 1)[0]
    options = WriteOptions(packed_bytes=0, block_rows=20_000)
    with RowSetWriter(inner, "", JOB, schema, (), options) as writer:
        for batch in wanted.to_batches():
            writer.write(batch)
        (entry,) = writer.close()
    assert entry.place == "directory"
    store = RangedStore(inner)
    with store.counted() as cost:
        assert read(store, schema, entry).equals(wanted)
    assert cost.rounds == 3
    assert cost.requests == 1 + 4 + 4


def test_a_damaged_end_is_named() -> None:
    inner = MemoryStore()
    schema, entry = write(inner, wide_rows().select(["id"]), block_rows=20_000)
    [info] = inner.list("")
    whole = inner.get(info.name)
    inner.put(info.name, whole[:-1], sync=False)
    with pytest.raises(CorruptionError, match=info.name):
        read(RangedStore(inner), schema, entry)
    inner.put(info.name, whole[:-1] + b"x", sync=False)
    with pytest.raises(CorruptionError, match=f"The footer of .*{info.name}.* damaged"):
        read(RangedStore(inner), schema, entry)
    inner.delete(info.name)
    with pytest.raises(CorruptionError, match="missing"):
        read(RangedStore(inner), schema, entry)


@pytest.mark.slow
def test_many_small_rowsets_are_opened_side_by_side() -> None:
    inner = MemoryStore()
    inner.files_are_cheap = False
    wanted = wide_rows().slice(0, 32_000).select(["id", "text", "c1", "c2", "c3", "c4", "c5"])
    table = new(assign_ids(schema_from_arrow(wanted.schema), 1)[0], store=inner)
    for start in range(0, 32_000, 1000):
        table.append(wanted.slice(start, 1000))
    plan = table.scan()._plan
    assert {each.rowset.entry.place for each in plan.rowsets} == {"packed"}
    store = RangedStore(inner)
    with store.counted() as cost:
        found = pa.Table.from_batches(read_plan(store, plan))
    assert found.equals(wanted)
    assert cost.requests == 32
    store.requests.clear()
    assert pa.Table.from_batches(read_plan_parallel(store, plan)).equals(wanted)
    assert len(store.requests) == 32


@pytest.mark.slow
def test_a_parallel_scan_of_few_columns_opens_a_large_rowset_once() -> None:
    inner = MemoryStore()
    inner.files_are_cheap = False
    table = new(assign_ids(schema_from_arrow(wide_rows().schema), 1)[0], store=inner)
    table.append(wide_rows())
    store = RangedStore(inner)
    plan = table.scan(columns=["c7", "text"])._plan
    found = pa.Table.from_batches(read_plan_parallel(store, plan))
    assert found.equals(wide_rows().select(["c7", "text"]))
    assert len(store.requests) <= 1 + 2
