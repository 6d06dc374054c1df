"""Upserts of random keys, half of them new, into a small and a large table, without Spark."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
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
MAINTAIN = (sys.executable, "-m", "colonnade", "maintain")
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
    small, large = (made(place / str(count), count, random) for count in rows)
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
    batches = [batch_of(random, rows, count) for _ in range(runs)]
    return [seconds(partial(table.upsert, each)) for each in batches]


def made(path: Path, rows: int, random: np.random.Generator) -> colonnade.ArrowTable:
    """Create a table whose keys are even numbers."""
    table = colonnade.create(path, SCHEMA, primary_key=["id"])
    table.append(shuffled(rows, random))
    return table


def shuffled(rows: int, random: np.random.Generator) -> pa.RecordBatchReader:
    """Return rows whose keys are the first even numbers, in a random order."""

    def parts() -> Iterator[pa.RecordBatch]:
        ids = random.permutation(rows) * 2
        for start in range(0, rows, PART):
            yield rows_of(ids[start : start + PART])

    return pa.RecordBatchReader.from_batches(SCHEMA, parts())


def batch_of(random: np.random.Generator, rows: int, count: int) -> pa.RecordBatch:
    """Return rows with random keys, about half of which a table made by `made` has."""
    return rows_of(np.unique(random.integers(0, 2 * rows, count)))


def maintain(path: Path | str) -> None:
    """Run a round of maintenance, as a scheduler does."""
    subprocess.run([*MAINTAIN, path], check=True, stdout=subprocess.DEVNULL)


def rows_of(ids: np.ndarray) -> pa.RecordBatch:  # type: ignore[type-arg]
    """Return rows with these keys."""
    texts = pa.array(ids % 5_000).cast(pa.string())
    arrays = [pa.array(ids), pa.array(ids % 1_000), pa.array(ids * 0.5), texts]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)
