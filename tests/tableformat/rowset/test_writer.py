"""RowSets are written cut by cut, end where they should, and leave nothing behind on failure."""

from __future__ import annotations

import functools
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError, StoreError
from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.schema import TableSchema, assign_ids
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import LocalStore, MemoryStore, ObjectWriter
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from tests.faults import Fault, FaultyStore
from tests.tableformat.rowset.written import JOB, PLACES, one_column, read, write
from tests.tagged import untagged


@pytest.mark.parametrize("cheap", [True, False])
def test_the_store_decides_the_form_of_a_large_rowset(cheap: bool) -> None:
    schema, rows = wide_rows()
    store = MemoryStore()
    store.files_are_cheap = cheap
    (entry,) = write(store, schema, rows, block_rows=1000, packed_bytes=10_000)
    assert entry.place == ("directory" if cheap else "packed")
    assert len(list(stored(store))) == (17 if cheap else 1)
    (small,) = write(store, schema, rows.slice(0, 300), packed_bytes=30_000)
    assert small.place == "packed"


def test_entry_bytes_are_what_the_store_holds(tmp_path: Path) -> None:
    schema, rows = one_column(pa.array([str(i) for i in range(5000)]))
    for place, options in PLACES.items():
        store = LocalStore(str(tmp_path / place))
        (entry,) = write(store, schema, rows, block_rows=999, **options)
        objects = list(store.list(""))
        assert entry.place == place.replace("one object", "packed")
        assert len(objects) == {"inline": 0, "directory": 3}.get(place, 1)
        if objects:
            assert sum(each.size for each in objects) == entry.bytes
        assert read(store, schema, (entry,)).equals(pa.Table.from_batches([rows]))


def test_no_rows_make_no_rowset() -> None:
    schema, rows = one_column(pa.array([1, 2]))
    store = MemoryStore()
    assert write(store, schema) == ()
    assert write(store, schema, rows.slice(0, 0)) == ()


def test_rowsets_end_by_rows_and_by_bytes() -> None:
    schema, rows = one_column(pa.array(np.random.default_rng(0).integers(0, 2**62, 10_000)))
    by_rows = write(MemoryStore(), schema, rows, max_records=3000, block_rows=1024)
    assert [entry.rows for entry in by_rows] == [3000, 3000, 3000, 1000]
    assert all(entry.cuts == 1024 for entry in by_rows)
    by_bytes = write(MemoryStore(), schema, rows, target_bytes=20_000, block_rows=1024)
    assert [entry.rows for entry in by_bytes] == [3072, 3072, 3072, 784]


def test_wide_values_divide_a_cut_and_a_larger_value_has_its_own_block() -> None:
    values = ["x" * 100, "y" * 5000, *("z" * 100 for _ in range(98))]
    schema, rows = one_column(pa.array([f"{i}{v}" for i, v in enumerate(values)]))
    store = MemoryStore()
    entries = write(store, schema, rows, block_bytes=1000, inline_bytes=0)
    reader = RowSetReader(store, View.written("t/"), as_written(entries[0]))
    assert [(first, b.num_rows) for first, b in reader.read(schema.fields)] == [(0, 100)]
    assert read(store, schema, entries).equals(pa.Table.from_batches([rows]))


def test_the_log_keeps_short_bounds_of_the_indexed_columns_only() -> None:
    schema, rows = one_column(pa.array(["a" * 100, "b" * 100]))
    (entry,) = write(MemoryStore(), schema, rows, indexed_columns=frozenset({1}))
    assert entry.statistics[1].min == "s:" + "a" * 32
    assert entry.statistics[1].max == "s:" + "b" * 31 + "c"
    assert not entry.statistics[1].exact
    (entry,) = write(MemoryStore(), schema, rows)
    assert not entry.statistics


def test_each_sorted_run_is_a_rowset_of_its_own() -> None:
    values = np.random.default_rng(2).permutation(10_000)
    schema, rows = one_column(pa.array(values))
    store = MemoryStore()
    parts = [rows.slice(at, 500) for at in range(0, 10_000, 500)]
    entries = write(store, schema, *parts, key=(SortField(column=1),), run_bytes=24_000)
    assert [entry.rows for entry in entries] == [3000, 3000, 3000, 1000]
    for entry, run in zip(entries, np.split(values, [3000, 6000, 9000]), strict=True):
        assert read(store, schema, (entry,))["a"].to_pylist() == sorted(run.tolist())


