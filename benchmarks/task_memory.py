"""Peak memory of one writing task: a process that streams wide rows into RowSets."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Figure

COLUMNS = 100
ROWS = 5_000_000
TARGET_MB = 300

TASK = """
import json, resource, sys
import numpy as np, pyarrow as pa
import colonnade
from colonnade import ArrowTable
from tableformat.location import locate
from tableformat.arrow_types import as_table_schema
from tableformat.write_job import new_table, plan_write, write_rows

path, columns, rows, batch_rows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), 10_000
sort_key = sys.argv[4:]

def batch(seed):
    random = np.random.default_rng(seed)
    arrays = []
    for i in range(columns):
        kind = i % 4
        if kind == 0:
            arrays.append(pa.array(random.integers(0, 2**40, batch_rows)))
        elif kind == 1:
            arrays.append(pa.array(random.random(batch_rows)))
        elif kind == 2:
            arrays.append(pa.array(random.integers(0, 1000, batch_rows).astype("int32")))
        else:
            arrays.append(pa.array(random.integers(0, 10**9, batch_rows)).cast(pa.string()))
    return pa.record_batch(arrays, [f"c{i}" for i in range(columns)])

def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

schema = as_table_schema(batch(0).schema)
job = plan_write(locate(path), None, "append", create=new_table("wide", schema, sort_key))
idle = peak_mb()
entries = write_rows(job, (batch(seed) for seed in range(rows // batch_rows)))
print(json.dumps({"idle": idle, "peak": peak_mb(), "rows": sum(e.rows for e in entries)}))
"""


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Peak resident memory above what the process held before its first row.

    Without a sort key and with one: then a run of 256 MB decoded is held beside the blocks.
    """
    del scale, runs
    name = f"peak memory of a writing task, {COLUMNS} columns, {ROWS // 10**6} M rows, above idle"
    return [
        Figure(name, "MB", peak_above_idle(folder / "wide"), target=TARGET_MB),
        Figure(f"{name}, sorted", "MB", peak_above_idle(folder / "wide", "c0")),
    ]


def peak_above_idle(path: Path, *sort_key: str) -> float:
    """Run the task in a process of its own, in MB."""
    shutil.rmtree(path, ignore_errors=True)
    command = [sys.executable, "-c", TASK, str(path), str(COLUMNS), str(ROWS), *sort_key]
    result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert result["rows"] == ROWS
    shutil.rmtree(path, ignore_errors=True)
    return float(result["peak"] - result["idle"])
