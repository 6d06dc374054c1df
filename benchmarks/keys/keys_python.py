"""Upsert by key without Spark, beside PyIceberg.

Needs `PYTHONPATH=$(python tests/setup/lakes.py)`. The catalog of PyIceberg is a file of SQLite.
"""

from __future__ import annotations

import importlib
import shutil
import statistics
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import colonnade
from benchmarks.keys import keys
from benchmarks.measure import Figure, seconds

ROWS, BATCH = 1_000_000, 100_000
TARGET = 0.02


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Upsert batches, half of whose keys are new, and compare the rows at the end.

    PyIceberg takes minutes for one batch, so it upserts the first one alone.
    """
    place = folder / "keys_python"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    rows, size = max(200, int(ROWS * scale)), max(20, int(BATCH * scale))
    random = np.random.default_rng(2)
    batches = [_batch(random, rows, size) for _ in range(runs)]
    ours = keys.made(place / "ours", rows, np.random.default_rng(1))
    theirs = _iceberg(place, rows)
    other = seconds(partial(theirs.upsert, batches[0], join_cols=["id"]))
    first = seconds(partial(ours.upsert, batches[0]))
    _check(ours, theirs)
    times = [first, *(seconds(partial(ours.upsert, each)) for each in batches[1:])]
    mine = statistics.median(times)
    what = f"upsert of {size:,} keys into {rows:,} rows, beside PyIceberg"
    return [
        Figure(what, "s", mine, other, mine / other, TARGET),
        Figure(f"{what}: the first one of the process", "s", first, other, first / other, TARGET),
    ]


def _batch(random: np.random.Generator, rows: int, size: int) -> pa.Table:
    """Rows with random keys. Half of them are even, which the table has, and half are odd."""
    ids = 2 * random.choice(rows, size, replace=False)
    ids[: size // 2] += 1
    return pa.Table.from_batches([keys.rows_of(ids)])


def _iceberg(place: Path, rows: int) -> Any:
    catalog = importlib.import_module("pyiceberg.catalog.sql").SqlCatalog(
        "keys", uri=f"sqlite:///{place}/catalog.db", warehouse=f"file://{place}/iceberg"
    )
    catalog.create_namespace("db")
    found = keys.shuffled(rows, np.random.default_rng(1)).read_all()
    table = catalog.create_table("db.keys", found.schema)
    table.append(found)
    return table


def _check(ours: colonnade.ArrowTable, theirs: Any) -> None:
    """Raise `AssertionError` if the tables hold different rows."""
    mine, others = (
        each.select(keys.SCHEMA.names).sort_by("id").to_pydict()
        for each in (ours.scan().to_arrow(), theirs.scan().to_arrow())
    )
    assert mine == others, "The rows of the tables differ."
