"""Processes that append ten rows at a time to one table; each append is a durable epoch."""

from __future__ import annotations

import multiprocessing
import shutil
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pyarrow as pa

import colonnade
from benchmarks.measure import Figure

PROCESSES = 8
SECONDS = 5
ROWS = pa.table(
    {
        "id": range(10),
        "name": [f"n{i}" for i in range(10)],
        "amount": [i / 3 for i in range(10)],
    }
)


@dataclass(frozen=True)
class Round:
    """The result of processes that append at the same time: seconds of each append, by process.

    `lost` counts the slots that they lost to each other.
    """

    times: Sequence[Sequence[float]]
    lost: int

    @property
    def rate(self) -> float:
        """The commits per second of all processes together."""
        return sum(map(len, self.times)) / SECONDS

    @property
    def lost_slots(self) -> float:
        """The lost slots for each commit; each costs an epoch written in vain, and a pause."""
        return self.lost / max(1, sum(map(len, self.times)))

    @property
    def median(self) -> float:
        """The median time of an append, in seconds."""
        return statistics.median([each for times in self.times for each in times])

    @property
    def slowest(self) -> float:
        """The 99th percentile, in seconds."""
        found = sorted(each for times in self.times for each in times)
        return found[len(found) * 99 // 100]

    @property
    def unfairness(self) -> float:
        """The most commits of one process, divided by the fewest commits of one process."""
        counts = [len(times) for times in self.times]
        return max(counts) / max(1, min(counts))


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Run rounds of one and of eight processes in turn, each on a new table; take the medians."""
    del scale
    alone, together = [], []
    for _ in range(runs):
        alone.append(_round(folder / "commit-rate", 1))
        together.append(_round(folder / "commit-rate", PROCESSES))
    one = statistics.median(each.rate for each in alone)
    many = statistics.median(each.rate for each in together)
    gain = statistics.median(b.rate / a.rate for a, b in zip(alone, together, strict=True))
    median = statistics.median(each.median for each in together) * 1e3
    slowest = statistics.median(each.slowest for each in together) * 1e3
    spread = statistics.median(each.slowest / each.median for each in together)
    unfair = statistics.median(each.unfairness for each in together)
    lost = statistics.median(each.lost_slots for each in together)
    return [
        Figure(f"time of a commit: {PROCESSES} processes together beside one", "ms", 1e3 / many,
               1e3 / one, 1 / gain, target=0.667),
        Figure(f"commits a second: {PROCESSES} processes together beside one", "/s", many, one,
               gain),
        Figure(f"99th percentile of an append, {PROCESSES} processes, beside the median", "ms",
               slowest, median, spread, target=20),
        Figure("commits of the process with most for each of the one with least", "", unfair,
               target=2),
        Figure(f"slots that a commit loses to others, {PROCESSES} processes", "", lost),
    ]  # fmt: skip


def _round(path: Path, processes: int) -> Round:
    shutil.rmtree(path, ignore_errors=True)
    colonnade.create(path, ROWS.schema)
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(processes), context.SimpleQueue()
    workers = [
        context.Process(target=_append, args=(path, barrier, results)) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    found = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    return Round([times for times, _ in found], sum(lost for _, lost in found))


def _append(path: Path, barrier: Barrier, results: SimpleQueue[tuple[list[float], int]]) -> None:
    """Append for some seconds; runs in a separate process."""
    table, times, lost = colonnade.open(path), list[float](), 0
    log = table._log

    def pause(seconds: float) -> None:
        """Count a pause; here a log pauses only after it has lost a slot."""
        nonlocal lost
        lost += 1
        time.sleep(seconds)

    log.pause = pause
    barrier.wait()
    end = time.perf_counter() + SECONDS
    while (begin := time.perf_counter()) < end:
        table.append(ROWS)
        times.append(time.perf_counter() - begin)
    results.put((times, lost))
