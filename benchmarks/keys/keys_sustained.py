"""Upserts of random keys for minutes, one after another, beside rounds of maintenance."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.keys import keys
from benchmarks.measure import Figure

ROWS, BATCH = 20_000_000, 10_000
EVERY = "30s"
MOST_RATIO = 1.25
"""The most that a batch may take in the last quarter, by the first one: 0.8 of the batches."""


def run(folder: Path, scale: float, runs: int, minutes: float = 10) -> list[Figure]:
    """Upsert batches for some minutes, half of whose keys are new, and compare the quarters.

    `colonnade maintain --every 30s` runs in another process meanwhile. `runs` has no meaning here.
    At the end, the table must have each key once.
    """
    place = folder / "keys_sustained"
    shutil.rmtree(place, ignore_errors=True)
    rows, size = max(200, int(ROWS * scale)), max(20, int(BATCH * scale))
    random = np.random.default_rng(1)
    table = keys.made(place, rows, random)
    there = np.zeros(2 * rows, np.bool_)
    there[::2] = True
    ends: list[float] = []
    worked: list[float] = []
    beside = subprocess.Popen([*keys.MAINTAIN, place, "--every", EVERY], stdout=subprocess.DEVNULL)
    with beside:
        begun = time.perf_counter()
        while not ends or ends[-1] < 60 * minutes:
            given = keys.batch_of(random, rows, size)
            before = time.process_time()
            table.upsert(given)
            worked.append(time.process_time() - before)
            ends.append(time.perf_counter() - begun)
            there[given["id"].to_numpy()] = True
        assert beside.poll() is None, "The rounds of maintenance have ended."
        beside.terminate()
    ids = table.scan(["id"]).to_arrow()["id"].to_numpy()
    assert np.array_equal(np.sort(ids), np.flatnonzero(there)), "Keys are missing, or there twice."
    what = f"upsert of {size:,} keys into {rows:,} rows for {minutes:g} minutes"
    return [
        *_figures(what, np.array(ends), np.array(worked), 60 * minutes),
        Figure(f"{what}: longest batch", "s", float(np.diff(ends, prepend=0).max())),
        Figure(f"{what}: rows at the end", "rows", len(ids)),
    ]


def _figures(
    what: str, ends: NDArray[np.float64], worked: NDArray[np.float64], seconds: float
) -> Iterator[Figure]:
    """Compare a batch of the last quarter with one of the first, and show all quarters."""
    quarters = np.minimum(4 * ends // seconds, 3).astype(int)
    counts = np.maximum(1, np.bincount(quarters, minlength=4))
    times = seconds / 4 / counts
    means = np.bincount(quarters, worked, minlength=4) / counts
    for unit, (first, *_, last) in (("", times.tolist()), (", processor time", means.tolist())):
        name = f"{what}: a batch of the last quarter, beside the first{unit}"
        yield Figure(name, "s", last, first, last / first, MOST_RATIO)
    for at, count in enumerate(counts.tolist()):
        yield Figure(f"{what}: batches a second in quarter {at + 1}", "", 4 * count / seconds)
