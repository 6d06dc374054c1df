"""Upserts of random keys, half of them new, into a small and a large table, without Spark."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

import colonnade
from benchmarks.measure import Figure, seconds

SIZES = (2_000_000, 20_000_000)
BATCHES = (1_000, 10_000, 100_000)
PART = 65_536
MOST_RATIO = 2.0
"""The most that an upsert of 10,000 keys may cost in the large table, by the small one."""

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        ("count", pa.int64()),
        ("price", pa.float64()),
        ("text", pa.string()),
    ]
)


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure each batch in both tables; `theirs` is the time in the small one."""
    place = folder / "keys"
    shutil.rmtree(place, ignore_errors=True)
    random = np.random.default_rng(1)
    rows = [int(size * scale) for size in SIZES]
    small, large = (_made(place / str(count), count, random) for count in rows)
    figures = []
    for mode in ("replace", "add"):
        for count in BATCHES:
            size = max(2, int(count * scale))
            tables = zip((small, large), rows, strict=True)
            times = [_times(table, random, held, size, runs) for table, held in tables]
            before, after = map(statistics.median, times)
            what = f"upsert of {size:,} keys into {rows[1]:,} rows, {mode}"
            target = MOST_RATIO if (mode, count) == ("replace", 10_000) else None
            figures.append(Figure(what, "s", after, before, after / before, target))
        for table in (small, large):
            table.alter(colonnade.AlterProperties({"merge.count": "add"}))
    return figures


def _times(
    table: colonnade.ArrowTable, random: np.random.Generator, rows: int, count: int, runs: int
) -> list[float]:
    batches = [_batch(random, rows, count) for _ in range(runs)]
    return [seconds(partial(table.upsert, each)) for each in batches]


def _made(path: Path, rows: int, random: np.random.Generator) -> colonnade.ArrowTable:
    """A table whose keys are even numbers."""
    table = colonnade.create(path, SCHEMA, primary_key=["id"])

    def parts() -> Iterator[pa.RecordBatch]:
        ids = random.permutation(rows) * 2
        for start in range(0, rows, PART):
            yield _rows(ids[start : start + PART])

    table.append(pa.RecordBatchReader.from_batches(SCHEMA, parts()))
    return table


def _batch(random: np.random.Generator, rows: int, count: int) -> pa.RecordBatch:
    """Rows with random keys, about half of which the table has."""
    return _rows(np.unique(random.integers(0, 2 * rows, count)))


def _rows(ids: np.ndarray) -> pa.RecordBatch:  # type: ignore[type-arg]
    texts = pa.array(ids % 5_000).cast(pa.string())
    arrays = [pa.array(ids), pa.array(ids % 1_000), pa.array(ids * 0.5), texts]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)
