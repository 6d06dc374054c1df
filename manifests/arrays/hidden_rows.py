"""Which rows of RowSets a table hides: those of range tombstones, and those that have expired.

The bounds in the log decide most of it. A RowSet that lies wholly inside a region has no row left.
Another one that may meet a region takes the region with it, and its reader finds the rows. Pure.
Spec: docs/spec/lifetimes.md#readers
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import Bounds, BoundsTable, bounds_table
from colonnade.manifests.arrays.expired import expired_regions, expired_values
from colonnade.manifests.arrays.region_bounds import meets, meets_each
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.hidden_columns import WRITTEN, written_at
from colonnade.manifests.model.regions import Mask, Region
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.model.statistics import WHOLE
from colonnade.manifests.state.snapshot import LiveRowSet, TableState


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
    if not rowsets or not (table.range_tombstones or lives):
        return list(rowsets)
    shown = list(rowsets)
    if lives is not None and lives.counts_from_write:
        shown = [_dated(each, lives.since_ms) for each in shown]
    found = _Found(_bounds(table, shown))
    if table.range_tombstones:
        _hide_deleted(found, table, shown)
    if lives is not None and now is not None:
        found.hide(expired_regions(table, now))
        for mask in expired_values(table, now):
            found.mask(mask)
    return [found.amended(at, rowset) for at, rowset in enumerate(shown) if not found.whole[at]]


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
    return visible(replace(table, range_tombstones=(), lifetimes=values), rowsets, now_ms)


def _dated(rowset: LiveRowSet, since_ms: int) -> LiveRowSet:
    """Return a RowSet that states when its rows were written."""
    if rowset.entry.written_ms is not None:
        return rowset
    entry = rowset.entry.model_copy(update={"written_ms": (since_ms, since_ms)})
    return replace(rowset, entry=entry)


class _Found:
    """Which of some RowSets are wholly hidden, and the regions that each of the rest hides."""

    def __init__(self, bounds: BoundsTable) -> None:
        self.bounds = bounds
        self.whole = np.zeros(len(bounds.rows), np.bool_)
        self._hidden: dict[int, list[Region]] = {}
        self._masks: dict[int, list[Mask]] = {}

    def hide(self, regions: Sequence[Region], older: NDArray[np.bool_] | bool = True) -> None:
        """Hide the rows of regions, in the RowSets that are `older` alone."""
        some, every = (each & older for each in meets_each(regions, self.bounds))
        self.whole |= every.any(axis=0)
        for region, at in np.argwhere(some).tolist():
            self._hidden.setdefault(at, []).append(regions[region])

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
    times = rowset.entry.written_ms
    if column.id != WRITTEN.id or times is None:
        return mask
    region = Region(intervals=mask.region.intervals, columns=(written_at(times[0]),))
    return mask.model_copy(update={"region": region})


def _hide_deleted(found: _Found, table: TableState, rowsets: Sequence[LiveRowSet]) -> None:
    """Hide the rows of range tombstones in the RowSets that have not met them."""
    cleaned = np.array([each.clean_epoch for each in rowsets], np.int64)
    epochs = np.array([one.epoch for one in table.range_tombstones for _ in one.regions], np.int64)
    found.hide(table.deleted_regions, cleaned < epochs[:, np.newaxis])


def _bounds(table: TableState, rowsets: Sequence[LiveRowSet]) -> BoundsTable:
    """Return the bounds of the columns that regions of a table may have."""
    lives, first = table.lifetimes, set[int]()
    if lives is not None:
        first = {each for each in (lives.time_column, lives.expires_column) if each is not None}
    ids = {side.column for t in table.range_tombstones for each in t.regions for side in each}
    fields = [f for f in table.schema.fields if f.id in ids or f.id in first]
    wanted = {each.id for each in fields}
    statistics: list[Mapping[int, ColumnStatistics]] = [
        {column: found for column, found in rowset.entry.statistics.items() if column in wanted}
        for rowset in rowsets
    ]
    found = bounds_table(
        statistics,
        [rowset.entry.rows for rowset in rowsets],
        TableSchema(fields=tuple(fields)),
        lambda index: f"RowSet {rowsets[index].entry.object}",
    )
    return replace(found, columns={**found.columns, WRITTEN.id: _times(rowsets)})


def _times(rowsets: Sequence[LiveRowSet]) -> Bounds:
    """Return the bounds of the times at which rows were written."""
    times = [rowset.entry.written_ms for rowset in rowsets]
    low, high = (np.array([t[end] * 1000 if t else 0 for t in times], np.int64) for end in (0, 1))
    none = np.zeros(len(times), np.int64)
    known = np.array([t is not None for t in times], np.bool_)
    return Bounds(WHOLE, low, high, known, none, none)
