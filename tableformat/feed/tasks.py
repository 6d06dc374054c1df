"""How tasks read a difference: by scans whose deletion vectors leave only the wanted rows.

    deleted    a scan of the view before the span
    inserted   a scan of the view after it
    updated    a scan of each view, and where each row of the first stands in the second

Planning reads no data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.arrays.origins import NEW, Rows, by_rowset
from colonnade.manifests.model.deletion_vector import DeletionVector, hold_deletion_vector
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.tableformat.feed.changes import Feed
from colonnade.tableformat.feed.difference import Difference, Updated
from colonnade.tableformat.feed.images import AFTER, BEFORE, DELETE, INSERT, compared_columns
from colonnade.tableformat.feed.shown_types import refuse_other_types
from colonnade.tableformat.predicate import Predicate
from colonnade.tableformat.scan.plan import Ranges, ScanPlan, cut_rows, plan_scan
from colonnade.tableformat.scan.selection import judge

MOST_PAIRS = 1 << 16
"""A task holds at most this many rows before updates."""

MOST_PAIR_BYTES = 16 * 2**20
"""A task holds rows before updates of about this many stored bytes at most, but at least one."""

_VECTOR_JOB = "0" * 16
"""Stands for the job of a vector that is in a plan only."""


@dataclass(frozen=True, slots=True)
class RowsTask:
    """Rows with one kind of change: all that a scan returns."""

    change: str
    plan: ScanPlan


@dataclass(frozen=True, slots=True)
class UpdatesTask:
    """Rows before and after updates, as many of each.

    Row i of the scan `before` became row `order[i]` of the scan `after`; None as the order: row i.
    A pair whose `compared` columns are all equal is no update.
    """

    before: ScanPlan
    after: ScanPlan
    compared: tuple[str, ...]
    order: NDArray[np.int32] | None


FeedTask = RowsTask | UpdatesTask


def scans_of(task: FeedTask) -> tuple[ScanPlan, ...]:
    """Return the scans of a task."""
    return (task.plan,) if isinstance(task, RowsTask) else (task.before, task.after)


def tasks_of(feed: Feed, found: Difference, columns: Sequence[str]) -> Iterator[FeedTask]:
    """Yield tasks that read `columns` of the table for the changes of a difference.

    Rows that do not meet the feed's condition may be left out. A task of inserted or deleted rows
    may be divided further. Costs no I/O. Raises InvalidInputError if the state before or after has
    other types than the feed shows, because tasks do not convert values.
    """
    where, kinds = feed.of_table(), feed.kinds(found.last)
    for change, view, rows in (
        (DELETE, found.before, found.deleted),
        (INSERT, found.after, found.inserted),
    ):
        plan = _scan(found, view, rows, columns, where) if change in kinds and rows else None
        if plan is not None and plan.view.rowsets:
            yield RowsTask(change, plan)
    if BEFORE in kinds or AFTER in kinds:
        for updated in found.updated:
            yield from _updates(found, updated, columns)


def _updates(found: Difference, updated: Updated, columns: Sequence[str]) -> Iterator[UpdatesTask]:
    compared = compared_columns(found, updated)
    if not compared:
        return
    read = [*dict.fromkeys((*columns, *compared))]
    numbers = updated.origins.array()
    rows = np.flatnonzero(numbers != NEW)
    rowset = updated.rowset
    row_bytes = max(1, rowset.byte_count // rowset.entry.rows)
    count = min(MOST_PAIRS, max(1, MOST_PAIR_BYTES // row_bytes))
    for first in range(0, len(rows), count):
        new = rows[first : first + count]
        old = numbers[new]
        order = np.argsort(old).astype(np.int32)
        before = {each: FrozenBitMap(there) for each, _, there in by_rowset(old)}
        in_order = bool((order == np.arange(len(order))).all())
        yield UpdatesTask(
            _scan(found, found.before, before, read, None),
            _scan(found, found.after, {rowset.id: FrozenBitMap(new)}, read, None),
            tuple(compared),
            None if in_order else order,
        )


def _scan(
    found: Difference,
    view: View,
    rows: Mapping[int, FrozenBitMap],
    columns: Sequence[str],
    where: Predicate | None,
) -> ScanPlan:
    """Return the scan of some rows of a view, which all are visible in it."""
    refuse_other_types(view, found.shown.select(columns))
    chosen = [each for each in view.rowsets if each.id in rows]
    if where is not None:
        may, _ = judge(view.of(chosen), where)
        chosen = [each for each, kept in zip(chosen, may, strict=True) if kept]
    ranges = {each.id: _stretches(each, rows[each.id]) for each in chosen}
    left = [_with_rows(each, rows[each.id], ranges[each.id]) for each in chosen]
    # The vectors leave no hidden row.
    plan = plan_scan(replace(view.of(left), hidden={}), view.epoch, columns, where)
    some = {each.id: ranges[each.id] for each in left if not _is_whole(each, ranges[each.id])}
    return replace(plan, ranges=some)


def _is_whole(rowset: LiveRowSet, ranges: Ranges) -> bool:
    return ranges == ((0, rowset.entry.rows),)


def _stretches(rowset: LiveRowSet, rows: FrozenBitMap) -> Ranges:
    """Return the ranges between cuts that have some of the rows. Adjacent ones are one range."""
    cuts = np.array(cut_rows(rowset.entry))
    numbers: Rows = np.asarray(rows.to_array(), np.int64)
    there = np.unique(np.searchsorted(cuts, numbers, side="right") - 1)
    gaps = np.flatnonzero(np.diff(there) > 1) + 1
    bounds = pairwise((0, *gaps.tolist(), len(there)))
    return tuple((int(cuts[there[low]]), int(cuts[there[high - 1] + 1])) for low, high in bounds)


def _with_rows(rowset: LiveRowSet, rows: FrozenBitMap, ranges: Ranges) -> LiveRowSet:
    """Return a RowSet whose vector leaves only some rows of some ranges."""
    others = BitMap()
    for first, end in ranges:
        others.add_range(first, end)
    others -= rows
    vector = None
    if others:
        vector = hold_deletion_vector(_VECTOR_JOB, DeletionVector(FrozenBitMap(others)))
    return replace(rowset, vector=vector)
