"""Ranges deleted unread, and rows that expire, without Spark: 50 M narrow rows, and lineitem."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import colonnade
from benchmarks.measure import Figure, interleave, lineitem, seconds
from colonnade.tableformat.table.design.lifetimes import GRACE_MS

ROWS, DEVICES, PART = 50_000_000, 1_000, 1_000_000
DAY_US, DAYS = 86_400_000_000, 100
SCHEMA = pa.schema(
    [
        pa.field("device", pa.int32(), nullable=False),
        pa.field("at", pa.timestamp("us", "UTC"), nullable=False),
        ("value", pa.float64()),
    ]
)
ORDER, QUANTITY, SHIPPED = "l_orderkey", "l_quantity", "l_shipdate"
MANY = 128
OTHERS = f"device >= {DEVICES // 2}"
INSIDE = f"device < {DEVICES // 10}"
"""The devices beside the many ranges, and those that have them."""


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure deletions, scans beside them, scans with a lifetime, and a purge."""
    place = folder / "lifetimes"
    shutil.rmtree(place, ignore_errors=True)
    rows = max(100_000, int(ROWS * scale))
    items = pq.read_table(lineitem(folder, scale))
    return [
        *_ranges(place, rows, runs),
        *_expiry(place, rows, runs),
        *_ranges_of_items(place, items, runs),
        *_expiry_of_items(place, items, runs),
    ]


def _ranges(place: Path, rows: int, runs: int) -> Iterator[Figure]:
    plain, cut = (made_readings(place / name, rows, by_time=False) for name in ("plain", "cut"))
    third = int(DEVICES * 0.3)
    # The first condition of a process loads the parser of SQL.
    cut.delete_range(f"device = {DEVICES - 1} AND at < {time_literal(1)}")
    large, small = f"device < {third}", f"device = {DEVICES // 2}"
    yield from _deletions(cut, place / "cut", "a range", large, small)
    yield _beside("sum beside two ranges, of all rows before", cut, plain, runs, 1.2)
    many = cut_readings(place / "many", rows)
    yield _beside(f"sum of other rows beside {MANY:,} ranges", many, plain, runs, 1.05, OTHERS)
    yield _beside(f"sum of the rows around {MANY:,} ranges", many, plain, runs, 1.3, INSIDE)


def _ranges_of_items(place: Path, items: pa.Table, runs: int) -> Iterator[Figure]:
    plain, cut = (_made_items(place / name, items) for name in ("items", "cut_items"))
    keys = pc.max(items[ORDER]).as_py()
    begin = keys * 6 // 10
    large, small = (
        f"{ORDER} < {keys * 3 // 10}",
        f"{ORDER} BETWEEN {begin} AND {begin + keys // 1000}",
    )
    yield from _deletions(cut, place / "cut_items", "orders of lineitem", large, small)
    what = "sum of lineitem beside both, of all rows before"
    yield _beside(what, cut, plain, runs, 1.2, value=QUANTITY)


def _deletions(
    table: colonnade.ArrowTable, folder: Path, of: str, large: str, small: str
) -> Iterator[Figure]:
    os.sync()
    for what, where in ((f"{of}, 30 %", large), (f"{of}, 0.1 % inside RowSets", small)):
        before = _bytes(folder / "_manifest")
        taken = seconds(partial(table.delete_range, where))
        bytes_ = _bytes(folder / "_manifest") - before
        yield Figure(f"delete of {what}", "ms", taken * 1000, target=20.0)
        yield Figure(f"delete of {what}: bytes", "B", bytes_, target=1_000.0)


