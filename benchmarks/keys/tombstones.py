"""Upserts and scans of a table that remembers deleted keys, beside one that remembers none."""

from __future__ import annotations

import shutil
import statistics
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

import colonnade
from benchmarks.measure import Figure, seconds

ROWS = 1_000_000
DELETED = (0, 1_000, 100_000)
BATCH = 10_000
MOST_SCAN_RATIO = 1.1
"""The most that a scan may cost beside deleted keys, by a scan without them."""

SCHEMA = pa.schema(
    [pa.field("id", pa.int64(), nullable=False), ("at", pa.int64()), ("n", pa.int64())]
)


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure each table; `theirs` is the time of the one without deleted keys.

    The tables take turns, so that other work on the machine slows all of them alike.
    """
    place = folder / "tombstones"
    shutil.rmtree(place, ignore_errors=True)
    random = np.random.default_rng(1)
    rows, batch = int(ROWS * scale), max(2, int(BATCH * scale))
    deleted = [int(count * scale) for count in DELETED]
    tables = [_made(place / str(count), rows, count, random) for count in deleted]
    upserts: list[list[float]] = [[] for _ in tables]
    scans: list[list[float]] = [[] for _ in tables]
    for turn in range(runs):
        given = _rows(np.unique(random.integers(0, 2 * rows, batch)), at=turn + 2)
        for place_in_turn in range(len(tables)):
            index = (turn + place_in_turn) % len(tables)
            table = tables[index]
            upserts[index].append(seconds(partial(table.upsert, given)))
            scans[index].append(seconds(partial(_scan, table)))
    figures = []
    for count, ups, reads in zip(deleted[1:], upserts[1:], scans[1:], strict=True):
        for what, times, others, target in (
            (f"upsert of {batch:,} keys", ups, upserts[0], None),
            ("scan", reads, scans[0], MOST_SCAN_RATIO),
        ):
            mine, theirs = statistics.median(times), statistics.median(others)
            name = f"{what} beside {count:,} deleted keys, {rows:,} rows"
            figures.append(Figure(name, "s", mine, theirs, mine / theirs, target))
    return figures


def _made(path: Path, rows: int, deleted: int, random: np.random.Generator) -> colonnade.ArrowTable:
    """A table whose keys are even numbers, with random deleted keys that it did not have."""
    table = colonnade.create(path, SCHEMA, primary_key=["id"], properties={"sequence": "at"})
    table.append(_rows(random.permutation(rows) * 2, at=1))
    if deleted:
        keys = _rows(random.permutation(rows)[:deleted] * 2 + 1, at=1)
        table.delete_keys(keys.select(["id", "at"]))
    return table


def _scan(table: colonnade.ArrowTable) -> pa.Table:
    return table.scan().to_arrow()


def _rows(ids: np.ndarray, at: int) -> pa.RecordBatch:  # type: ignore[type-arg]
    arrays = [pa.array(ids), pa.array(np.full(len(ids), at)), pa.array(ids % 1_000)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)
