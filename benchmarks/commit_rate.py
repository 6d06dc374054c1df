"""Processes and threads that append ten rows at a time to one table; each append is durable."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pyarrow as pa

import colonnade
from benchmarks.measure import Figure

PROCESSES = 8
THREADS = 8
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
    """The result of writers that append at the same time: seconds of each append, by writer.

    `lost` counts the slots that they lost to each other, and `epochs` their epochs. `cpu_s` is the
    processor time of all their appends, in seconds.
    """

    times: Sequence[Sequence[float]]
    lost: int
    epochs: int
    cpu_s: float

    @property
    def cpu_ms(self) -> float:
        """The processor time of an append, in milliseconds."""
        return 1e3 * self.cpu_s / max(1, sum(map(len, self.times)))

    @property
    def shared(self) -> float:
        """The appends for each epoch."""
        return sum(map(len, self.times)) / max(1, self.epochs)

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
    """Run rounds of one writer, eight processes and eight threads in turn; take the medians.

    Eight processes with a table each show what the machine gives to processes that share nothing.
    """
    del scale
    alone, together, apart, threads = [], [], [], []
    path = folder / "commit-rate"
    for _ in range(runs):
        alone.append(_round([path]))
        together.append(_round([path] * PROCESSES))
        apart.append(_round([folder / f"commit-rate-{i}" for i in range(PROCESSES)]))
        threads.append(_round([path], THREADS))
    one = statistics.median(each.rate for each in alone)
    many = statistics.median(each.rate for each in together)
    gain = statistics.median(b.rate / a.rate for a, b in zip(alone, together, strict=True))
    median = statistics.median(each.median for each in together) * 1e3
    slowest = statistics.median(each.slowest for each in together) * 1e3
    spread = statistics.median(each.slowest / each.median for each in together)
    unfair = statistics.median(each.unfairness for each in together)
    lost = statistics.median(each.lost_slots for each in together)
    shared = statistics.median(each.shared for each in together)
    threaded = statistics.median(each.rate for each in threads)
    by_threads = statistics.median(b.rate / a.rate for a, b in zip(alone, threads, strict=True))
    in_threads = statistics.median(each.shared for each in threads)
    by_tables = statistics.median(b.rate / a.rate for a, b in zip(alone, apart, strict=True))
    separate = statistics.median(each.rate for each in apart)
    cpu_alone = statistics.median(each.cpu_ms for each in alone)
    cpu_together = statistics.median(each.cpu_ms for each in together)
    cpu_apart = statistics.median(each.cpu_ms for each in apart)
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
        Figure(f"commits for each epoch, {PROCESSES} processes", "", shared),
        Figure(f"processor time of a commit: {PROCESSES} processes together beside one", "ms",
               cpu_together, cpu_alone, cpu_together / cpu_alone),
        Figure(f"processor time of a commit: {PROCESSES} processes with a table each beside one",
               "ms", cpu_apart, cpu_alone, cpu_apart / cpu_alone),
        Figure(f"commits a second: {PROCESSES} processes with a table each beside one", "/s",
               separate, one, by_tables),
        Figure(f"commits a second: {THREADS} threads of a process beside one", "/s", threaded, one,
               by_threads),
        Figure(f"commits for each epoch, {THREADS} threads", "", in_threads),
    ]  # fmt: skip


def _round(paths: Sequence[Path], threads: int = 1) -> Round:
    """Run a process for each of `paths`; equal paths are one table."""
    first = 0
    for path in {*paths}:
        shutil.rmtree(path, ignore_errors=True)
        first += colonnade.create(path, ROWS.schema).epoch
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(len(paths)), context.SimpleQueue()
    workers = [
        context.Process(target=_append, args=(path, threads, barrier, results)) for path in paths
    ]
    for worker in workers:
        worker.start()
    found: list[_Result] = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    last = sum(colonnade.open(path).epoch for path in {*paths})
    return Round(
        [times for each in found for times in each.times],
        sum(each.lost for each in found),
        last - first,
        sum(each.cpu_s for each in found),
    )


@dataclass(frozen=True)
class _Result:
    """The result of one process: the same as of a round."""

    times: Sequence[Sequence[float]]
    lost: int
    cpu_s: float


def _append(path: Path, threads: int, barrier: Barrier, results: SimpleQueue[_Result]) -> None:
    """Append for some seconds with each thread; runs in a separate process."""
    _append_elsewhere(path)
    tables, lost = [colonnade.open(path) for _ in range(threads)], 0

    def pause(seconds: float) -> None:
        """Count a pause; here a log pauses only after it has lost a slot."""
        nonlocal lost
        lost += 1
        time.sleep(seconds)

    for table in tables:
        table._log.pause = pause
    barrier.wait()
    end, begun = time.perf_counter() + SECONDS, time.process_time()
    with ThreadPoolExecutor(threads) as pool:
        times = [*pool.map(lambda table: _append_until(table, end), tables)]
    results.put(_Result(times, lost, time.process_time() - begun))


def _append_elsewhere(path: Path) -> None:
    """Append once to a table of this process, because the first append of a process takes long."""
    own = path.with_name(f"{path.name}-of-{os.getpid()}")
    colonnade.create(own, ROWS.schema).append(ROWS)
    shutil.rmtree(own)


def _append_until(table: colonnade.ArrowTable, end: float) -> list[float]:
    """Append until a time. Returns the seconds of each append."""
    times = list[float]()
    while (begin := time.perf_counter()) < end:
        table.append(ROWS)
        times.append(time.perf_counter() - begin)
    return times
