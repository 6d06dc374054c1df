"""A thousand appends of ten rows without Spark, each durable and each one epoch."""

from __future__ import annotations

import os
import shutil
import statistics
import time
from pathlib import Path

import pyarrow as pa

import colonnade
from benchmarks.measure import Figure

APPENDS = 1000


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Median of all, and the last hundred (checkpoints included) against the first.

    Beside each append the same number of bytes is made durable by the bare system calls, which
    is what the disk takes of the time.
    """
    del scale, runs
    path, bare = folder / "appends", folder / "bare"
    for each in (path, bare):
        shutil.rmtree(each, ignore_errors=True)
    bare.mkdir()
    schema = pa.schema([("id", pa.int64()), ("name", pa.string()), ("amount", pa.float64())])
    table = colonnade.create(path, schema)
    times, floor = [], []
    for start in range(0, 10 * APPENDS, 10):
        ids = range(start, start + 10)
        rows = pa.table({"id": ids, "name": [f"n{i}" for i in ids], "amount": [i / 3 for i in ids]})
        begin = time.perf_counter()
        table.append(rows)
        middle = time.perf_counter()
        put_durably(bare / str(start), b"x" * 3000)
        floor.append((time.perf_counter() - middle) * 1e3)
        times.append((middle - begin) * 1e3)
    epochs = [p for p in (path / "_manifest").iterdir() if p.stem.isdigit()]
    data_files = [p for p in path.rglob("*") if p.is_file() and "_manifest" not in p.parts]
    median, disk = statistics.median(times), statistics.median(floor)
    first, last = statistics.fmean(times[:100]), statistics.fmean(times[-100:])
    without_disk = first - statistics.fmean(floor[:100]), last - statistics.fmean(floor[-100:])
    return [
        Figure("append of 10 rows x 3 columns, fsync, median; beside bare system calls", "ms",
               median, disk, median / disk, target=2, judged_by_ratio=False),
        Figure("files of one append", "files", (len(data_files) + len(epochs) - 2) / APPENDS,
               target=1),
        Figure("bytes of one append", "bytes", sum(p.stat().st_size for p in epochs) / len(epochs)),
        Figure("last 100 of 1,000 appends against the first 100, mean", "ms", last, first,
               last / first, target=1.2),
        Figure("the same without what the bare system calls took", "ms", without_disk[1],
               without_disk[0], without_disk[1] / without_disk[0]),
    ]  # fmt: skip


def put_durably(path: Path, data: bytes) -> None:
    """Temporary file, fsync, link, unlink, fsync of the directory: what a commit cannot avoid."""
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
