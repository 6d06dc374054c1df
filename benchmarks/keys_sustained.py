"""Upserts of random keys for minutes, one after another, beside rounds of maintenance."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import numpy as np

from benchmarks import keys
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
    with subprocess.Popen(
        [*keys.MAINTAIN, place, "--every", EVERY], stdout=subprocess.DEVNULL
    ) as beside:
        begun = time.perf_counter()
        while not ends or ends[-1] < 60 * minutes:
            given = keys.batch_of(random, rows, size)
            table.upsert(given)
            there[given["id"].to_numpy()] = True
            ends.append(time.perf_counter() - begun)
        assert beside.poll() is None, "The rounds of maintenance have ended."
        beside.terminate()
    ids = table.scan(["id"]).to_arrow()["id"].to_numpy()
    assert np.array_equal(np.sort(ids), np.flatnonzero(there)), "Keys are missing, or there twice."
    quarters = np.histogram(ends, 4, (0, 60 * minutes))[0]
    first, last = (15 * minutes / max(1, count) for count in quarters[[0, 3]].tolist())
    what = (
        f"upsert of {size:,} keys into {rows:,} rows for {minutes:g} minutes, {len(ends):,} times"
    )
    return [
        Figure(
            f"{what}: last quarter, beside the first", "s", last, first, last / first, MOST_RATIO
        ),
        *(
            Figure(f"the same: batches a second in quarter {at + 1}", "", count / minutes / 15)
            for at, count in enumerate(quarters.tolist())
        ),
        Figure("the same: longest batch", "s", float(np.diff(ends, prepend=0).max())),
    ]
