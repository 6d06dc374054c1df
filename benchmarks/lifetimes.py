"""Ranges deleted unread, and rows that expire, without Spark: 50 million narrow rows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import colonnade
from benchmarks.measure import Figure, interleave, seconds

ROWS, DEVICES, PART = 50_000_000, 1_000, 1_000_000
DAY_US, DAYS = 86_400_000_000, 100
SCHEMA = pa.schema(
    [
        pa.field("device", pa.int32(), nullable=False),
        pa.field("at", pa.timestamp("us", "UTC"), nullable=False),
        ("value", pa.float64()),
    ]
)
MANY = 1_000
OTHERS = f"device >= {DEVICES // 2}"
INSIDE = f"device < {DEVICES // 10}"
"""The devices beside the many ranges, and those that have them."""


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure deletions, scans beside them, scans with a lifetime, and a purge."""
    place = folder / "lifetimes"
    shutil.rmtree(place, ignore_errors=True)
    rows = max(100_000, int(ROWS * scale))
    return [*_ranges(place, rows, runs), *_expiry(place, rows, runs)]


def _ranges(place: Path, rows: int, runs: int) -> Iterator[Figure]:
    plain, cut = (made_readings(place / name, rows, by_time=False) for name in ("plain", "cut"))
    third = int(DEVICES * 0.3)
    # The first condition of a process loads the parser of SQL.
    cut.delete_range(f"device = {DEVICES - 1} AND at < {time_literal(1)}")
    os.sync()
    for what, where in (
        ("30 %", f"device < {third}"),
        ("0.1 %, inside RowSets", f"device = {DEVICES // 2}"),
    ):
        before = _bytes(place / "cut" / "_manifest")
        taken = seconds(partial(cut.delete_range, where))
        bytes_ = _bytes(place / "cut" / "_manifest") - before
        yield Figure(f"delete of a range of {what}", "ms", taken * 1000, target=20.0)
        yield Figure(f"delete of a range of {what}: bytes", "B", bytes_, target=1_000.0)
    yield _beside("sum beside two ranges, of all rows before", cut, plain, runs, 1.2)
    many = cut_readings(place / "many", rows)
    yield _beside(f"sum of other rows beside {MANY:,} ranges", many, plain, runs, 1.03, OTHERS)
    yield _beside(f"sum of the rows around {MANY:,} ranges", many, plain, runs, 1.2, INSIDE)


def _expiry(place: Path, rows: int, runs: int) -> Iterator[Figure]:
    plain = made_readings(place / "kept", rows, by_time=True)
    young, half = (
        made_readings(place / name, rows, by_time=True, lifetime=days)
        for name, days in (("young", 10 * DAYS), ("half", DAYS // 2))
    )
    yield _beside("sum where nothing has expired, by no lifetime", young, plain, runs, 1.03)
    yield _beside("sum where half has expired, by no lifetime", half, plain, runs, 0.6)
    stored = _bytes(place / "half")
    taken = seconds(lambda: half.optimize().executeCompaction())
    yield Figure("purge of the expired half", "s", taken)
    written = (_bytes(place / "half") - stored) / 1e6
    yield Figure("purge of the expired half: bytes written", "MB", written)


def _beside(
    what: str,
    ours: colonnade.ArrowTable,
    theirs: colonnade.ArrowTable,
    runs: int,
    most: float,
    where: str | None = None,
) -> Figure:
    a, b, ratio = interleave(_sum(ours, where), _sum(theirs, where), runs)
    return Figure(what, "s", a, b, ratio, most)


def _sum(table: colonnade.ArrowTable, where: str | None) -> Callable[[], object]:
    def work() -> object:
        return pc.sum(table.scan(["value"], where=where).to_arrow()["value"])

    return work


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

    def parts() -> Iterator[pa.RecordBatch]:
        for first in range(0, rows, PART):
            numbers = np.arange(first, min(first + PART, rows))
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

    table.append(pa.RecordBatchReader.from_batches(SCHEMA, parts()))
    return table


def time_literal(us: int) -> str:
    return f"TIMESTAMP '{np.datetime64(us, 'us')}Z'"


def _bytes(table: Path) -> int:
    return sum(each.stat().st_size for each in table.rglob("*") if each.is_file())
