"""Processes and threads that append ten rows at a time to one table; each append is durable.

The processes call `gc.freeze()` after their imports, as docs/production.md recommends for frequent
writers. Eight processes that do not are another row.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import statistics
import time
from collections.abc import Callable, Sequence
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

    `lost` counts the slots that they lost to each other. `cpu_s` is the processor time of all their
    appends, in seconds.
    """

    times: Sequence[Sequence[float]]
    lost: int
    cpu_s: float

    @property
    def cpu_ms(self) -> float:
        """The processor time of an append, in milliseconds."""
        return 1e3 * self.cpu_s / max(1, sum(map(len, self.times)))

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
    """Run rounds of one process, eight processes and eight threads in turn; take the medians.

    Eight processes with a table each show what the machine gives to processes that share nothing.
    """
    del scale
    alone, together, plain, apart, threads = [], [], [], [], []
    path = folder / "commit-rate"
    for _ in range(runs):
        alone.append(_round([path]))
        together.append(_round([path] * PROCESSES))
        plain.append(_round([path] * PROCESSES, freeze=False))
        apart.append(_round([folder / f"commit-rate-{i}" for i in range(PROCESSES)]))
        threads.append(_round([path], THREADS))
    figures = [_beside(together, alone, "time of a commit", lambda r: 1e3 / r.rate, target=1.667)]
    figures += [_beside(together, alone, "commits a second", lambda r: r.rate, unit="/s")]
    for rounds, which, target in ((together, "", 20), (plain, " without gc.freeze()", None)):
        ratio = _median(rounds, lambda r: r.slowest / r.median)
        name = f"99th percentile of an append, {PROCESSES} processes{which}, beside the median"
        slowest = _median(rounds, lambda r: 1e3 * r.slowest)
        median = _median(rounds, lambda r: 1e3 * r.median)
        figures.append(Figure(name, "ms", slowest, median, ratio, target=target))
    many = f"{PROCESSES} processes"
    return [
        *figures,
        Figure("commits of the process with most for each of the one with least", "",
               _median(together, lambda r: r.unfairness), target=2),
        Figure(f"slots that a commit loses to others, {many}", "",
               _median(together, lambda r: r.lost_slots)),
        _beside(together, alone, "processor time of a commit", lambda r: r.cpu_ms),
        _beside(plain, alone, "processor time of a commit", lambda r: r.cpu_ms,
                f"{many} without gc.freeze() beside one"),
        _beside(apart, alone, "processor time of a commit", lambda r: r.cpu_ms,
                f"{many} with a table each beside one"),
        _beside(apart, alone, "commits a second", lambda r: r.rate,
                f"{many} with a table each beside one", unit="/s"),
        _beside(threads, alone, "commits a second", lambda r: r.rate,
                f"{THREADS} threads of a process beside one", unit="/s"),
    ]  # fmt: skip


def _median(rounds: Sequence[Round], value: Callable[[Round], float]) -> float:
    return statistics.median(map(value, rounds))


def _beside(
    rounds: Sequence[Round],
    alone: Sequence[Round],
    what: str,
    value: Callable[[Round], float],
    which: str = f"{PROCESSES} processes together beside one",
    *,
    unit: str = "ms",
    target: float | None = None,
) -> Figure:
    """Return the figure that compares rounds with those of one process, pair by pair."""
    ratio = statistics.median(value(a) / value(b) for a, b in zip(rounds, alone, strict=True))
    return Figure(
        f"{what}: {which}", unit, _median(rounds, value), _median(alone, value), ratio,
        target=target,
    )  # fmt: skip


def _round(paths: Sequence[Path], threads: int = 1, *, freeze: bool = True) -> Round:
    """Run a process for each of `paths`; equal paths are one table."""
    for path in {*paths}:
        shutil.rmtree(path, ignore_errors=True)
        colonnade.create(path, ROWS.schema)
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(len(paths)), context.SimpleQueue()
    workers = [
        context.Process(target=_append, args=(path, threads, freeze, barrier, results))
        for path in paths
    ]
    for worker in workers:
        worker.start()
    found: list[_Result] = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    return Round(
        [times for each in found for times in each.times],
        sum(each.lost for each in found),
        sum(each.cpu_s for each in found),
    )


@dataclass(frozen=True)
class _Result:
    """The result of one process: the same as of a round."""

    times: Sequence[Sequence[float]]
    lost: int
    cpu_s: float


def _append(
    path: Path, threads: int, freeze: bool, barrier: Barrier, results: SimpleQueue[_Result]
) -> None:
    """Append for some seconds with each thread; runs in a separate process."""
    _append_elsewhere(path)
    if freeze:
        gc.freeze()
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
