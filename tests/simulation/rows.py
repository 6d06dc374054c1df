"""The rows of simulated tables, in plain Python and as Arrow has them, and conditions on them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.simulation.nested import FIXED, INNER, inner_types, nested_columns

FIRST = ("id", "v", "w", "copy", *FIXED, INNER)
"""The columns that all tables have."""

TWICE, NUMBER = "twice", "number"
"""A generated column, which is two times `v`, and an identity column. Some tables have them."""


Rest = tuple[int | None, ...]
"""The values of a row in the further columns of a keyed table."""


class Row(NamedTuple):
    """A row without its id: its value `v`, and the epochs that inserted it and wrote it last.

    `rest` are its values in the further columns of a keyed table.
    """

    v: int | None
    born: int
    written: int
    rest: Rest = ()


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


def given_value(row: int, salt: int) -> int | None:
    """The value that a statement gives a row in an extra column."""
    return (row + salt) % 7 or None


def computed_value(v: int | None, salt: int) -> int:
    """The value that a fill computes from `v`."""
    return (v or 0) + salt


@dataclass(frozen=True)
class Shape:
    """How the rows of one run are: `copies` of each, and which nested columns they have."""

    copies: int = 1
    nested: int = 0

    def schema(self, inner: pa.Field | None = None) -> pa.Schema:
        """The columns of a new table, perhaps with more fields inside one."""
        types = (pa.int64(), pa.int64(), pa.float64(), pa.int64())
        columns = nested_columns(self.nested)
        fixed = arrow_schema(columns.fixed)
        return pa.schema([*zip(FIRST, types, strict=False), *fixed, inner or columns.inner_field()])

    def batch(self, rows: Values, salt: int = 0, inner: pa.Field | None = None) -> pa.Table:
        """Return rows as an Arrow table, perhaps with more fields inside one column."""
        columns = nested_columns(self.nested)
        inner = inner or columns.inner_field()
        names = inner_types(inner.type)
        ids = [i for i, _ in rows]
        fields = [dict.fromkeys(names, given_value(i, salt)) for i in ids]
        found = [
            pa.array(ids, pa.int64()),
            pa.array([v for _, v in rows], pa.int64()),
            pa.array([special(i) for i in ids], pa.float64()),
            pa.array([0] * len(ids), pa.int64()),
            *columns.rows(np.array(ids, np.int64)).columns,
            columns.inner(ids, fields, inner.type),
        ]
        made = pa.Table.from_arrays(found, schema=self.schema(inner))
        if self.copies == 1:
            return made
        numbers = pa.array(np.tile(np.arange(self.copies), len(ids)))
        several = made.take(pa.array(np.repeat(np.arange(len(ids)), self.copies)))
        return several.set_column(3, made.schema.field(3), numbers)


SHAPE = Shape()
SCHEMA = SHAPE.schema()


def values(rows: Rows) -> dict[int, int | None]:
    """What a reader must see of rows."""
    return {i: row.v for i, row in rows.items()}


def plain(found: pa.Table, shape: Shape = SHAPE) -> dict[int, int | None]:
    """What a reader saw, as `values` has it. Raises AssertionError for rows that cannot be.

    Does not look inside `INNER`, whose fields change.
    """
    copies = shape.copies
    ids, numbers = found["id"].to_numpy(), found["copy"].to_numpy()
    nested_columns(shape.nested).check(ids, found)
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


Test = Literal["all", "ids", "is", "above", "not", "null", "cells", "between"]


@dataclass(frozen=True)
class Condition:
    """A condition that SQL and Python understand alike.

    `cells`, whose values are a width and cells, is Python's alone: SQL does not know partitions.
    `between` is true for ids from its first value on, and below its second one if there is one.
    """

    test: Test = "all"
    values: tuple[int, ...] = ()

    def sql(self) -> str | None:
        """As a predicate; None: all rows."""
        first = self.values[0] if self.values else 0
        below = "".join(f" AND id < {end}" for end in self.values[1:])
        return {
            "all": None,
            "ids": f"id IN ({', '.join(map(str, self.values))})",
            "is": f"v = {first}",
            "above": f"v > {first} OR v IS NULL",
            "not": f"NOT v = {first}",
            "null": "v IS NULL",
            "between": f"id >= {first}{below}",
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
            case "between":
                return self.values[0] <= row and all(row < end for end in self.values[1:])
            case "cells":
                return cell(v, self.values[0]) in self.values[1:]


ALL_ROWS = Condition()
"""The condition that every row meets."""
