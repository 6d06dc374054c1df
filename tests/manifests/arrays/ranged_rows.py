"""RowSets whose rows are known, and which of these rows are inside regions, value by value."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from colonnade.manifests.model.columns.internal import WRITTEN
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.regions import Interval
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.statistics import bound_prefix, encode_bound, value_after
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from tests.log_samples import entry

DAY_MS = 86_400_000
NOW_MS = 1_700_000_000_000
NAN = float("nan")
LONGEST = 3
"""Texts are cut to this length in statistics, as long ones are in the log."""

_NUMBERS = (-(2**63), -7, -1, 0, 1, 2, 3, 41, 2**63 - 1)
_DECIMALS = (-(10**37), -1, 0, 5, 2**64, 10**37)
_FLOATS = (float("-inf"), -1.5, -0.0, 0.0, 5e-324, 2.5, float("inf"))
_TEXTS = ("", "a", "ab", "abc", "abcd", "abce", "abd", "né", "日本", "\U0010ffff", "\ud7ff" * 4)
_BYTES = (b"", b"\x00", b"a", b"abc", b"abcd", b"\xff\xff", b"\xff\xff\xff\xff")
VALUES: dict[str, Sequence[Any]] = {
    **dict.fromkeys(("long", "int", "date", "timestamp", "timestamp_ntz", "time(6)"), _NUMBERS),
    **dict.fromkeys(("short", "byte", "interval month", "interval day to second"), _NUMBERS),
    "boolean": (0, 1),
    "decimal(38,0)": _DECIMALS,
    "decimal(38,2)": _DECIMALS,
    **dict.fromkeys(("float", "double"), _FLOATS),
    **dict.fromkeys(("string", "char(3)", "varchar(3)"), _TEXTS),
    "binary": _BYTES,
}
"""Each type that has an order, with values in the form of bounds."""

Row = dict[int, Any]

SEEDS = st.integers(0, 2**48)


def column(number: int, name: str, *, nullable: bool = True) -> SchemaField:
    return SchemaField(id=number, name=f"c{number}", type=name, nullable=nullable)


def is_number(value: Any) -> bool:
    return value is not None and value == value


def inside(row: Row, intervals: Iterable[Interval], columns: Mapping[int, SchemaField]) -> bool:
    """Return whether a row is inside a region, value by value."""
    for each in intervals:
        value = row.get(each.column)
        if not is_number(value):
            return False
        low: Any
        high: Any
        low, high = each.bounds(columns[each.column])
        if low is not None and (value < low or (each.low_open and value == low)):
            return False
        if high is not None and (value > high or (each.high_open and value == high)):
            return False
    return True


def statistics_of(
    rng: random.Random, values: Sequence[Any], how: str, column: SchemaField
) -> ColumnStatistics:
    """The statistics of a column: exact, cut to a length, or without bounds."""
    known = [value for value in values if is_number(value)]
    nulls = sum(value is None for value in values)
    nans = len(values) - len(known) - nulls
    if not known or how == "none":
        return ColumnStatistics(nulls=nulls, nans=nans)
    low, high = min(known), max(known)
    if how == "cut" and isinstance(low, str | bytes):
        low = low[:LONGEST]
        after = value_after(high[:LONGEST]) if len(high) > LONGEST else high
        if after is None:
            return ColumnStatistics(nulls=nulls, nans=nans)
        high = after
    elif how == "cut":
        low, high = min(low, rng.choice(known)), max(high, rng.choice(known))
    exact = how == "exact"
    least, most = (encode_bound(each, bound_prefix(column.type)) for each in (low, high))
    return ColumnStatistics(min=least, max=most, nulls=nulls, nans=nans, exact=exact)


def some_interval(rng: random.Random, column: SchemaField, values: Sequence[Any]) -> Interval:
    ends = sorted(rng.choices(values, k=2))
    low, high = (encode_bound(each, bound_prefix(column.type)) for each in ends)
    return Interval(
        column=column.id,
        low=rng.choice((None, low)),
        high=rng.choice((None, high)),
        low_open=rng.random() < 0.4,
        high_open=rng.random() < 0.4,
    )


@dataclass
class Rows:
    """RowSets whose rows are known, for some columns."""

    columns: Sequence[SchemaField]
    rows: list[list[Row]]
    rowsets: list[LiveRowSet]

    @classmethod
    def some(
        cls, rng: random.Random, columns: Sequence[SchemaField], values: Mapping[int, Sequence[Any]]
    ) -> Rows:
        made = cls(columns, [], [])
        for number in range(rng.randrange(1, 9)):
            near = {each.id: rng.choices(values[each.id], k=2) for each in columns}
            wide = rng.random() < 0.3
            rows = [
                {each.id: _value(rng, each, values if wide else near) for each in columns}
                for _ in range(rng.randrange(1, 5))
            ]
            made.add(rng, number, rows)
        return made

    def add(self, rng: random.Random, number: int, rows: list[Row]) -> None:
        stated = {
            each.id: statistics_of(
                rng,
                [row[each.id] for row in rows],
                rng.choice(("exact", "exact", "cut", "none")),
                each,
            )
            for each in self.columns
            if rng.random() < 0.9
        }
        changed = {"statistics": stated, "rows": len(rows)}
        made = entry().model_copy(update=changed)
        self.rows.append(rows)
        self.rowsets.append(LiveRowSet(number, number, made))

    @property
    def schema(self) -> TableSchema:
        return TableSchema(fields=tuple(self.columns))

    @property
    def by_id(self) -> dict[int, SchemaField]:
        return {each.id: each for each in self.columns}


def _value(rng: random.Random, field: SchemaField, values: Mapping[int, Sequence[Any]]) -> Any:
    if field.nullable and rng.random() < 0.2:
        return None
    if field.type in ("float", "double") and rng.random() < 0.2:
        return NAN
    return rng.choice(values[field.id])


def hides(view: View, rowset: LiveRowSet, row: Row, columns: Mapping[int, SchemaField]) -> bool:
    """Whether a view hides a row of a RowSet."""
    return any(inside(row, each.intervals, columns) for each in view.hidden_in(rowset))


def with_known_statistics(made: Rows) -> list[LiveRowSet]:
    """The RowSets without the statistics that a reader must ignore: of columns without a field."""
    return [
        replace(each, entry=each.entry.model_copy(update={"statistics": known}))
        for each in made.rowsets
        for known in [{c: s for c, s in each.entry.statistics.items() if c in made.by_id}]
    ]


def check_hidden(made: Rows, view: View, gone: Sequence[Sequence[bool]]) -> None:
    """Require that a view hides exactly the deleted rows."""
    found = {each.id: each for each in view.rowsets}
    columns = {**made.by_id, WRITTEN.id: WRITTEN}
    assert [each.id for each in view.rowsets] == sorted(found)
    for rowset, rows, deleted in zip(made.rowsets, made.rows, gone, strict=True):
        seen = found.get(rowset.id)
        if seen is None:
            assert all(deleted)
            continue
        assert [hides(view, seen, row, columns) for row in rows] == list(deleted)