@pytest.mark.parametrize("limit", [{"target_bytes": 16_000}, {"max_records": 4000}])
def test_a_run_that_is_too_large_for_a_rowset_is_divided_in_order(limit: dict[str, int]) -> None:
    schema, rows = one_column(pa.array(np.random.default_rng(1).permutation(9_000)))
    store = MemoryStore()
    entries = write(store, schema, rows, key=(SortField(column=1),), block_rows=1000, **limit)
    assert [entry.rows for entry in entries] == [4000, 4000, 1000]
    assert read(store, schema, entries)["a"].to_pylist() == list(range(9_000))


def test_a_run_that_fits_is_one_rowset_even_if_it_is_not_a_multiple_of_a_block() -> None:
    schema, rows = one_column(pa.array(np.random.default_rng(4).permutation(9_500)))
    (entry,) = write(
        MemoryStore(),
        schema,
        rows,
        key=(SortField(column=1),),
        block_rows=1000,
        target_bytes=39_000,
    )
    assert entry.rows == 9_500


def test_a_sorting_writer_holds_one_run_and_not_two() -> None:
    names = [f"c{i}" for i in range(40)]
    random = np.random.default_rng(3)
    schema = assign_ids(schema_from_arrow(pa.schema([(name, pa.int64()) for name in names])), 1)[0]
    run_bytes, rows = 8 * 2**20, 2_000
    before = pa.total_allocated_bytes()
    peaks: list[int] = []

    class Watched(MemoryStore):
        def create(self, name: str, *, sync: bool) -> ObjectWriter:
            peaks.append(pa.total_allocated_bytes() - before)
            return super().create(name, sync=sync)

    options = WriteOptions(run_bytes=run_bytes, packed_bytes=0)
    with RowSetWriter(Watched(), "t/", JOB, schema, (SortField(column=7),), options) as writer:
        for _ in range(2 * run_bytes // (rows * 8 * len(names))):
            batch = pa.record_batch([random.integers(0, 2**60, rows) for _ in names], names)
            # As from another process: all columns are in one buffer, which lives until the last.
            writer.write(pa.ipc.read_record_batch(batch.serialize(), batch.schema))
        writer.close()
    assert max(peaks) < 1.3 * run_bytes


def test_statistics_in_the_log_cover_the_rows() -> None:
    schema, rows = one_column(pa.array([3.5, None, float("nan"), -2.0]))
    (entry,) = write(MemoryStore(), schema, rows, block_rows=2, indexed_columns=frozenset({1}))
    found = entry.statistics[1]
    assert (untagged(found.min or ""), untagged(found.max or "")) == (-2.0, 3.5)
    assert (found.nulls, found.nans) == (1, 1)


@functools.cache
def wide_rows() -> tuple[TableSchema, pa.RecordBatch]:
    rng = np.random.default_rng(5)
    rows = pa.record_batch({f"c{i}": pa.array(rng.random(4096)) for i in range(8)})
    return assign_ids(schema_from_arrow(rows.schema), 1)[0], rows


@pytest.mark.slow
@pytest.mark.parametrize(("one_object", "place"), [(False, "directory"), (True, "packed")])
def test_a_writer_holds_about_one_cut_however_many_rows_it_writes(
    tmp_path: Path, one_object: bool, place: str
) -> None:
    schema, rows = wide_rows()
    store = LocalStore(str(tmp_path))
    before = pa.total_allocated_bytes()
    peak = 0
    options = WriteOptions(block_rows=8192, packed_bytes=100_000, one_object=one_object, sync=False)
    tracemalloc.start()
    with RowSetWriter(store, "t/", JOB, schema, (), options) as writer:
        for _ in range(200):
            writer.write(rows)
            peak = max(peak, pa.total_allocated_bytes() - before)
        (entry,) = writer.close()
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert entry.place == place
    assert entry.bytes > 30_000_000
    assert peak < 3_000_000
    assert held < 8_000_000
    assert len(list(store.list(""))) == (17 if place == "directory" else 1)
    found = RowSetReader(store, View.written("t/"), as_written(entry)).read(schema.fields)
    assert all(batch.slice(0, 4096).equals(rows) for _, batch in found)


def stored(store: MemoryStore) -> Iterator[str]:
    return (each.name for each in store.list(""))


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_failure_at_any_store_call_leaves_no_object_behind(place: str) -> None:
    schema, rows = wide_rows()
    for call in range(1, 100):
        inner = MemoryStore()
        store = FaultyStore(inner, {call: Fault.DISK_FULL})
        try:
            write(store, schema, rows, block_rows=1000, **PLACES[place])
        except StoreError:
            assert not list(stored(inner))
        else:
            assert not store.fired
            return
    raise AssertionError("the faults never ended")


def test_leaving_the_block_without_close_removes_everything() -> None:
    schema, rows = wide_rows()
    store = MemoryStore()
    options = WriteOptions(max_records=1000, inline_bytes=0)

    def interrupted() -> None:
        with RowSetWriter(store, "t/", JOB, schema, (), options) as writer:
            writer.write(rows)
            assert list(stored(store))
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    assert not list(stored(store))


def test_a_writer_that_ended_takes_and_gives_nothing_more() -> None:
    schema, rows = wide_rows()
    closed = RowSetWriter(MemoryStore(), "t/", JOB, schema)
    assert closed.close() == ()
    aborted = RowSetWriter(MemoryStore(), "t/", JOB, schema)
    aborted.abort()
    for writer in (closed, aborted):
        with pytest.raises(InvalidInputError, match="create a new one"):
            writer.write(rows)
        with pytest.raises(InvalidInputError, match="create a new one"):
            writer.close()


@pytest.mark.slow
@pytest.mark.parametrize("sorted_by", [(), (SortField(column=1),)])
def test_wide_rows_are_cut_before_they_are_many(sorted_by: tuple[SortField, ...]) -> None:
    columns = {"id": pa.array(range(50_000))}
    columns |= {f"c{i}": pa.nulls(50_000, pa.float64()) for i in range(200)}
    rows = pa.record_batch(columns)
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    store = MemoryStore()
    with RowSetWriter(store, "t/", JOB, schema, sorted_by) as writer:
        writer.write(rows)
        (entry,) = entries = writer.close()
    cuts = [*range(entry.cuts, 50_000, entry.cuts)] if isinstance(entry.cuts, int) else entry.cuts
    assert 10_000 < cuts[0] < 25_000, "80 MB are more than a reader should decode for one row"
    assert read(store, schema, entries).equals(pa.Table.from_batches([rows]))


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "place"), [(8, "directory"), (300, "packed")])
def test_a_rowset_of_many_small_columns_is_one_object(columns: int, place: str) -> None:
    noise, width = np.random.default_rng(1), 2_400_000 // columns
    rows = pa.record_batch({f"c{i}": pa.array([noise.bytes(width)]) for i in range(columns)})
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    store = MemoryStore()
    (entry,) = entries = write(store, schema, rows, packed_bytes=2**20)
    assert entry.place == place
    assert len(list(stored(store))) == (1 if place == "packed" else columns + 1)
    assert read(store, schema, entries).equals(pa.Table.from_batches([rows]))


