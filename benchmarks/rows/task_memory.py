"""Measure the peak memory of one writing task, which streams wide rows into RowSets."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.measure import Figure
from colonnade.tableformat.location import locate
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows

COLUMNS = 100
ROWS = 5_000_000
BATCH_ROWS = 10_000
TARGET_MB = 300


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure the peak resident memory above what the process held before its first row.

    The task runs without and with a sort key; with one it also holds a run of 256 MB of decoded
    rows.
    """
    del scale, runs
    name = f"peak memory of a writing task, {COLUMNS} columns, {ROWS // 10**6} M rows, above idle"
    return [
        Figure(name, "MB", peak_above_idle(folder / "wide"), target=TARGET_MB),
        Figure(f"{name}, sorted", "MB", peak_above_idle(folder / "wide", "c0")),
    ]


def peak_above_idle(path: Path, *sort_key: str) -> float:
    """Run the task in a separate process and return its peak in MB."""
    shutil.rmtree(path, ignore_errors=True)
    command = [sys.executable, "-m", "benchmarks.rows.task_memory", str(path), *sort_key]
    peak = float(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))
    shutil.rmtree(path, ignore_errors=True)
    return peak


def _write(path: str, sort_key: list[str]) -> float:
    # This is the work of a Spark task: no commit, and no memory except that of the rows.
    schema = as_table_schema(_batch(0).schema)
    design = new_table("wide", schema, sort_key=sort_key)
    job = plan_write(locate(path), None, "append", create=design)
    idle = _peak_mb()
    entries = write_rows(job, (_batch(seed) for seed in range(ROWS // BATCH_ROWS)))
    assert sum(entry.rows for entry in entries) == ROWS
    return _peak_mb() - idle


def _batch(seed: int) -> pa.RecordBatch:
    random = np.random.default_rng(seed)
    kinds = (
        lambda: pa.array(random.integers(0, 2**40, BATCH_ROWS)),
        lambda: pa.array(random.random(BATCH_ROWS)),
        lambda: pa.array(random.integers(0, 1000, BATCH_ROWS).astype("int32")),
        lambda: pa.array(random.integers(0, 10**9, BATCH_ROWS)).cast(pa.string()),
    )
    arrays = [kinds[column % 4]() for column in range(COLUMNS)]
    return pa.record_batch(arrays, [f"c{column}" for column in range(COLUMNS)])


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    print(json.dumps(_write(sys.argv[1], sys.argv[2:])))
