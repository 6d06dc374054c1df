"""Changes of columns that write only metadata, and reads after them, without Spark."""

from __future__ import annotations

import itertools
import shutil
import statistics
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

import colonnade
from benchmarks.measure import Figure, interleave, seconds
from colonnade import AddColumn, DropColumn, RenameColumn, SchemaField, WidenColumn

ROWS, COLUMNS, ROWSETS = 2_000_000, 16, 16
CHANGED = 20
"""How many columns each kind of change is measured on, and how many the evolved table has more."""
MOST_MS = 20.0


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure every row, on a table of 16 columns in 16 RowSets. Needs no other packages."""
    place = folder / "alterations"
    shutil.rmtree(place, ignore_errors=True)
    random = np.random.default_rng(1)
    count = max(1, int(ROWS * scale) // ROWSETS)
    schema = pa.schema([(f"c{each}", pa.int32()) for each in range(COLUMNS)])
    table = colonnade.create(place / "evolved", schema)
    for _ in range(ROWSETS):
        columns = [pa.array(random.integers(0, 10**6, count, np.int32)) for _ in schema]
        table.append(pa.table(columns, schema=schema))
    figures = [*_changes(table), _reads(table, place / "fresh", runs)]
    return [*figures, _evolving_append(table, runs)]


def _changes(table: colonnade.ArrowTable) -> Iterator[Figure]:
    """Yield the time of each kind of change; the columns stay, widened and with a default."""
    names = [f"d{each}" for each in range(CHANGED)]

    def timed(measure: str, change: Callable[[str], object]) -> Figure:
        taken = [1e3 * seconds(partial(change, name)) for name in names]
        return Figure(measure, "ms", statistics.median(taken), target=MOST_MS)

    def add(name: str) -> object:
        return table.alter(AddColumn(SchemaField(name=name, type="int"), default=5))

    def rename(name: str) -> object:
        return table.alter(RenameColumn(name, name[::-1]))

    yield timed("add a column with a default", add)
    yield timed("widen int to long", lambda name: table.alter(WidenColumn(name, "long")))
    yield timed("rename a column", rename)
    yield timed("drop a column", lambda name: table.alter(DropColumn(name[::-1])))
    for name in names:
        add(name)
        table.alter(WidenColumn(name, "long"))


def _evolving_append(table: colonnade.ArrowTable, runs: int) -> Figure:
    """Compare an append that brings a column with one that brings none."""
    rows = pa.table({"c0": pa.array(range(10), pa.int32())})
    numbers = itertools.count()

    def bring() -> None:
        table.append(rows.append_column(f"new{next(numbers)}", rows.column(0)), evolve=True)

    ours, plain, ratio = interleave(bring, lambda: table.append(rows), 4 * runs)
    measure = "append of 10 rows and a new column; compared: of 10 rows"
    return Figure(measure, "ms", 1e3 * ours, 1e3 * plain, ratio)


def _reads(table: colonnade.ArrowTable, place: Path, runs: int) -> Figure:
    """Compare reading the evolved table with reading the same rows as they would be written now.

    Both have equally many RowSets. The RowSets of the evolved table lack the new columns.
    """
    rows = table.scan().to_arrow()
    fresh = colonnade.create(place, rows.schema)
    stretch = -(-rows.num_rows // ROWSETS)
    for first in range(0, rows.num_rows, stretch):
        fresh.append(rows.slice(first, stretch))
    assert fresh.scan().to_arrow().equals(rows)
    figures = interleave(lambda: table.scan().to_arrow(), lambda: fresh.scan().to_arrow(), 3 * runs)
    measure = "read all of the evolved table; compared: a table of the same rows"
    return Figure(measure, "s", *figures, target=1.1)
