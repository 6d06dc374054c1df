"""A thousand appends of ten rows without Spark, each durable and each one epoch."""

from __future__ import annotations

import shutil
import statistics
from pathlib import Path

import pyarrow as pa

import colonnade
from benchmarks.measure import Figure, seconds

APPENDS = 1000


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Median of all, and the last hundred (checkpoints included) against the first."""
    del scale, runs
    path = folder / "appends"
    shutil.rmtree(path, ignore_errors=True)
    schema = pa.schema([("id", pa.int64()), ("name", pa.string()), ("amount", pa.float64())])
    table = colonnade.create(path, schema)
    times = []
    for start in range(0, 10 * APPENDS, 10):
        ids = range(start, start + 10)
        rows = pa.table({"id": ids, "name": [f"n{i}" for i in ids], "amount": [i / 3 for i in ids]})
        times.append(seconds(lambda rows=rows: table.append(rows)) * 1e3)
    data_files = [p for p in path.rglob("*") if p.is_file() and "_manifest" not in p.parts]
    epochs = [p for p in (path / "_manifest").iterdir() if p.stem.isdigit()]
    first, last = statistics.fmean(times[:100]), statistics.fmean(times[-100:])
    per_append = (len(data_files) + len(epochs) - 2) / APPENDS
    bytes_each = sum(p.stat().st_size for p in epochs) / len(epochs)
    return [
        Figure("append of 10 rows x 3 columns, fsync, median", "ms", statistics.median(times),
               target=2),
        Figure("files of one append", "files", per_append, target=1),
        Figure("bytes of one append", "bytes", bytes_each),
        Figure("last 100 of 1,000 appends against the first 100 (mean)", "ms", last, first,
               last / first, 1.2),
    ]  # fmt: skip
