"""A thousand appends of ten rows without Spark, each durable and each one epoch."""

from __future__ import annotations

import os
import shutil
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa

import colonnade
from benchmarks.measure import Figure

APPENDS = 1000
LAST = 100
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("amount", pa.float64())])


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure a thousand appends: their median, and the last hundred against the first hundred.

    In each pass a table grows to 900 appends. Its next hundred appends, which include a checkpoint,
    and the first hundred of a new table then alternate, since a disk's speed drifts within seconds.
    Beside each append, bare system calls make the same number of bytes durable, which shows the
    disk's part of the time. Figures are medians over the passes. The processor time is that of the
    quickest tenth of the appends: on a busy machine the others wait for caches that others filled.
    """
    del scale
    passes = [_Pass(folder) for _ in range(runs)]
    last = passes[-1]
    medians, disks = [each.median for each in passes], [each.disk for each in passes]
    median, disk = statistics.median(medians), statistics.median(disks)
    growth = [each.last / each.first for each in passes]
    old, new = (statistics.median(getattr(p, side) for p in passes) for side in ("last", "first"))
    return [
        Figure("append of 10 rows x 3 columns, fsync, median; beside bare system calls", "ms",
               median, disk, median / disk, target=2),
        Figure("its processor time", "ms", statistics.median(each.processor for each in passes)),
        Figure("the same in the slowest pass", "ms", max(medians)),
        Figure("files of one append", "files", last.files, target=1),
        Figure("bytes of one append", "bytes", last.bytes),
        Figure("last 100 of 1,000 appends against the first 100, mean", "ms", old, new,
               statistics.median(growth), target=1.2),
        Figure("the same in the worst pass", "ratio", max(growth)),
    ]  # fmt: skip


class _Pass:
    """One table of a thousand appends. Times are in milliseconds; `last` and `first` are means."""

    def __init__(self, folder: Path) -> None:
        old, new, bare = (folder / name for name in ("appends", "appends-new", "bare"))
        for each in (old, new, bare):
            shutil.rmtree(each, ignore_errors=True)
        bare.mkdir()
        processor: list[float] = []
        growing = _appender(old, processor)
        times, floor = [], []
        for turn in range(APPENDS - LAST):
            times.append(growing(turn))
            floor.append(_timed(partial(put_durably, bare / str(turn), b"x" * 3000)))
        self.processor = statistics.quantiles(processor, n=10)[0]
        beginning = _appender(new, [])
        first, last = [], []
        for turn in range(LAST):
            # The order alternates, since each append may wait for writes that the other one left.
            if turn % 2:
                first.append(beginning(turn))
            last.append(growing(APPENDS - LAST + turn))
            if not turn % 2:
                first.append(beginning(turn))
        self.median = statistics.median([*times, *last])
        self.disk = statistics.median(floor)
        self.first, self.last = statistics.fmean(first), statistics.fmean(last)
        epochs = [p for p in (old / "_manifest").iterdir() if p.stem.isdigit()]
        data = [p for p in old.rglob("*") if p.is_file() and "_manifest" not in p.parts]
        self.files = (len(data) + len(epochs) - 2) / APPENDS
        self.bytes = sum(p.stat().st_size for p in epochs) / len(epochs)


def _appender(path: Path, processor: list[float]) -> Callable[[int], float]:
    """Make a table, and return a function that appends ten rows to it and returns its time.

    The function adds its processor time to `processor`. Both are in milliseconds.
    """
    table = colonnade.create(path, SCHEMA)

    def append(turn: int) -> float:
        ids = range(10 * turn, 10 * turn + 10)
        rows = pa.table({"id": ids, "name": [f"n{i}" for i in ids], "amount": [i / 3 for i in ids]})
        began = time.thread_time()
        taken = _timed(lambda: table.append(rows))
        processor.append((time.thread_time() - began) * 1e3)
        return taken

    return append


def _timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1e3


def put_durably(path: Path, data: bytes) -> None:
    """Write a file by the system calls of a commit: fsync, link, unlink, fsync of the directory."""
    temporary = path.with_suffix(".tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    os.write(handle, data)
    os.fsync(handle)
    os.close(handle)
    os.link(temporary, path)
    temporary.unlink()
    directory = os.open(path.parent, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
