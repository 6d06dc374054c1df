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
from colonnade.manifests.arrays.expired_regions import expired_regions, expired_values
from colonnade.manifests.arrays.region_bounds import meets, meets_each
from colonnade.manifests.model.columns.internal import WRITTEN, written_at
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.lifetimes import Lifetimes
from colonnade.manifests.model.regions import Mask, Region
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.model.statistics import WHOLE
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import View


def view_of(table: TableState, rowsets: Sequence[LiveRowSet], now_ms: int | None) -> View:
    """Return a view of those RowSets that may have visible rows at a time; None: nothing expires.

    Rows of range tombstones are hidden, and so are rows and values that have expired. Costs a few
    array operations. Raises CorruptionError for damaged statistics.
    """
    lives = table.lifetimes if now_ms is not None else None
    view = replace(View.stored(table, rowsets), now_ms=now_ms if lives else None)
    if not rowsets or not (table.range_tombstones or lives):
        return view
    dated = [_dated(each, lives) for each in rowsets] if lives else rowsets
    found = _HiddenParts(_bounds(table, dated))
    if table.range_tombstones:
        _hide_deleted(found, table, rowsets)
    if lives is not None and now_ms is not None:
        found.hide(expired_regions(table, now_ms))
        for mask in expired_values(table, now_ms):
            found.mask(mask)
    return found.shown(view, dated)


def view_of_values(table: TableState, rowsets: Sequence[LiveRowSet], now_ms: int | None) -> View:
    """Return a view in which values that have expired at a time are NULL, and no row has expired.

    Raises the errors of `view_of`.
    """
    lives = table.lifetimes
    if lives is None or not lives.columns:
        return view_of(table, rowsets, None)
    values = lives.model_copy(update={"rows_ms": None, "expires_column": None})
    return view_of(replace(table, lifetimes=values), rowsets, now_ms)


def _dated(rowset: LiveRowSet, lives: Lifetimes) -> LiveRowSet:
    """Return a RowSet that states when its rows were written, if that may decide something."""
    if rowset.entry.written_ms is not None or not lives.counts_from_write:
        return rowset
    times = (lives.since_ms, lives.since_ms)
    return replace(rowset, entry=rowset.entry.model_copy(update={"written_ms": times}))


class _HiddenParts:
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

    def shown(self, view: View, dated: Sequence[LiveRowSet]) -> View:
        """Return a view without the RowSets that are wholly hidden, and with what the rest hide."""
        shown = np.flatnonzero(~self.whole).tolist()
        return replace(
            view,
            rowsets=tuple(view.rowsets[at] for at in shown),
            hidden={dated[at].id: tuple(self._hidden[at]) for at in shown if at in self._hidden},
            masks={
                dated[at].id: tuple(_stated(each, dated[at]) for each in self._masks[at])
                for at in shown
                if at in self._masks
            },
        )


def _stated(mask: Mask, rowset: LiveRowSet) -> Mask:
    """Return a mask that says when rows were written that do not store it."""
    [column] = mask.region.columns
    times = rowset.entry.written_ms
    if column.id != WRITTEN.id or times is None:
        return mask
    region = Region(intervals=mask.region.intervals, columns=(written_at(times[0]),))
    return mask.model_copy(update={"region": region})


def _hide_deleted(found: _HiddenParts, table: TableState, rowsets: Sequence[LiveRowSet]) -> None:
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
