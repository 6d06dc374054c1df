"""Upserts into tables of many small RowSets: what each RowSet costs, without Spark."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import colonnade
from benchmarks.measure import Figure

PARTITIONS, FEW = 20_000, 200
MOST_FOR_EACH = 3.0
"""The most that a partition may cost among many, by what it costs among few."""

UPSERTS, KEYS = 400, 10
MOST_GROWTH = 2.0
"""The most that an upsert may take after many, by one after few, with `compaction.auto`."""


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Write and upsert one row for each partition; then upsert few random keys again and again.

    Times are those of the processor. `runs` has no meaning here.
    """
    figures = []
    few, many = _partitions(folder, FEW), _partitions(folder, max(FEW, int(PARTITIONS * scale)))
    for what, ours in many.items():
        name = f"{what} of {max(FEW, int(PARTITIONS * scale)):,} partitions, each, beside {FEW}"
        ratio = ours / few[what]
        figures.append(Figure(name, "ms", ours * 1e3, few[what] * 1e3, ratio, MOST_FOR_EACH))
    count = max(60, int(UPSERTS * scale))
    for kind, made in (("whole numbers", np.array), ("texts", _texts)):
        for compacted in (False, True):
            first, last = _upserts(folder, count, made, compacted=compacted)
            beside = " with compaction.auto" if compacted else ""
            name = f"upsert of {KEYS} {kind} after {count:,} others{beside}, beside the first ones"
            target = MOST_GROWTH if compacted else None
            figures.append(Figure(name, "ms", last * 1e3, first * 1e3, last / first, target))
    return figures


def _partitions(folder: Path, count: int) -> dict[str, float]:
    """Return the seconds for each of some partitions, by statement."""
    place = folder / "keys_rowsets"
    shutil.rmtree(place, ignore_errors=True)
    numbers = np.arange(count)
    rows = pa.table({"p": numbers, "k": numbers, "v": numbers})
    keys = ["p", "k"]
    table = colonnade.create(place, rows.schema, primary_key=keys, partition_by=["p"])
    return {
        what: _worked(lambda write=write: write(rows)) / count  # type: ignore[misc]
        for what, write in (("append", table.append), ("upsert", table.upsert))
    }


def _upserts(
    folder: Path, count: int, made: Callable[[NDArray[np.int64]], object], *, compacted: bool
) -> tuple[float, float]:
    """Return the median seconds of the first and the last of some upserts of random keys."""
    place = folder / "keys_rowsets"
    shutil.rmtree(place, ignore_errors=True)
    random = np.random.default_rng(1)

    def rows() -> pa.Table:
        numbers = random.integers(0, 2**40, KEYS)
        return pa.table({"k": made(numbers), "v": numbers})

    properties = {"compaction.auto": "true"} if compacted else {}
    table = colonnade.create(place, rows().schema, primary_key=["k"], properties=properties)
    taken = []
    for _ in range(count):
        given = rows()
        taken.append(_worked(lambda given=given: table.upsert(given)))  # type: ignore[misc]
    return float(np.median(taken[5:25])), float(np.median(taken[-20:]))


def _texts(numbers: NDArray[np.int64]) -> pa.Array:
    return pa.array([f"key {number:013}" for number in numbers])


def _worked(act: Callable[[], object]) -> float:
    before = time.process_time()
    act()
    return time.process_time() - before
