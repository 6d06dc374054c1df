"""The rows of a RowSet inside regions are found, and few blocks are decoded for it."""

from __future__ import annotations

import random
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colonnade
from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.primary_key import has_order
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.view.rows_in_regions import hidden_rows
from tests import strategies
from tests.faults import FaultyStore
from tests.regions import between, inside, interval_of, random_regions, region
from tests.tableformat.predicate.blocks import make_schema
from tests.tableformat.rowset.written import PLACES, write

ROWS = 1_000_000
BLOCK = 4_096
DEVICES = 500
SCHEMA = make_schema({"device": "string", "at": "timestamp", "day": "date", "x": "double"})
DEVICE, AT, DAY, X = SCHEMA.fields


@given(data=st.data(), place=st.sampled_from(sorted(PLACES)))
def test_the_rows_of_random_regions_are_found(data: st.DataObject, place: str) -> None:
    schema = data.draw(strategies.schemas())
    if not any(map(has_order, schema.fields)):
        return
    seed = data.draw(st.integers(0, 2**32))
    rows = strategies.make_batch(schema, data.draw(st.integers(1, 30)), seed)
    store = MemoryStore()
    [entry] = write(store, schema, rows, block_rows=4, **PLACES[place])
    regions = random_regions(schema, rows, random.Random(seed))
    reader = RowSetReader(store, View.written("t/"), as_written(entry))
    expected = [row for row, found in enumerate(inside(regions, rows)) if found]
    assert [*hidden_rows(reader, regions)] == expected
    stretches = reader.stretches()
    some = [each for at, each in enumerate(stretches) if at % 2]
    found = hidden_rows(reader, regions, some)
    assert [*found] == [row for row in expected if any(a <= row < b for a, b in some)]


@pytest.fixture(scope="module")
def measures() -> tuple[MemoryStore, Any, dict[str, np.ndarray[Any, Any]]]:
    """A million rows of 500 devices, sorted by device and time. Rows of ten days are mixed in."""
    per = ROWS // DEVICES
    device = np.repeat(np.arange(DEVICES), per)
    at = np.tile(np.arange(per) * 1_000_000, DEVICES)
    day = np.arange(ROWS) % 10
    columns = {"device": device, "at": at, "day": day}
    rows = pa.record_batch(
        [
            pa.array([f"device {each:04d}" for each in range(DEVICES)]).take(pa.array(device)),
            pa.array(at).view(pa.timestamp("us", "UTC")),
            pa.array(day.astype(np.int32)).view(pa.date32()),
            pa.array(np.where(day == 0, np.nan, day)),
        ],
        names=[each.name for each in SCHEMA.fields],
    )
    store = MemoryStore()
    key = (SortField(column=DEVICE.id), SortField(column=AT.id))
    [entry] = write(store, SCHEMA, rows, key=key, block_rows=BLOCK, **PLACES["directory"])
    return store, entry, columns


def device(number: int) -> str:
    return f"device {number:04d}"


def found_in(measures: Any, *regions: Any) -> tuple[Any, int]:
    """The rows in regions, as a mask, and the number of stretches that were decoded for them."""
    disk, entry, _ = measures
    store = FaultyStore(disk)
    reader = RowSetReader(store, View.written("t/"), as_written(entry))
    decoded: list[Any] = []
    read = reader.read

    def noted(columns: Any, ranges: Any) -> Any:
        decoded.extend(ranges)
        return read(columns, ranges=ranges)

    with patch.object(reader, "read", noted):
        rows = hidden_rows(reader, regions)
    mask = np.zeros(ROWS, np.bool_)
    mask[np.array(rows, np.int64)] = True
    return mask, len(decoded)


@pytest.mark.slow
def test_a_range_of_the_sort_key_decodes_its_two_edges_alone(measures: Any) -> None:
    columns = measures[2]
    found, decoded = found_in(measures, between(DEVICE, device(40), device(160)))
    assert np.array_equal(found, (columns["device"] >= 40) & (columns["device"] <= 160))
    assert found.sum() == 121 * ROWS // DEVICES
    assert decoded == 2


