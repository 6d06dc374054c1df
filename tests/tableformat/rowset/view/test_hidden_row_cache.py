"""Hidden rows that were found once are not looked for again, and never those of others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyroaring import FrozenBitMap

from colonnade.manifests.state.snapshot import LiveRowSet, as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset.deleted_rows import with_hidden_rows
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.view.hidden_row_cache import HiddenRowCache
from tests.faults import FaultyStore
from tests.regions import between
from tests.tableformat.predicate.blocks import make_schema
from tests.tableformat.rowset.written import write
from tests.tableformat.statements.tables import another, made

SCHEMA = make_schema({"n": "long"})
[N] = SCHEMA.fields
ROWS = FrozenBitMap([1, 2, 3])


def stored(store: Any) -> LiveRowSet:
    batch = pa.record_batch([pa.array(np.arange(1000))], names=["n"])
    [entry] = write(store, SCHEMA, batch, block_rows=64)
    return as_written(entry)


def test_rows_are_kept_for_their_store_rowset_regions_and_ranges_alone() -> None:
    store, other = MemoryStore(), MemoryStore()
    region, equal = between(N, 1, 3), between(N, 1, 3)
    rowset, kept = stored(store), HiddenRowCache()
    kept.keep(store, rowset, (region,), [(0, 64)], ROWS)
    assert kept.get(store, rowset, (region,), [(0, 64)]) == ROWS
    assert kept.get(store, replace(rowset), (region,), [(0, 64)]) == ROWS
    assert kept.get(store, rowset, (region,), None) is None
    assert kept.get(store, rowset, (region,), [(0, 128)]) is None
    assert kept.get(other, rowset, (region,), [(0, 64)]) is None
    assert kept.get(store, rowset, (equal,), [(0, 64)]) == ROWS
    assert kept.get(store, rowset, (between(N, 1, 4),), [(0, 64)]) is None
    assert kept.get(store, rowset, (region, equal), [(0, 64)]) is None
    assert kept.get(store, stored(store), (region,), [(0, 64)]) is None


def test_what_was_not_used_for_longest_makes_room() -> None:
    store, regions = MemoryStore(), (between(N, 1, 3),)
    rowsets = [stored(store) for _ in range(4)]
    kept = HiddenRowCache(limit_bytes=3_000)
    for each in rowsets[:3]:
        kept.keep(store, each, regions, None, ROWS)
    assert kept.get(store, rowsets[0], regions, None) == ROWS
    kept.keep(store, rowsets[3], regions, None, ROWS)
    found = [kept.get(store, each, regions, None) is not None for each in rowsets]
    assert found == [True, False, True, True]
    assert 0 < kept.byte_count <= 3_000
    kept.keep(store, rowsets[0], regions, None, FrozenBitMap(range(0, 2**20, 2)))
    assert kept.get(store, rowsets[0], regions, None) == ROWS, "rows that are too many are not kept"


def test_of_a_rowset_only_the_rows_of_its_last_regions_are_kept() -> None:
    """A table that gets a range each second must not fill the memory with what was before."""
    store, kept = MemoryStore(), HiddenRowCache()
    rowset = stored(store)
    for low in range(50):
        hidden = tuple(between(N, each, each) for each in range(low + 1))
        assert kept.get(store, rowset, hidden, None) is None
        kept.keep(store, rowset, hidden, None, FrozenBitMap(range(low + 1)))
        assert kept.get(store, rowset, hidden, None) == FrozenBitMap(range(low + 1))
        assert kept.byte_count < 500 + 50 * (low + 10) * 10


def test_the_second_look_at_regions_reads_nothing() -> None:
    store = FaultyStore(MemoryStore())
    rowset = stored(store)
    regions = tuple(between(N, each, each + 3) for each in range(10, 1000, 50))
    view = replace(View.written("t/"), hidden={rowset.id: regions})
    reader = RowSetReader(store, view, rowset)
    first = with_hidden_rows(reader, view, rowset, None)
    calls = len(store.trace)
    again = with_hidden_rows(reader, view, rowset, None)
    assert first is not None
    assert again is not None
    assert again.rows == first.rows
    assert [*first.rows] == [row for row in range(10, 1000) if (row - 10) % 50 < 4]
    assert len(store.trace) == calls


@pytest.mark.slow
@pytest.mark.parametrize("size", [30, 200_000])
def test_scans_see_each_further_range_and_each_restored_row(size: int) -> None:
    schema = pa.schema([pa.field("k", pa.int64(), nullable=False), ("v", pa.list_(pa.int64()))])
    table = made(schema=schema, sort_key=["k"])
    numbers = np.arange(size)
    values = pa.array([[each, None] if each % 3 else None for each in range(size)], schema[1].type)
    whole = table.append(pa.table([pa.array(numbers), values], schema))
    gone = np.zeros(size, np.bool_)
    for begin in range(0, size, size // 10):
        table.delete_range(f"k >= {begin} AND k < {begin + 2}")
        gone[begin : begin + 2] = True
        for reader in (table, another(table)):
            for _ in range(2):
                found = reader.scan().to_arrow()
                assert np.array_equal(found["k"].to_numpy(), numbers[~gone])
                assert found["v"].combine_chunks().equals(values.filter(pa.array(~gone)))
    table.restore(epoch=whole)
    assert table.scan().to_arrow()["v"].combine_chunks().equals(values)
    table.delete_range("k = 7")
    assert table.scan(["k"]).to_arrow()["k"].to_pylist() == [each for each in numbers if each != 7]