def _expiry(place: Path, rows: int, runs: int) -> Iterator[Figure]:
    plain = made_readings(place / "kept", rows, by_time=True)
    young, half = (
        made_readings(place / name, rows, by_time=True, lifetime=days)
        for name, days in (("young", 10 * DAYS), ("half", DAYS // 2))
    )
    yield _beside("sum where nothing has expired, by no lifetime", young, plain, runs, 1.03)
    yield _beside("sum where half has expired, by no lifetime", half, plain, runs, 0.6)
    yield from _purge(half, place)


def _purge(table: colonnade.ArrowTable, place: Path) -> Iterator[Figure]:
    """Purge a table while the files of its expired RowSets are away, so that none can be read."""
    whole, away = place / "half", place / "away"
    folder = whole / table._state.prefix
    begun = datetime.now(timezone.utc) - timedelta(milliseconds=GRACE_MS)
    live = {each.rowset.entry.object for each in table.scan(seen_at=begun)._plan.rowsets}
    expired = [each for each in folder.iterdir() if each.stem not in live]
    assert expired, "some RowSets have expired"
    away.mkdir()
    for each in expired:
        each.rename(away / each.name)
    before = _bytes(whole)
    taken = seconds(lambda: table.optimize().executeCompaction())
    purges = [each for each in table.history() if each.operation == "expire"]
    # A RowSet may have expired since these were moved.
    assert sum(each.rowsets_dropped for each in purges) >= len(expired)
    assert _sum(table, None, "value", None)(), "the other RowSets are in their place"
    written = (_bytes(whole) - before) / 1e6
    yield Figure("purge of the expired half, whose RowSets it does not read", "s", taken)
    yield Figure("purge of the expired half: bytes written", "MB", written)


def _expiry_of_items(place: Path, items: pa.Table, runs: int) -> Iterator[Figure]:
    plain = _made_items(place / "kept_items", items)
    aged = _made_items(place / "aged_items", items, {"ttl": "1 day"})
    what = "sum of lineitem where nothing has expired, by no lifetime"
    yield _beside(what, aged, plain, runs, 1.03, value=QUANTITY)
    # The first half of the orders was written before the first of these two epochs.
    half = aged.history(2)[-1].timestamp + timedelta(days=1)
    what = "sum of lineitem where half has expired, by no lifetime"
    yield _beside(what, aged, plain, runs, 0.6, value=QUANTITY, seen_at=half)
    middle = pc.quantile(items[SHIPPED].cast("int32"))[0].as_py()
    days = (date.today() - date(1970, 1, 1)).days - int(middle)
    mixed = _made_items(place / "mixed", items, {"ttl": f"{days} days", "ttl.column": SHIPPED})
    what = "sum of lineitem where half of each block has expired, by no lifetime"
    yield _beside(what, mixed, plain, runs, None, value=QUANTITY)


def _beside(
    what: str,
    ours: colonnade.ArrowTable,
    theirs: colonnade.ArrowTable,
    runs: int,
    most: float | None,
    where: str | None = None,
    value: str = "value",
    seen_at: datetime | None = None,
) -> Figure:
    a, b, ratio = interleave(
        _sum(ours, where, value, seen_at), _sum(theirs, where, value, seen_at), runs
    )
    return Figure(what, "s", a, b, ratio, most)


def _sum(
    table: colonnade.ArrowTable, where: str | None, value: str, seen_at: datetime | None
) -> Callable[[], object]:
    def work() -> object:
        return pc.sum(table.scan([value], where=where, seen_at=seen_at).to_arrow()[value])

    return work


def _made_items(
    path: Path, items: pa.Table, properties: dict[str, str] | None = None
) -> colonnade.ArrowTable:
    """Lineitem sorted by order. Each of two writes has added one half of it."""
    table = colonnade.create(path, items.schema, sort_key=[ORDER], properties=properties)
    half = len(items) // 2
    for part in (items[:half], items[half:]):
        table.append(part)
    return table


def cut_readings(path: Path, rows: int) -> colonnade.ArrowTable:
    """A table of readings without many seconds of its first devices, which were deleted unread."""
    cut = made_readings(path, rows, by_time=False)
    for part in range(MANY):
        device = part % (DEVICES // 10)
        first = (part // (DEVICES // 10)) * 3_600_000_000
        begin, end = time_literal(first), time_literal(first + 1_000_000)
        cut.delete_range(f"device = {device} AND at >= {begin} AND at < {end}")
    return cut


def made_readings(
    path: Path, rows: int, *, by_time: bool, lifetime: int | None = None
) -> colonnade.ArrowTable:
    """A table of readings of the last 100 days, sorted by device and time, or by time."""
    properties = {} if lifetime is None else {"ttl": f"{lifetime} days", "ttl.column": "at"}
    table = colonnade.create(
        path, SCHEMA, sort_key=["at"] if by_time else ["device", "at"], properties=properties
    )
    now = int(np.datetime64("now", "us").astype(np.int64))
    start = now - DAYS * DAY_US if by_time else 0
    step = DAYS * DAY_US // rows if by_time else 1_000_000

    def parts(begin: int, end: int) -> Iterator[pa.RecordBatch]:
        for first in range(begin, end, PART):
            numbers = np.arange(first, min(first + PART, end))
            devices = numbers % DEVICES if by_time else numbers * DEVICES // rows
            times = numbers if by_time else numbers % max(1, rows // DEVICES)
            yield pa.record_batch(
                [
                    pa.array(devices.astype(np.int32)),
                    pa.array(start + times * step).cast(SCHEMA.field("at").type),
                    pa.array(numbers * 0.5),
                ],
                schema=SCHEMA,
            )

    # A time to live of half the time ends inside the RowSets of the second write.
    cut = int(rows * 0.4) if by_time else rows
    for begin, end in ((0, cut), (cut, rows)):
        table.append(pa.RecordBatchReader.from_batches(SCHEMA, parts(begin, end)))
    return table


def time_literal(us: int) -> str:
    return f"TIMESTAMP '{np.datetime64(us, 'us')}Z'"


def _bytes(table: Path) -> int:
    return sum(each.stat().st_size for each in table.rglob("*") if each.is_file())