def test_the_oldest_rows_of_one_device_decode_few_stretches(measures: Any) -> None:
    one = region(
        (DEVICE, interval_of(DEVICE, device(7), device(7))),
        (AT, interval_of(AT, None, 500_000_000, high_open=True)),
    )
    found, decoded = found_in(measures, one)
    columns = measures[2]
    assert np.array_equal(found, (columns["device"] == 7) & (columns["at"] < 500_000_000))
    assert found.sum() == 500
    assert decoded <= 2


def test_a_range_that_has_no_row_decodes_nothing(measures: Any) -> None:
    found, decoded = found_in(
        measures, between(DEVICE, "e"), between(AT, 10**15), between(DAY, 10, 20)
    )
    assert (int(found.sum()), decoded) == (0, 0)


@pytest.mark.slow
def test_many_ranges_decode_each_stretch_once(measures: Any) -> None:
    regions = [
        region(
            (DEVICE, interval_of(DEVICE, device(each), device(each))),
            (AT, interval_of(AT, 0, 9_000_000)),
        )
        for each in range(DEVICES)
    ]
    found, decoded = found_in(measures, *regions, between(DEVICE, device(250)))
    columns = measures[2]
    assert np.array_equal(found, (columns["at"] <= 9_000_000) | (columns["device"] >= 250))
    # Stretches of later devices are decided as a whole.
    assert decoded <= ROWS // BLOCK // 2 + 1


@pytest.mark.slow
def test_mixed_values_decode_every_stretch_and_leave_out_nan(measures: Any) -> None:
    found, decoded = found_in(measures, between(X), between(DAY, 3, 4, high_open=True))
    columns = measures[2]
    assert np.array_equal(found, columns["day"] != 0)
    assert decoded == len(
        RowSetReader(measures[0], View.written("t/"), as_written(measures[1])).stretches()
    )


@pytest.mark.parametrize(("initial", "rows"), [("i:7", 100), ("i:8", 0), (None, 0)])
def test_a_column_that_a_rowset_lacks_has_its_initial_value_in_every_row(
    initial: str | None, rows: int
) -> None:
    schema = make_schema({"n": "long"})
    store = MemoryStore()
    batch = pa.record_batch([pa.array(range(100), pa.int64())], names=["n"])
    [entry] = write(store, schema, batch, block_rows=16)
    late = schema.fields[0].model_copy(update={"id": 9, "name": "late", "initial": initial})
    reader = RowSetReader(store, View.written("t/"), as_written(entry))
    assert len(hidden_rows(reader, [between(late, 5, 7)])) == rows


def test_the_example_of_the_header_of_views_holds(tmp_path: Path) -> None:
    instant = pa.timestamp("us", "UTC")
    noon = datetime(2026, 1, 30, 12, tzinfo=timezone.utc)
    table = colonnade.create(
        tmp_path / "t",
        pa.schema([pa.field("id", pa.int64(), nullable=False), ("ts", instant)]),
        sort_key=["id"],
        properties={"ttl": "1 hour", "ttl.column": "ts"},
    )
    lives, expired = noon - timedelta(minutes=30), noon - timedelta(hours=2)
    for ids, times in ([1, 2], [lives, lives]), ([3, 95], [expired, lives]):
        table.append(pa.table({"id": ids, "ts": pa.array(times, instant)}))
    table.delete_range("id > 90")
    table.refresh()
    view = table._log.rowsets.view(table._state, None, int(noon.timestamp() * 1000))
    assert [each.id for each in view.rowsets] == [0, 1]
    [(rowset, regions)] = view.hidden.items()
    assert rowset == 1
    hidden = [(each.column, each.low, each.high) for region in regions for each in region.intervals]
    eleven = int((noon - timedelta(hours=1)).timestamp()) * 1_000_000
    assert hidden == [(1, "i:90", None), (2, None, f"i:{eleven}")]
