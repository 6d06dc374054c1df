"""Read the live RowSets of a table at one state: entry segments, and what came after them.

Spec: docs/spec/checkpoint.md
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from dataclasses import replace
from functools import partial

import numpy as np

from colonnade.manifests.arrays.bounds import BoundsFilter, BoundsTable, bounds_table
from colonnade.manifests.arrays.entry_block import AddedEntries, Entries
from colonnade.manifests.arrays.entry_table import EntryTable, Which
from colonnade.manifests.arrays.hidden_rows import view_of
from colonnade.manifests.checkpoint.reader import UNUSABLE, read_entry_segment
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.reading.following import LogFollower
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import EntrySegmentRef, LiveRowSet, TableState
from colonnade.manifests.state.view import Statics, View


class LiveRowSets:
    """Reads RowSets of the database whose log `follower` follows.

    Methods raise as those of `LogReader`.
    """

    def __init__(self, follower: LogFollower) -> None:
        self._follower = follower

    def read(
        self, table: TableState, may_match: BoundsFilter | None = None, which: Which = "live"
    ) -> list[LiveRowSet]:
        """Return the live RowSets of a table that `may_match` selects (None: all), ordered by id.

        RowSets of tombstones have no live rows, and are left out unless `which` says otherwise.

        `may_match` is applied to segments first, and only selected ones are read: one GET each,
        side by side. Reads nothing if the table has no segments. A million RowSets take seconds to
        make into objects; use `read_entries` for them.
        """
        return self.read_entries(table, may_match, which=which).to_list()

    def view(self, table: TableState, may_match: BoundsFilter | None, now_ms: int | None) -> View:
        """Return what a reader sees at a time of the RowSets that `may_match` selects (`view_of`).

        The time is in ms since 1970 UTC; None shows what has expired. Statements have their time
        in a `StatementLog`. Costs as `read`, and as `with_lookups`.
        """
        rowsets = self.read(table, may_match)
        return self.with_lookups(table, view_of(table, rowsets, now_ms))

    def with_lookups(self, table: TableState, view: View) -> View:
        """Return a view of a table that says where the static values of its rows are.

        Reads the RowSets of the table of static values, if the table has static columns.
        """
        statics = table.statics
        if not view.rowsets or statics is None or not static_fields(table.schema):
            return view
        key = key_fields(table.partition_key, table.schema)
        return replace(view, statics=Statics(key, self.view(statics, None, None)))

    def find(self, table: TableState, ids: Collection[int]) -> dict[int, LiveRowSet]:
        """Return the live RowSets among these ids, ordered by id.

        Reads the segments that may contain them. Without such a segment, it costs nothing that
        grows with the number of RowSets.
        """
        found = {each.id: each for number in ids if (each := _added(table, number)) is not None}
        left = [each for each in ids if each not in found]
        if _holding(table.rowsets.segments, left):
            live = self.read_entries(table, ids=left, which="all")
            wanted = np.flatnonzero(np.isin(live.ids, np.array(left, np.int64)))
            found.update((each.id, each) for each in live.at(wanted))
        return dict(sorted(found.items()))

    def read_entries(
        self,
        table: TableState,
        may_match: BoundsFilter | None = None,
        ids: Collection[int] | None = None,
        which: Which = "live",
    ) -> EntryTable:
        """Return the RowSets of `read` as arrays; with `ids`, at least the RowSets with
        these ids.
        """
        try:
            return self._read_entries(table, may_match, ids, which)
        except UNUSABLE as error:
            again = self._read_again(table, error)
            if again.rowsets.segments == table.rowsets.segments:
                raise
            return self._read_entries(again, may_match, ids, which)

    def _read_again(self, table: TableState, error: ColonnadeError) -> TableState:
        """Return a table whose segments cannot be read, from the log, or raise the error.

        Above the floor a segment is only a cache. The log has the same RowSets without it.
        """
        previews, follower = table.previews, self._follower
        # The slot of a preview may have the epoch of a concurrent writer.
        target = previews[0].epoch - 1 if previews else table.changed_epoch
        state = follower.advance(follower.read_floor(), target)
        if previews and state.transaction != previews[0].previous:
            raise error if state.epoch > target else follower.replaced()
        for each in previews:
            state = replace(state, tables=apply_epoch(state, each).tables)
        again = state.tables.get(table.id)
        if again is None or again.changed_epoch != table.changed_epoch:
            raise error
        return again

    def _read_entries(
        self,
        table: TableState,
        may_match: BoundsFilter | None,
        ids: Collection[int] | None,
        which: Which,
    ) -> EntryTable:
        rowsets = table.rowsets
        refs = rowsets.segments
        if ids is not None:
            refs = _holding(refs, ids)
        if may_match is not None and refs:
            wanted = may_match(_segment_bounds(table))
            replaced = [rowset for rowset, later in rowsets.amended.items() if later.replaced]
            refs = tuple(
                ref
                for ref, each in zip(refs, wanted, strict=True)
                if each or any(map(ref.holds, replaced))
            )
        if which == "tombstones":
            # Only a deletion vector makes them.
            later = rowsets.amended
            refs = tuple(r for r in refs if r.segment.deleted_count or any(map(r.holds, later)))
        store, early = self._follower.store, self._follower.early
        reads = [
            partial(read_entry_segment, store, table, ref, early.take(ref.segment)) for ref in refs
        ]
        blocks = store.together(reads)
        parts: list[Entries] = [b.updated(rowsets.dropped, rowsets.amended) for b in blocks]
        if rowsets.added:
            parts.append(AddedEntries(table))
        return EntryTable(parts, may_match, which)


def _added(table: TableState, number: int) -> LiveRowSet | None:
    """Return the RowSet with an id among those that came after the segments."""
    added = table.rowsets.added
    place = bisect_left(added, number, key=lambda each: each.id)
    return added[place] if place < len(added) and added[place].id == number else None


def _holding(
    refs: tuple[EntrySegmentRef, ...], ids: Collection[int]
) -> tuple[EntrySegmentRef, ...]:
    """Return the segments that may contain RowSets with these ids."""
    return tuple(ref for ref in refs if any(ref.first_id <= each <= ref.last_id for each in ids))


def _segment_bounds(table: TableState) -> BoundsTable:
    segments = [ref.segment for ref in table.rowsets.segments]
    return bounds_table(
        [segment.statistics for segment in segments],
        [segment.row_count for segment in segments],
        table.schema,
        lambda index: f"segment {segments[index].object} of table {table.name!r}",
    )