@pytest.mark.slow
def test_a_very_wide_rowset_does_not_need_as_many_open_files() -> None:
    rows = pa.record_batch({f"c{i}": pa.array([i, i + 1, i * i]) for i in range(300)})
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    bloom = frozenset({1, 300})
    options = WriteOptions(packed_bytes=0, inline_bytes=0, block_rows=2, bloom_columns=bloom)
    open_files: list[int] = []

    class Counting(MemoryStore):
        def create(self, name: str, *, sync: bool) -> ObjectWriter:
            open_files.append(1)
            return super().create(name, sync=sync)

    store = Counting()
    with RowSetWriter(store, "t/", JOB, schema, (), options) as writer:
        writer.write(rows)
        assert not open_files
        entries = writer.close()
    assert entries[0].place == "directory"
    assert read(store, schema, entries).equals(pa.Table.from_batches([rows]))


@pytest.mark.parametrize("sort_key", [(), (SortField(column=1),)])
@pytest.mark.parametrize("max_records", [None, 70])
def test_the_origins_of_a_rowset_are_those_of_its_rows_also_after_a_sort(
    sort_key: tuple[SortField, ...], max_records: int | None
) -> None:
    values = np.random.default_rng(0).permutation(1000)
    schema, rows = one_column(pa.array(values))
    options = WriteOptions(run_bytes=3_000, block_rows=50, max_records=max_records)
    store = MemoryStore()
    with RowSetWriter(store, "", JOB, schema, sort_key, options) as writer:
        for start in range(0, 1000, 130):
            part = rows.slice(start, 130)
            writer.write(part, np.arange(start, start + part.num_rows))
        entries = writer.close()
    found = writer.take_origins()
    assert [len(each) for each in found] == [entry.rows for entry in entries]
    stored = read(store, schema, entries).column(0).to_pylist()
    assert values[np.concatenate(found)].tolist() == stored
