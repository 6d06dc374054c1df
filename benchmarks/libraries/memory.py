"""The peak memory of each operation on 20 million rows, each in a process of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

import colonnade
from benchmarks.libraries.libraries import rows_of
from benchmarks.libraries.sides import CHANGED, NAME
from benchmarks.measure import Figure

ROWS = 20_000_000
PART = 100_000
"""How many rows a written batch has, and how many an upsert or a MERGE brings."""

Table = colonnade.ArrowTable
WORKS: dict[str, Callable[[Table, int], object]] = {
    "stream all rows": lambda table, _: _drained(table.scan()),
    "stream a day": lambda table, _: _drained(table.scan(where="day = DATE '2025-07-01'")),
    "read one row by a text": lambda table, _: table.to_arrow(["id"], f"name = '{NAME}'"),
    "count by a condition": lambda table, _: table.count("price > 100"),
    "delete 45 rows by a text": lambda table, _: table.delete(f"name = '{NAME}'"),
    "update 50 rows": lambda table, _: table.update({"count": "count + 1"}, f"id IN {CHANGED}"),
    "upsert 100,000 rows": lambda table, rows: table.upsert(_incoming(rows)),
    "MERGE of 100,000 rows": lambda table, rows: _merged(table, rows),
    "verify": lambda table, _: table.verify(),
}


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Write a table as a stream, and then run each operation on it, one after the other."""
    del runs
    place = folder / "memory"
    shutil.rmtree(place, ignore_errors=True)
    rows = max(PART, int(ROWS * scale))
    return [
        Figure(f"{what}: peak memory", "MiB", _peak(place, what, rows))
        for what in ("write", *WORKS)
    ]


def _peak(place: Path, what: str, rows: int) -> float:
    given = json.dumps([str(place), what, rows])
    program = [sys.executable, "-m", "benchmarks.libraries.memory", given]
    ran = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True)
    return float(ran.stdout.splitlines()[-1])


def alone(place: str, what: str, rows: int) -> float:
    """Run one operation, and return the peak memory of this process in MiB."""
    if what == "write":
        batches = _batches(rows)
        first = next(batches)
        reader = pa.RecordBatchReader.from_batches(first.schema, _chained(first, batches))
        colonnade.create(place, first.schema, primary_key=["id"]).append(reader)
    else:
        WORKS[what](colonnade.open(place), rows)
    peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    return int(peak) / 1024


def _batches(rows: int) -> Iterator[pa.RecordBatch]:
    for first in range(0, rows, PART):
        yield from rows_of(np.arange(first, min(rows, first + PART)), rows).to_batches()


def _chained(first: pa.RecordBatch, others: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from others


def _incoming(rows: int) -> pa.Table:
    """Return `PART` rows. Half of their ids are new."""
    random = np.random.default_rng(3)
    old = random.choice(rows, PART // 2, replace=False)
    return rows_of(np.concatenate([old, np.arange(rows, rows + PART // 2)]), rows)


def _merged(table: Table, rows: int) -> object:
    merge = table.merge(_incoming(rows), on="id")
    return merge.when_matched_update_all().when_not_matched_insert_all().execute()


def _drained(scan: colonnade.Scan) -> int:
    return sum(batch.num_rows for batch in scan.to_batches(None))


if __name__ == "__main__":
    print(alone(*json.loads(sys.argv[1])))
