"""What a table hides of its RowSets, beside a model that looks at each row."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.arrays.bounds import bounds_table
from colonnade.manifests.arrays.hidden_rows import (
    clean_epoch,
    expired_regions,
    expired_values,
    meets,
    visible,
)
from colonnade.manifests.model.entries import ColumnStatistics, RowSetEntry
from colonnade.manifests.model.hidden_columns import CLEANED, WRITTEN, with_value
from colonnade.manifests.model.lifetimes import ColumnLifetime, Lifetimes
from colonnade.manifests.model.range_tombstones import RangeTombstone, region_of
from colonnade.manifests.model.regions import Interval, Region
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.statistics import encode_bound, value_after
from colonnade.manifests.state.amendments import UNAMENDED
from colonnade.manifests.state.snapshot import LiveRowSet
from tests.log_samples import entry, table_state

DAY_MS = 86_400_000
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
    **dict.fromkeys(("float", "double"), _FLOATS),
    **dict.fromkeys(("string", "char(3)", "varchar(3)"), _TEXTS),
    "binary": _BYTES,
}
"""Each type that has an order, with values in the form of bounds."""

Row = dict[int, Any]


def column(number: int, name: str, *, nullable: bool = True) -> SchemaField:
    return SchemaField(id=number, name=f"c{number}", type=name, nullable=nullable)


def is_number(value: Any) -> bool:
    return value is not None and value == value


def inside(row: Row, intervals: Iterable[Interval], columns: Mapping[int, SchemaField]) -> bool:
    """Whether a row lies in a region, value by value."""
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


def statistics_of(rng: random.Random, values: Sequence[Any], how: str) -> ColumnStatistics:
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
    return ColumnStatistics(
        min=encode_bound(low), max=encode_bound(high), nulls=nulls, nans=nans, exact=exact
    )


def some_interval(rng: random.Random, number: int, values: Sequence[Any]) -> Interval:
    low, high = sorted(rng.choices(values, k=2))
    return Interval(
        column=number,
        low=rng.choice((None, encode_bound(low))),
        high=rng.choice((None, encode_bound(high))),
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
                rng, [row[each.id] for row in rows], rng.choice(("exact", "exact", "cut", "none"))
            )
            for each in self.columns
            if rng.random() < 0.9
        }
        changed = {"statistics": stated, "rows": len(rows)}
        made = entry().model_copy(update=changed)
        self.rows.append(rows)
        self.rowsets.append(LiveRowSet(number, number, made, UNAMENDED))

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


SEEDS = st.integers(0, 2**48)


@pytest.mark.parametrize("name", VALUES)
@given(seed=SEEDS)
def test_bounds_tell_which_rowsets_may_have_rows_of_a_region_and_which_have_no_others(
    name: str, seed: int
) -> None:
    rng = random.Random(seed)
    other = rng.choice(list(VALUES))
    columns = (column(1, name, nullable=rng.random() < 0.5), column(2, other))
    values = {1: VALUES[name], 2: VALUES[other]}
    made = Rows.some(rng, columns, values)
    numbers = rng.choice(((1,), (1, 2), (2, 1)))
    region = Region(
        intervals=tuple(some_interval(rng, number, values[number]) for number in numbers),
        columns=tuple(columns[number - 1] for number in numbers),
    )
    bounds = bounds_table(
        [each.entry.statistics for each in made.rowsets],
        [each.entry.rows for each in made.rowsets],
        made.schema,
        str,
    )
    some, every = meets(region, bounds)
    for at, rows in enumerate(made.rows):
        found = [inside(row, region.intervals, made.by_id) for row in rows]
        assert some[at] or not any(found)
        assert not every[at] or all(found)
        stated = made.rowsets[at].entry.statistics.get(numbers[0])
        if len(numbers) == 1 and stated is not None and stated.min is not None and stated.exact:
            # Bounds that occur decide everything that one column can decide.
            assert every[at] == all(found)


def test_a_rowset_of_null_and_nan_alone_meets_no_region() -> None:
    field = column(1, "double")
    region = Region(intervals=(Interval(column=1),), columns=(field,))
    stated = [
        {1: ColumnStatistics(nulls=1, nans=2)},
        {1: ColumnStatistics(nulls=1, nans=1)},
        {1: ColumnStatistics(min="f:1.0", max="f:1.0", nans=1)},
        {1: ColumnStatistics(min="f:1.0", max="f:1.0")},
        {},
    ]
    bounds = bounds_table(stated, [3] * 5, TableSchema(fields=(field,)), str)
    some, every = meets(region, bounds)
    assert some.tolist() == [False, True, True, True, True]
    assert every.tolist() == [False, False, False, True, False]


def tombstones(rng: random.Random, made: Rows, values: Mapping[int, Any]) -> list[RangeTombstone]:
    found = []
    for epoch in sorted(rng.sample(range(1, 12), rng.randrange(1, 5))):
        regions = []
        for _ in range(rng.randrange(1, 4)):
            numbers = rng.sample([each.id for each in made.columns], rng.randrange(1, 3))
            regions.append(tuple(some_interval(rng, n, values[n]) for n in numbers))
        found.append(RangeTombstone(epoch=epoch, regions=tuple(regions)))
    return found


def hides(rowset: LiveRowSet, row: Row, columns: Mapping[int, SchemaField]) -> bool:
    """Whether a reader of a RowSet hides a row."""
    return any(inside(row, each.intervals, columns) for each in rowset.amendments.hidden)


def check_hidden(made: Rows, shown: Sequence[LiveRowSet], gone: Sequence[Sequence[bool]]) -> None:
    """Require that readers hide exactly the rows that are gone."""
    found = {each.id: each for each in shown}
    columns = {**made.by_id, WRITTEN.id: WRITTEN}
    assert [each.id for each in shown] == sorted(found)
    for rowset, rows, deleted in zip(made.rowsets, made.rows, gone, strict=True):
        seen = found.get(rowset.id)
        if seen is None:
            assert all(deleted)
            continue
        assert [hides(seen, row, columns) for row in rows] == list(deleted)


@given(seed=SEEDS)
def test_rows_of_tombstones_after_the_clean_epoch_of_their_rowset_are_hidden(seed: int) -> None:
    rng = random.Random(seed)
    names = rng.sample(list(VALUES), 2)
    columns = tuple(column(at, name, nullable=False) for at, name in enumerate(names, 1))
    values = {each.id: VALUES[str(each.type)] for each in columns}
    made = Rows.some(rng, columns, values)
    for at, rowset in enumerate(made.rowsets):
        stated = rng.choice((None, rng.randrange(12)))
        changed = rowset.entry if stated is None else with_value(rowset.entry, CLEANED, stated)
        made.rowsets[at] = replace(rowset, epoch=rng.randrange(12), entry=changed)
        assert clean_epoch(made.rowsets[at]) == (rowset_epoch(made, at, stated))
    state = replace(table_state(made.schema), tombstones=tuple(tombstones(rng, made, values)))
    gone = [
        [
            any(
                each.epoch > clean_epoch(rowset)
                and any(inside(row, region, made.by_id) for region in each.regions)
                for each in state.tombstones
            )
            for row in rows
        ]
        for rowset, rows in zip(made.rowsets, made.rows, strict=True)
    ]
    check_hidden(made, visible(state, made.rowsets), gone)


def rowset_epoch(made: Rows, at: int, stated: int | None) -> int:
    return made.rowsets[at].epoch if stated is None else stated


EVENT, ENDS, NOTE = column(1, "timestamp"), column(2, "date"), column(3, "string")
NOW_MS = 1_700_000_000_000


def some_lifetimes(rng: random.Random) -> Lifetimes:
    spans = (1, 999, DAY_MS, 3 * DAY_MS, 400 * DAY_MS)
    return Lifetimes(
        rows_ms=rng.choice((None, rng.choice(spans))),
        time_column=rng.choice((None, 1, 2)),
        expires_column=rng.choice((None, 1, 2)),
        columns=(ColumnLifetime(column=3, ms=rng.choice(spans)),),
        since_ms=NOW_MS - rng.choice(spans),
    )


def time_ms(row: Row, number: int) -> float | None:
    """A value of a row as a time in ms, or None."""
    value = row[number]
    if value is None:
        return None
    return value * DAY_MS if number == ENDS.id else value / 1000


def is_expired(row: Row, lives: Lifetimes) -> bool:
    ends = []
    if lives.rows_ms is not None:
        began = time_ms(row, lives.time_column or WRITTEN.id)
        ends.append(None if began is None else began + lives.rows_ms)
    if lives.expires_column is not None:
        ends.append(time_ms(row, lives.expires_column))
    return any(end is not None and end <= NOW_MS for end in ends)


@given(seed=SEEDS)
def test_rows_and_values_are_hidden_from_the_moment_at_which_they_expire(seed: int) -> None:
    rng = random.Random(seed)
    lives = some_lifetimes(rng)
    spans = [lives.rows_ms or 0, lives.columns[0].ms]
    edges = [NOW_MS - span + by for span in (0, *spans) for by in (-DAY_MS, -1, 0, 1, DAY_MS)]
    values = {
        EVENT.id: [at * 1000 + by for at in edges for by in (-1, 0, 1)],
        ENDS.id: [at // DAY_MS for at in edges],
        NOTE.id: VALUES["string"],
    }
    made = Rows.some(rng, (EVENT, ENDS, NOTE), values)
    for at, rowset in enumerate(made.rowsets):
        written = rng.choice((None, rng.choice(values[EVENT.id])))
        if written is not None:
            dated = with_value(rowset.entry, WRITTEN, written)
            made.rowsets[at] = replace(rowset, entry=dated)
        time = lives.since_ms * 1000 if written is None else written
        made.rows[at] = [{**row, WRITTEN.id: time} for row in made.rows[at]]
    state = replace(table_state(made.schema), lifetimes=lives)
    gone = [[is_expired(row, lives) for row in rows] for rows in made.rows]
    shown = visible(state, made.rowsets, NOW_MS)
    check_hidden(made, shown, gone)
    check_hidden(made, visible(state.seen_at(NOW_MS), made.rowsets), gone)
    assert visible(state, made.rowsets) == made.rowsets
    columns = {**made.by_id, WRITTEN.id: WRITTEN}
    for each in shown:
        for row in made.rows[each.id]:
            masks = [m for m in each.amendments.masks if inside(row, m.region.intervals, columns)]
            began = time_ms(row, lives.time_column or WRITTEN.id)
            expired = began is not None and began + lives.columns[0].ms <= NOW_MS
            assert bool(masks) == expired
            assert all(mask.column == NOTE.id for mask in masks)


def test_a_table_without_tombstones_and_lifetimes_gets_its_rowsets_as_they_are() -> None:
    state = table_state()
    rowsets = [LiveRowSet(0, 3, entry(), UNAMENDED)]
    assert visible(state, rowsets, NOW_MS)[0] is rowsets[0]
    assert (expired_regions(state, NOW_MS), expired_values(state, NOW_MS)) == ((), ())
    assert visible(state, []) == []


def ranges(count: int, width: int) -> Iterator[tuple[Interval, ...]]:
    for at in range(count):
        low, high = encode_bound(at * width), encode_bound((at + 1) * width)
        yield (Interval(column=1, low=low, high=high, high_open=True),)


@pytest.mark.parametrize("stated", [True, False], ids=["with bounds", "without bounds"])
def test_thousands_of_tombstones_meet_thousands_of_rowsets(stated: bool) -> None:
    """RowSets of a hundred rows, and a tombstone of ten rows for each of them but the last ones."""
    count = 4_000
    field = column(1, "long", nullable=False)
    plain = entry(100).model_copy(update={"statistics": {}})
    rowsets = [
        LiveRowSet(at, 1, dated(plain, at) if stated else plain, UNAMENDED) for at in range(count)
    ]
    regions = [r for at, r in enumerate(ranges(10 * count, 10)) if at % 10 == 3][: count - 500]
    parts = [RangeTombstone(epoch=2 + at, regions=tuple(regions[at::70])) for at in range(70)]
    state = replace(table_state(TableSchema(fields=(field,))), tombstones=tuple(parts))
    some = rowsets if stated else rowsets[:50]
    begun = time.perf_counter()
    shown = visible(state, some)
    assert time.perf_counter() - begun < 10
    assert [each.id for each in shown] == [each.id for each in some]
    if not stated:
        assert all(len(each.amendments.hidden) == len(regions) for each in shown)
        return
    for each in shown:
        hidden = [region.intervals for region in each.amendments.hidden]
        assert hidden == ([regions[each.id]] if each.id < len(regions) else [])


def dated(plain: RowSetEntry, at: int) -> RowSetEntry:
    stated = ColumnStatistics(min=f"i:{100 * at}", max=f"i:{100 * at + 99}")
    return plain.model_copy(update={"statistics": {1: stated}})


def test_a_tombstone_names_columns_by_their_present_names_and_types() -> None:
    field = column(1, "string", nullable=False)
    region = region_of((Interval(column=1, low="s:a"),), TableSchema(fields=(field,)))
    assert region.columns == (field,)
    assert np.array_equal(
        meets(region, bounds_table([{}], [1], TableSchema(fields=(field,)), str)),
        [[True], [False]],
    )
