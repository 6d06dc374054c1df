"""Upserts of random keys, half of them new, into a small and a large table, without Spark."""

from __future__ import annotations

import gc
import multiprocessing
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

import colonnade
from benchmarks.measure import Figure

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
    """Measure each batch in both tables, in turn; `theirs` is the time in the small one.

    All batches are upserted by this process, except in the rows that say that each one is the first
    of a process. Rows of processor time also tell something on a machine that has other work.
    """
    place = folder / "keys"
    shutil.rmtree(place, ignore_errors=True)
    random = np.random.default_rng(1)
    rows = [int(size * scale) for size in SIZES]
    tables = [made(place / str(count), count, random) for count in rows]
    figures = []
    for mode in ("replace", "add"):
        for count in BATCHES:
            size, is_judged = max(2, int(count * scale)), (mode, count) == ("replace", 10_000)
            what = f"upsert of {size:,} keys into {rows[1]:,} rows, {mode}"
            target = MOST_RATIO if is_judged else None
            figures += _both(what, tables, rows, random, size, runs, target)
            if is_judged:
                opened = f"{what}, first of a process"
                figures += _both(
                    opened, [place / str(each) for each in rows], rows, random, size, runs
                )
        for table in tables:
            table.alter(colonnade.AlterProperties({"merge.count": "add"}))
    return figures


def _both(
    what: str,
    tables: Sequence[colonnade.ArrowTable | Path],
    rows: Sequence[int],
    random: np.random.Generator,
    size: int,
    runs: int,
    target: float | None = None,
) -> list[Figure]:
    """Upsert into a small and a large table in turn; into paths each time by a new process."""
    times: list[list[tuple[float, float]]] = [[], []]
    for _ in range(1 + runs):
        for place, (table, held) in enumerate(zip(tables, rows, strict=True)):
            given = batch_of(random, held, size)
            if isinstance(table, Path):
                with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as other:
                    times[place].append(other.submit(_first, table, given).result())
            else:
                times[place].append(_spent(partial(table.upsert, given)))
    found = []
    for at, unit in enumerate(("", ", processor time")):
        before, after = (statistics.median(each[at] for each in table[1:]) for table in times)
        found.append(Figure(f"{what}{unit}", "s", after, before, after / before, target))
    return found


def _first(path: Path, given: pa.RecordBatch) -> tuple[float, float]:
    """Do as `_spent` does for an upsert by a process that has loaded all code, and read no keys."""
    with TemporaryDirectory() as folder:
        other = made(Path(folder) / "small", 1_000, np.random.default_rng(1))
        other.upsert(given.slice(0, 1_000))
    return _spent(partial(colonnade.open(path).upsert, given))


def _spent(work: Callable[[], object]) -> tuple[float, float]:
    """Return the wall time and the processor time of one call, after collecting garbage."""
    gc.collect()
    begun, worked = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begun, time.process_time() - worked


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
    """Return rows with random keys. A table of `made` has about half of these keys."""
    return rows_of(np.unique(random.integers(0, 2 * rows, count)))


def maintain(path: Path | str) -> None:
    """Run a round of maintenance, as a scheduler does."""
    subprocess.run([*MAINTAIN, path], check=True, stdout=subprocess.DEVNULL)


def rows_of(ids: np.ndarray) -> pa.RecordBatch:  # type: ignore[type-arg]
    """Return rows with these keys."""
    texts = pa.array(ids % 5_000).cast(pa.string())
    arrays = [pa.array(ids), pa.array(ids % 1_000), pa.array(ids * 0.5), texts]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)
