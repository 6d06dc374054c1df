"""The rows of simulated tables, in plain Python and as Arrow has them, and conditions on them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.large_tables import NESTED, TableMaker
from tests.strategies import identical

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("v", pa.int64()),
        ("w", pa.float64()),
        ("copy", pa.int64()),
        *arrow_schema(NESTED),
    ]
)


TWICE, NUMBER = "twice", "number"
"""A generated column, which is two times `v`, and an identity column. Some tables have them."""


class Row(NamedTuple):
    """A row without its id: its value `v`, and the epochs that inserted it and wrote it last."""

    v: int | None
    born: int
    written: int


Rows = Mapping[int, Row]
"""Rows by their `id`."""
Values = tuple[tuple[int, int | None], ...]
"""The `id` and `v` of rows."""
State = Mapping[str, Rows]
"""The rows of every table by its name."""

SPECIAL = (None, math.nan, -0.0, 0.0, math.inf, 1.5)


def special(row: int) -> float | None:
    """The value `w` of a row, which never changes."""
    return SPECIAL[row % len(SPECIAL)]


_NESTED_ROWS = pa.Table.from_batches([TableMaker(7).rows_of(NESTED, 12)])


def nested(ids: NDArray[np.int64]) -> pa.RecordBatch:
    """The nested columns of rows, which never change."""
    taken = _NESTED_ROWS.take(pa.array(ids % _NESTED_ROWS.num_rows)).combine_chunks()
    return (taken.to_batches() or [pa.RecordBatch.from_pylist([], taken.schema)])[0]


def given_value(row: int, salt: int) -> int | None:
    """The value that a statement gives a row in an extra column."""
    return (row + salt) % 7 or None


def computed_value(v: int | None, salt: int) -> int:
    """The value that a fill computes from `v`."""
    return (v or 0) + salt


def batch(rows: Values, copies: int = 1) -> pa.Table:
    """Return rows as an Arrow table, with `copies` of each."""
    ids = np.repeat(np.array([i for i, _ in rows], np.int64), copies)
    columns: list[Any] = [
        pa.array(ids),
        pa.array([v for _, v in rows for _ in range(copies)], pa.int64()),
        pa.array([special(i) for i, _ in rows for _ in range(copies)], pa.float64()),
        pa.array(np.tile(np.arange(copies), len(rows))),
    ]
    return pa.Table.from_arrays([*columns, *nested(ids).columns], schema=SCHEMA)


def values(rows: Rows) -> dict[int, int | None]:
    """What a reader must see of rows."""
    return {i: row.v for i, row in rows.items()}


def plain(found: pa.Table, copies: int = 1) -> dict[int, int | None]:
    """What a reader saw, as `values` has it. Raises AssertionError for rows that cannot be."""
    ids, numbers = found["id"].to_numpy(), found["copy"].to_numpy()
    batches = found.select(NESTED.names).combine_chunks().to_batches()
    assert all(identical(each, nested(ids)) for each in batches), "a damaged row was read"
    places = np.sort(ids * copies + numbers)
    assert (np.diff(places) > 0).all(), f"a row was read twice: {ids}"
    assert len(ids) == copies * len(set(ids.tolist())), f"some copies of a row were read: {ids}"
    rows = found.filter(pc.equal(found["copy"], 0)).select(["id", "v", "w"]).to_pylist()
    for row in rows:
        assert repr(row["w"]) == repr(special(row["id"])), f"a damaged row was read: {row}"
    seen: dict[int, int | None] = {row["id"]: row["v"] for row in rows}
    if copies > 1:
        every = zip(ids.tolist(), found["v"].to_pylist(), strict=True)
        assert all(seen[i] == v for i, v in every), "copies of a row have different values"
    return seen


LAYOUTS: Mapping[tuple[str, ...], int] = {(): 0, ("v",): 1, ("truncate(2, v)",): 2}
"""Partition layouts by what they are made of, and the `width` of the partitions of each."""


def cell(v: int | None, width: int) -> int:
    """The partition of a row with this value under the layout of a width."""
    if not width:
        return 0
    return -1 if v is None else v // width


Test = Literal["all", "ids", "is", "above", "not", "null", "cells"]


@dataclass(frozen=True)
class Condition:
    """A condition that SQL and Python understand alike.

    `cells`, whose values are a width and cells, is Python's alone: SQL does not know partitions.
    """

    test: Test = "all"
    values: tuple[int, ...] = ()

    def sql(self) -> str | None:
        """As a predicate; None: all rows."""
        first = self.values[0] if self.values else 0
        return {
            "all": None,
            "ids": f"id IN ({', '.join(map(str, self.values))})",
            "is": f"v = {first}",
            "above": f"v > {first} OR v IS NULL",
            "not": f"NOT v = {first}",
            "null": "v IS NULL",
        }[self.test]

    def of(self, rows: Rows) -> dict[int, Row]:
        """Return the rows that meet the predicate."""
        return {i: row for i, row in rows.items() if self.holds(i, row.v)}

    def holds(self, row: int, v: int | None) -> bool:
        """Whether it is true for a row."""
        match self.test:
            case "all":
                return True
            case "ids":
                return row in self.values
            case "is":
                return v == self.values[0]
            case "above":
                return v is None or v > self.values[0]
            case "not":
                return v is not None and v != self.values[0]
            case "null":
                return v is None
            case "cells":
                return cell(v, self.values[0]) in self.values[1:]


ALL_ROWS = Condition()
"""The condition that every row meets."""
