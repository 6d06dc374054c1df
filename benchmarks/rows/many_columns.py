"""Append few rows of very many columns without Spark, beside Parquet-zstd; both are durable."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import colonnade
from benchmarks.measure import Figure, interleave

ROWS, COLUMNS = 1_000, 2_000


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Append to a new table in each run, and count the files of the last run."""
    del scale
    places = [folder / "many-colonnade", folder / "many.parquet"]
    shutil.rmtree(places[0], ignore_errors=True)
    random = np.random.default_rng(1)
    rows = pa.table({f"c{i}": random.random(ROWS) for i in range(COLUMNS)})
    tables = (colonnade.create(places[0] / str(i), rows.schema) for i in itertools.count())

    def write_parquet() -> None:
        with places[1].open("wb") as file:
            pq.write_table(rows, file, compression="zstd")
            os.fsync(file.fileno())

    times = interleave(lambda: next(tables).append(rows), write_parquet, runs)
    last = max(places[0].iterdir(), key=lambda each: int(each.name))
    data = [each for each in last.rglob("*") if each.is_file() and "_manifest" not in each.parts]
    return [
        Figure(f"append of {ROWS:,} rows x {COLUMNS:,} columns, fsync", "s", *times),
        Figure("files of it", "files", len(data), target=1),
    ]
