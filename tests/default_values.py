"""Values of every type that can have a default, and a table with RowSets that lack the column."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.commit.change import Change
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.predicate.literals import Kind, Literal
from colonnade.tableformat.table.alteration import AddColumn
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.arrow_types import arrow_type, base_type
from tests.strategies import EDGES, PRIMITIVES, random_value

TYPES = tuple(each for each in PRIMITIVES if each != "variant")

_KINDS = {
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "timestamp_ntz": Kind.TIMESTAMP_NTZ,
    "time": Kind.TIME,
    "interval year to month": Kind.MONTHS,
    "interval day to second": Kind.DURATION,
}


def values(name: str, count: int = 10) -> Iterator[tuple[Any, pa.Array]]:
    """Defaults of a type as a user may state them, each with an array that has the value once.

    The log knows one NaN, so other ones are no values that come back from it bit by bit.
    """
    column, rng = SchemaField(name="c", type=name), random.Random(name)
    found = (*EDGES.get(name, ()), *(random_value(column, rng) for _ in range(count)))
    for value in found[:count]:
        if value != value and struct.pack("<d", value) != struct.pack("<d", math.nan):
            continue
        kind = _KINDS.get(base_type(name))
        stated: Any = value if kind is None else Literal(kind, value)
        if isinstance(value, str):
            stated = Literal(Kind.STRING, value)
        yield stated, pa.array([value], arrow_type(column))


def older_rowsets(path: Path, rowsets: int = 2, rows: int = 10) -> ArrowTable:
    """A table with the column `k` alone: the numbers from 0 on, in several RowSets."""
    table = colonnade.create(path, pa.schema({"k": pa.int64()}))
    for start in range(0, rowsets * rows, rows):
        table.append(pa.table({"k": range(start, start + rows)}))
    return table


def add_column(table: ArrowTable, name: str, default: Any, nullable: bool = True) -> int:
    """Add the column `c` of a type, with a default."""
    column = SchemaField(name="c", type=name, nullable=nullable)
    return table.alter(AddColumn(column, default=default))


def first(action: Callable[[], object], patched: pytest.MonkeyPatch) -> None:
    """Do something right before the next commit, after that commit was planned."""
    commit = Log.commit_change

    def late(log: Log, change: Change, base: Snapshot) -> tuple[Snapshot, Epoch | None]:
        patched.setattr(Log, "commit_change", commit)
        action()
        return commit(log, change, base)

    patched.setattr(Log, "commit_change", late)
