"""Which rows of RowSets a table hides: those of range tombstones, and those that have expired.

The bounds in the log decide most of it. A RowSet that lies wholly inside a region has no row left.
Another one that may meet a region takes the region with it, and its reader finds the rows. Pure.
Spec: docs/spec/lifetimes.md#readers
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import Bounds, BoundsTable, bound_array, bounds_table
from colonnade.manifests.clock import DAY_MS
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.hidden_columns import (
    CLEANED,
    WRITTEN,
    greatest_value,
    least_value,
    with_hidden,
    with_value,
    written_at,
)
from colonnade.manifests.model.lifetimes import column_of
from colonnade.manifests.model.range_tombstones import region_of
from colonnade.manifests.model.regions import Interval, Mask, Region
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.statistics import Bound, encode_bound
from colonnade.manifests.state.snapshot import LiveRowSet, TableState

_PAIRS_AT_ONCE = 2_000_000
"""The most pairs of a RowSet and a tombstone that are compared as one array."""

Flags = NDArray[np.bool_]


def visible(
    table: TableState, rowsets: Sequence[LiveRowSet], now_ms: int | None = None
) -> list[LiveRowSet]:
    """Return the RowSets that may have visible rows, each with what it hides.

    Rows of range tombstones are hidden. If the table is seen at a time (`TableState.now_ms`, or
    `now_ms`), so are rows and values that have expired then. Costs a few array operations, and one
    object for each RowSet that meets a region. Raises CorruptionError for damaged statistics.
    """
    now = table.now_ms if now_ms is None else now_ms
    lives = table.lifetimes if now is not None else None
    if not rowsets or not (table.tombstones or lives):
        return list(rowsets)
    shown = list(rowsets)
    if lives is not None and lives.counts_from_write:
        shown = [_dated(each, lives.since_ms) for each in shown]
    found = _Found(_bounds(table, shown))
    if table.tombstones:
        _find_deleted(found, table, shown)
    if lives is not None and now is not None:
        found.hide(expired_regions(table, now), np.arange(len(shown)))
        for mask in expired_values(table, now):
            found.mask(mask)
    return [found.amended(at, rowset) for at, rowset in enumerate(shown) if not found.whole[at]]


def clean_epoch(rowset: LiveRowSet) -> int:
    """Return the last epoch whose range tombstone the rows of a RowSet have met."""
    stated = least_value(rowset.entry, CLEANED)
    return rowset.epoch if stated is None else stated


def expired_regions(table: TableState, now_ms: int) -> tuple[Region, ...]:
    """Return the regions of the rows of a table that have expired at a time (ms since 1970)."""
    lives, found = table.lifetimes, []
    if lives is None:
        return ()
    if lives.rows_ms is not None:
        found.append(_until(_time_column(table), now_ms - lives.rows_ms))
    if lives.expires_column is not None:
        found.append(_until(column_of(lives.expires_column, table.schema), now_ms))
    return tuple(found)


def expired_values(table: TableState, now_ms: int) -> tuple[Mask, ...]:
    """Return the masks of the values of a table that have expired at a time (ms since 1970)."""
    lives = table.lifetimes
    if lives is None:
        return ()
    time = _time_column(table)
    return tuple(
        Mask(column=column_of(each.column, table.schema).id, region=_until(time, now_ms - each.ms))
        for each in lives.columns
    )


def with_expired_values(
    table: TableState, rowsets: Sequence[LiveRowSet], now_ms: int
) -> list[LiveRowSet]:
    """Return RowSets with the masks of values that have expired at a time, and no row hidden.

    Raises the errors of `visible`.
    """
    lives = table.lifetimes
    if lives is None or not lives.columns:
        return list(rowsets)
    values = lives.model_copy(update={"rows_ms": None, "expires_column": None})
    return visible(replace(table, tombstones=(), lifetimes=values), rowsets, now_ms)


def expired_share(table: TableState, rowset: LiveRowSet, now_ms: int) -> float:
    """Estimate the share of the rows of a RowSet that have expired at a time, from 0 to 1.

    Times count as spread evenly between the bounds in the log. Without bounds, the share is 0.
    """
    return max((_share(rowset, each) for each in expired_regions(table, now_ms)), default=0.0)


def _share(rowset: LiveRowSet, region: Region) -> float:
    (column,), (interval,) = region.columns, region.intervals
    low, high = least_value(rowset.entry, column), greatest_value(rowset.entry, column)
    _, end = interval.bounds(column)
    if low is None or high is None or not isinstance(end, int) or end < low:
        return 0.0
    nulls = rowset.entry.statistics[column.id].nulls
    inside = min(1.0, (end - low + 1) / (high - low + 1))
    return float(inside * (rowset.entry.rows - nulls) / rowset.entry.rows)


def without_expired_bounds(table: TableState, bounds: BoundsTable) -> BoundsTable:
    """Return stored bounds of a table that do not say how many values are NULL where some expire.

    An expired value is NULL, which no bound in the log knows.
    """
    if table.lifetimes is None or table.now_ms is None:
        return bounds
    expiring = {each.column for each in table.lifetimes.columns}
    ids = [each for f in table.schema.fields if f.ids[0] in expiring for each in f.ids]
    return bounds.with_open_nulls(ids) if ids else bounds


def _time_column(table: TableState) -> SchemaField:
    assert table.lifetimes is not None
    number = table.lifetimes.time_column
    return WRITTEN if number is None else column_of(number, table.schema)


def _until(column: SchemaField, end_ms: int) -> Region:
    """Return the rows whose time is not after an end. A date begins at midnight UTC."""
    end = end_ms // DAY_MS if column.type == "date" else end_ms * 1000
    interval = Interval(column=column.id, high=encode_bound(end))
    return Region(intervals=(interval,), columns=(column,))


def _dated(rowset: LiveRowSet, since_ms: int) -> LiveRowSet:
    """Return a RowSet that states when its rows were written."""
    if WRITTEN.id in rowset.entry.statistics:
        return rowset
    return replace(rowset, entry=with_value(rowset.entry, WRITTEN, since_ms * 1000))


class _Found:
    """What was found out about some RowSets: which are wholly hidden, and what the others hide."""

    def __init__(self, bounds: BoundsTable) -> None:
        self.bounds = bounds
        self.whole = np.zeros(len(bounds.rows), np.bool_)
        self._hidden: dict[int, list[Region]] = {}
        self._masks: dict[int, list[Mask]] = {}

    def hide(
        self, regions: Sequence[Region], places: NDArray[np.int64], pairs: Flags | None = None
    ) -> None:
        """Hide the rows of regions in the RowSets at some places.

        `pairs` says which region concerns which of these RowSets; None means all of them.
        """
        if not regions:
            return
        some, every = meets_each(regions, self.bounds.take(places))
        if pairs is not None:
            some, every = some & pairs, every & pairs
        self.whole[places[every.any(axis=0)]] = True
        for region, at in zip(*(each.tolist() for each in np.nonzero(some)), strict=True):
            self._hidden.setdefault(int(places[at]), []).append(regions[region])

    def mask(self, mask: Mask) -> None:
        some, _ = meets(mask.region, self.bounds)
        for at in np.flatnonzero(some).tolist():
            self._masks.setdefault(at, []).append(mask)

    def amended(self, at: int, rowset: LiveRowSet) -> LiveRowSet:
        if at not in self._hidden and at not in self._masks:
            return rowset
        amendments = replace(
            rowset.amendments,
            hidden=tuple(self._hidden.get(at, ())),
            masks=tuple(_stated(each, rowset) for each in self._masks.get(at, ())),
        )
        return replace(rowset, amendments=amendments)


def _stated(mask: Mask, rowset: LiveRowSet) -> Mask:
    """Return a mask that says when rows were written that do not store it."""
    [column] = mask.region.columns
    written = least_value(rowset.entry, WRITTEN)
    if column.id != WRITTEN.id or written is None:
        return mask
    region = mask.region.model_copy(update={"columns": (written_at(written),)})
    return mask.model_copy(update={"region": region})


def meets(region: Region, bounds: BoundsTable) -> tuple[Flags, Flags]:
    """Return which things may have rows in a region, and which have no other rows."""
    some, every = meets_each((region,), bounds)
    return some[0], every[0]


def meets_each(regions: Sequence[Region], bounds: BoundsTable) -> tuple[Flags, Flags]:
    """Return `meets` of many regions: a row for each region, and a column for each thing.

    Regions of the same columns are compared together, as arrays.
    """
    some = np.ones((len(regions), len(bounds.rows)), np.bool_)
    every = some.copy()
    alike: dict[tuple[int, ...], list[int]] = {}
    for at, region in enumerate(regions):
        alike.setdefault(tuple(each.id for each in region.columns), []).append(at)
    for places in alike.values():
        for position, column in enumerate(regions[places[0]].columns):
            intervals = [regions[at].intervals[position] for at in places]
            part, whole = _meet_each(intervals, column, bounds)
            some[places] &= part
            every[places] &= whole
    return some, every & some


def _meet_each(
    intervals: Sequence[Interval], column: SchemaField, bounds: BoundsTable
) -> tuple[Flags, Flags]:
    earlier = [(each.id, str(each.type)) for each in column.earlier or ()]
    known = bounds.in_type(column.id, str(column.type), earlier)
    shape = (len(intervals), len(bounds.rows))
    if known is None:
        return np.ones(shape, np.bool_), np.zeros(shape, np.bool_)
    possible = ~(known.stated & (known.nulls + known.nans == bounds.rows))
    if not known.known.any():
        return np.broadcast_to(possible, shape), np.zeros(shape, np.bool_)
    ends = _Ends.of([each.bounds(column) for each in intervals], known)
    opens = np.array([(each.low_open, each.high_open) for each in intervals], np.bool_)
    after_low, before_high = opens[:, :1], opens[:, 1:]
    above = (ends.high > ends.begins) | (~after_low & (ends.high == ends.begins)) | ~ends.begun
    below = (ends.low < ends.stops) | (~before_high & (ends.low == ends.stops)) | ~ends.stopped
    all_above = (ends.low > ends.begins) | (~after_low & (ends.low == ends.begins)) | ~ends.begun
    all_below = (ends.high < ends.stops) | (~before_high & (ends.high == ends.stops))
    all_below |= ~ends.stopped
    whole = known.known & (known.nulls == 0) & (known.nans == 0)
    return (~known.known | (above & below)) & possible, whole & all_above & all_below


@dataclass(frozen=True, slots=True)
class _Ends:
    """The ends of intervals as a column, and the bounds of things as a row, to be compared.

    Where `begun` or `stopped` is false, an interval has no such end, and `begins` or `stops` holds
    any value.
    """

    low: NDArray[Any]
    high: NDArray[Any]
    begins: NDArray[Any]
    stops: NDArray[Any]
    begun: Flags
    stopped: Flags

    @classmethod
    def of(cls, ends: Sequence[tuple[Bound | None, Bound | None]], bounds: Bounds) -> _Ends:
        begun = np.array([begin is not None for begin, _ in ends])
        stopped = np.array([end is not None for _, end in ends])
        low, high, begins, stops = _comparable(
            bounds.low,
            bounds.high,
            bound_array([begin for begin, _ in ends]) if begun.any() else bounds.low[:1],
            bound_array([end for _, end in ends]) if stopped.any() else bounds.high[:1],
        )
        return cls(
            *(low[np.newaxis, :], high[np.newaxis, :]),
            *(begins[:, np.newaxis], stops[:, np.newaxis]),
            *(begun[:, np.newaxis], stopped[:, np.newaxis]),
        )


class _Deleted:
    """The regions of the tombstones of a table, with the epochs that deleted them."""

    def __init__(self, table: TableState) -> None:
        self.tombstones, self._schema = table.tombstones, table.schema
        self._intervals = [each for one in table.tombstones for each in one.regions]
        epochs = [one.epoch for one in table.tombstones for _ in one.regions]
        self.epochs = np.array(epochs, np.int64)
        self._made: dict[int, Region] = {}

    @classmethod
    def of(cls, table: TableState) -> _Deleted:
        """Return the regions of a table, which are prepared once for its many readers."""
        known = _prepared.get(id(table.tombstones))
        if known is not None and known._schema is table.schema:
            return known
        for old in [*_prepared][: max(0, len(_prepared) - _MOST_PREPARED)]:
            _prepared.pop(old, None)
        # The value holds the tombstones, so that no other object gets their identity.
        found = _prepared[id(table.tombstones)] = cls(table)
        return found

    def region(self, place: int) -> Region:
        """Return a region with its columns, which few readers need."""
        if place not in self._made:
            self._made[place] = region_of(self._intervals[place], self._schema)
        return self._made[place]

    @cached_property
    def by_first(self) -> Mapping[int, tuple[NDArray[np.int64], Sequence[Any]]]:
        """The places of the regions by their first column, and the ends of its intervals."""
        columns = {field.id: field for field in self._schema.fields}
        found: dict[int, list[int]] = {}
        for at, intervals in enumerate(self._intervals):
            found.setdefault(intervals[0].column, []).append(at)
        return {
            column: (
                np.array(places),
                [self._intervals[at][0].bounds(columns[column]) for at in places],
            )
            for column, places in found.items()
        }


_prepared: dict[int, _Deleted] = {}
_MOST_PREPARED = 15
"""The tables whose regions are kept for the next reader, besides that of the present one."""


def _find_deleted(found: _Found, table: TableState, rowsets: Sequence[LiveRowSet]) -> None:
    """Hide the rows of range tombstones.

    The first column of the regions is compared with all RowSets at once, because there may be
    thousands of both, and few of them meet.
    """
    deleted = _Deleted.of(table)
    cleaned = np.array([clean_epoch(each) for each in rowsets], np.int64)
    behind = np.flatnonzero(cleaned < deleted.epochs.max())
    step = max(1, _PAIRS_AT_ONCE // max(1, len(behind)))
    for column, (places, ends) in deleted.by_first.items() if len(behind) else ():
        bounds = found.bounds.columns.get(column)
        known = None if bounds is None else bounds.take(behind)
        for at in range(0, len(places), step):
            part = places[at : at + step]
            pairs = cleaned[np.newaxis, behind] < deleted.epochs[part][:, np.newaxis]
            if known is not None and known.known.any():
                pairs &= _may_meet(ends[at : at + step], known)
            met = np.flatnonzero(pairs.any(axis=1))
            regions = [deleted.region(each) for each in part[met].tolist()]
            found.hide(regions, behind, pairs[met])


def _may_meet(ends: Sequence[tuple[Bound | None, Bound | None]], bounds: Bounds) -> Flags:
    """Return for each interval and each RowSet whether bounds of the RowSet allow that they meet.

    `ends` are the ends of the intervals.
    """
    near = _Ends.of(ends, bounds)
    pairs = (near.high >= near.begins) | ~near.begun
    pairs &= (near.low <= near.stops) | ~near.stopped
    return np.asarray(pairs | ~bounds.known[np.newaxis, :], np.bool_)


def _comparable(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Return numbers in the order of the values, because numpy compares objects one by one."""
    if all(each.dtype.kind != "O" for each in arrays):
        return list(arrays)
    objects = np.concatenate([each.astype(object) for each in arrays])
    _, ranks = np.unique(objects, return_inverse=True)
    return np.split(ranks, np.cumsum([len(each) for each in arrays])[:-1])


def _bounds(table: TableState, rowsets: Sequence[LiveRowSet]) -> BoundsTable:
    """Return the bounds of the columns that regions of a table may have."""
    lives, first = table.lifetimes, set[int]()
    if lives is not None:
        first = {each for each in (lives.time_column, lives.expires_column) if each is not None}
    ids = {side.column for t in table.tombstones for each in t.regions for side in each}
    fields = [f for f in table.schema.fields if f.id in ids or f.ids[0] in first]
    wanted = {each.id for each in with_hidden(fields)}
    statistics: list[Mapping[int, ColumnStatistics]] = [
        {column: found for column, found in rowset.entry.statistics.items() if column in wanted}
        for rowset in rowsets
    ]
    return bounds_table(
        statistics,
        [rowset.entry.rows for rowset in rowsets],
        TableSchema(fields=tuple(fields)),
        lambda index: f"RowSet {rowsets[index].entry.object}",
    )
