"""Eight processes that append ten rows at a time to one table in a bucket of a MinIO server.

The server's own PUT is measured beside it: as many processes put objects of an epoch's size, each
under a new name. Every round checks that the table has each acknowledged append once, and no other
one.
"""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pyarrow as pa

import colonnade
from benchmarks.measure import Figure
from colonnade.manifests.store import StoreAddress, open_store
from tests.setup.minio import Minio

PROCESSES = 8
SECONDS = 10
EPOCH_BYTES = 2_000
SCHEMA = pa.schema({"writer": pa.int64(), "number": pa.int64(), "amount": pa.float64()})
Role = Callable[[StoreAddress, int], Callable[[int], object]]
"""Makes, for a place and the number of a process, what that process repeats."""


@dataclass(frozen=True)
class Round:
    """The seconds of each call, by process."""

    times: Sequence[Sequence[float]]

    @property
    def every(self) -> list[float]:
        """The seconds of all calls, the shortest first."""
        return sorted(each for times in self.times for each in times)

    @property
    def rate(self) -> float:
        """The calls of all processes in a second."""
        return len(self.every) / SECONDS

    def percentile(self, part: int) -> float:
        """Return the time that `part` percent of the calls do not exceed, in milliseconds."""
        every = self.every
        return 1e3 * every[min(len(every) - 1, len(every) * part // 100)]


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Run rounds of PUTs, one writer and eight writers in turn; take the medians."""
    del scale
    puts, alone, together = [], [], []
    with tempfile.TemporaryDirectory(dir=folder) as data:
        server = Minio(Path(data))
        try:
            for _ in range(runs):
                puts.append(_round(_bucket(server), put, PROCESSES))
                alone.append(_appends(_bucket(server), 1))
                together.append(_appends(_bucket(server), PROCESSES))
        finally:
            server.stop()
    many, one, bare = (_rate(each) for each in (together, alone, puts))
    beside = {"one process": one, "PUTs": bare}
    ratio = statistics.median(a.rate / b.rate for a, b in zip(together, puts, strict=True))
    figures = [Figure(f"calls a second: appends of {PROCESSES} processes to one table", "/s", many,
                      bare, ratio, beside=beside)]  # fmt: skip
    for part in (50, 99):
        found = [[each.percentile(part) for each in rounds] for rounds in (together, alone, puts)]
        ours, single, theirs = (statistics.median(each) for each in found)
        ratio = statistics.median(a / b for a, b in zip(found[0], found[2], strict=True))
        beside = {"one process": single, "PUTs": theirs}
        name = "median" if part == 50 else f"{part}th percentile"
        figures.append(Figure(f"{name} of one of these calls", "ms", ours, theirs, ratio,
                              beside=beside))  # fmt: skip
    counts = [[len(times) for times in each.times] for each in together]
    unfair = statistics.median(max(each) / max(1, min(each)) for each in counts)
    return [*figures, Figure("appends of the process with most for each of that with least", "",
                             unfair, beside={"one process": 1.0})]  # fmt: skip


def put(place: StoreAddress, process: int) -> Callable[[int], object]:
    """Put objects of an epoch's size, as commits do, but each under a new name."""
    store, body = open_store(place), b"x" * EPOCH_BYTES
    store.require_writable()
    return lambda number: store.put_if_absent(f"puts/{process}-{number}", body)


def append(place: StoreAddress, process: int) -> Callable[[int], object]:
    """Append ten rows, which tell the process and the number of its append."""
    table = colonnade.open(place)

    def once(number: int) -> None:
        columns = [[process] * 10, [number] * 10, [float(row) for row in range(10)]]
        table.append(pa.table(columns, SCHEMA))

    # The first write of a process shows that the server keeps conditions. It has a number below 0.
    once(-1)
    return once


def _rate(rounds: Sequence[Round]) -> float:
    return statistics.median(each.rate for each in rounds)


def _bucket(server: Minio) -> StoreAddress:
    return StoreAddress.of(f"s3://{server.new_bucket()}/table", server.options())


def _appends(place: StoreAddress, processes: int) -> Round:
    colonnade.create(place, SCHEMA)
    done = _round(place, append, processes)
    rows = colonnade.open(place).scan(["writer", "number"]).to_arrow().to_pylist()
    found = sorted((row["writer"], row["number"]) for row in rows)
    wanted = sorted(
        (process, number)
        for process, times in enumerate(done.times)
        for number in range(-1, len(times))
        for _ in range(10)
    )
    if found != wanted:
        raise AssertionError(f"{place.url} has {len(found)} rows instead of {len(wanted)}")
    return done


def _round(place: StoreAddress, role: Role, processes: int) -> Round:
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(processes), context.SimpleQueue()
    workers = [
        context.Process(target=_work, args=(place, role, process, barrier, results))
        for process in range(processes)
    ]
    for worker in workers:
        worker.start()
    found = dict(results.get() for _ in workers)
    for worker in workers:
        worker.join()
    return Round([found[process] for process in range(processes)])


def _work(
    place: StoreAddress,
    role: Role,
    process: int,
    barrier: Barrier,
    results: SimpleQueue[tuple[int, list[float]]],
) -> None:
    """Repeat what a role does for some seconds; runs in a separate process."""
    once, times = role(place, process), list[float]()
    barrier.wait()
    end = time.perf_counter() + SECONDS
    while (begun := time.perf_counter()) < end:
        once(len(times))
        times.append(time.perf_counter() - begun)
    results.put((process, times))
