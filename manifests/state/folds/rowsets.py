"""Apply epochs to the RowSets of one table.

If only reading a segment could tell whether one of its RowSets is live, the fold trusts the id. It
refuses everything that the state itself contradicts.
Spec: docs/spec/checkpoint.md#root
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NoReturn

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import DeletionVectorEntry, EntrySegment, RowSetEntry
from colonnade.manifests.model.operations import Compaction, ReplaceColumn
from colonnade.manifests.state.amendments import NOTHING_LATER
from colonnade.manifests.state.partition_layout import check_partition
from colonnade.manifests.state.replaced_columns import replaceable, with_replacement
from colonnade.manifests.state.rowset_ids import COPY, ROWSET_IDS
from colonnade.manifests.state.snapshot import EntrySegmentRef, LiveRowSet, RowSets, TableState
from colonnade.manifests.state.sort_order import check_order

_by_id = attrgetter("id")


class RowSetsFold:
    """A mutable copy of a table's RowSets; `freeze` turns it into a state.

    `table` is the rest of the table's state.
    """

    def __init__(self, table: TableState) -> None:
        self.table = table
        self.changed_epoch = table.changed_epoch
        self._next_id = table.next_rowset_id
        rowsets = table.rowsets
        self._segments = list(rowsets.segments)
        self._added = list(rowsets.added)
        self._dropped = list(rowsets.dropped)
        self._amended = dict(rowsets.amended)
        self._rowset_count = rowsets.rowset_count
        self._row_count = rowsets.row_count
        self._byte_count = rowsets.byte_count

    def freeze(self) -> TableState:
        """Return the table with these RowSets."""
        return replace(
            self.table,
            changed_epoch=self.changed_epoch,
            next_rowset_id=self._next_id,
            rowsets=RowSets(
                tuple(self._segments),
                tuple(self._added),
                tuple(self._dropped),
                self._amended,
                self._rowset_count,
                self._row_count,
                self._byte_count,
            ),
        )

    def add(
        self, epoch: int, entry: RowSetEntry, vector: DeletionVectorEntry | None = None
    ) -> None:
        """Add a RowSet under the next id. `vector` deletes rows of it from the beginning.

        It deletes all of them where the RowSet has tombstones.
        """
        if (entry.place == "inline") != (entry.data is not None):
            self._refuse(
                f"adds RowSet {entry.object} as {entry.place}, but its data contradicts that"
            )
        if vector and (vector.cardinality > entry.rows or vector.predecessor is not None):
            self._refuse(f"adds RowSet {entry.object} with a deletion vector that is not its first")
        try:
            check_partition(self.table, entry.partition_layout_id, entry.partition)
            check_order(self.table, entry.sort_order_id)
        except CorruptionError as error:
            self._refuse(f"adds RowSet {entry.object}: {error.message}")
        rowset = LiveRowSet.of(self._take_ids(1), epoch, entry, vector)
        self._added.append(rowset)
        self._count(1, rowset.row_count, rowset.byte_count)

    def compact(self, epoch: int, operation: Compaction) -> None:
        """Replace RowSets by new ones that hold the same rows."""
        ids = [each.rowset for each in operation.inputs]
        read = sum(i.rows - (i.vector.cardinality if i.vector else 0) for i in operation.inputs)
        if not ids or len(set(ids)) < len(ids):
            self._refuse("compacts no RowSets, or one of them twice")
        if sum(each.rowset.rows for each in operation.outputs) != read:
            self._refuse("compacts RowSets into another number of rows")
        for rowset in ids:
            self._drop_range(rowset, rowset)
        for output in operation.outputs:
            if output.is_empty:
                self._take_ids(1)
            else:
                self.add(epoch, output.rowset, output.vector)
        self._forget_if_empty()

    def add_segment(self, epoch: int, segment: EntrySegment) -> None:
        """Add the RowSets of a segment under the next ids."""
        first = self._take_ids(segment.rowset_count)
        ref = EntrySegmentRef(segment, first, first + segment.rowset_count - 1, epoch)
        self._segments.append(ref)
        self._count(segment.rowset_count, ref.live_row_count, segment.byte_count)

    def drop(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Remove the RowSets in these inclusive id ranges. All must be live."""
        previous = -1
        for first, last in ranges:
            if not previous < first <= last:
                self._refuse("drops RowSets by ranges of ids that do not ascend")
            previous = last
            self._drop_range(first, last)
        self._forget_if_empty()

    def set_vector(self, rowset: int, vector: DeletionVectorEntry) -> None:
        """Replace the deletion vector of a live RowSet."""
        index = bisect_left(self._added, rowset, key=_by_id)
        if index < len(self._added) and self._added[index].id == rowset:
            found = self._added[index]
            self._check_vector(rowset, vector, found.vector)
            if vector.cardinality > found.entry.rows:
                self._refuse(f"deletes more rows than RowSet {rowset} has")
            self._added[index] = after = found.with_vector(vector)
            self._count(0, after.row_count - found.row_count, 0)
        else:
            deleted = self._set_segment_vector(rowset, vector)
            self._count(0, None if deleted is None else -deleted, 0)

    def replace_column(self, operation: ReplaceColumn) -> None:
        """Replace columns of a live RowSet."""
        rowset, columns = operation.rowset, set(operation.replacement.columns)
        if not columns <= replaceable(self.table) or not columns.issuperset(operation.statistics):
            self._refuse(f"replaces columns {sorted(columns)}, which is not possible")
        if (operation.replacement.place == "inline") != (operation.replacement.data is not None):
            self._refuse(
                f"replaces a column of RowSet {rowset}, but its place and its data do not match"
            )
        index = bisect_left(self._added, rowset, key=_by_id)
        if index < len(self._added) and self._added[index].id == rowset:
            found = self._added[index]
            self._check_replaced(operation, found.holders(columns))
            self._added[index] = after = with_replacement(found, operation)
            self._count(0, 0, after.byte_count - found.byte_count)
            return
        if self._in_dropped(rowset, rowset) or not self._spans(rowset, rowset):
            self._refuse(f"replaces a column of RowSet {rowset}, which does not exist")
        later = self._amended.get(rowset, NOTHING_LATER)
        self._amended[rowset] = later.with_replacement(operation)
        self._count(0, 0, None if operation.predecessors else operation.replacement.bytes)

    def _check_replaced(self, operation: ReplaceColumn, current: Sequence[str]) -> None:
        if set(operation.predecessors or ()) != set(current):
            self._refuse(
                f"replaces columns of RowSet {operation.rowset} that are in"
                f" {list(operation.predecessors or ())}, but they are in {list(current)}"
            )

    def _set_segment_vector(self, rowset: int, vector: DeletionVectorEntry) -> int | None:
        """Return the number of newly deleted rows, or None if only a segment knows it."""
        if self._in_dropped(rowset, rowset) or not self._spans(rowset, rowset):
            self._refuse(f"deletes rows of RowSet {rowset}, which does not exist")
        later = self._amended.get(rowset, NOTHING_LATER)
        current = later.vector
        if current:
            self._check_vector(rowset, vector, current)
        self._amended[rowset] = later.with_vector(vector)
        if current:
            return vector.cardinality - current.cardinality
        return vector.cardinality if vector.predecessor is None else None

    def _check_vector(
        self, rowset: int, vector: DeletionVectorEntry, current: DeletionVectorEntry | None
    ) -> None:
        expected = current.object if current else None
        if vector.predecessor != expected:
            self._refuse(
                f"replaces deletion vector {vector.predecessor} of RowSet {rowset}, whose vector"
                f" is {expected}"
            )
        if current and vector.cardinality < current.cardinality:
            self._refuse(f"restores deleted rows of RowSet {rowset}")

    def _drop_range(self, first: int, last: int) -> None:
        low = bisect_left(self._added, first, key=_by_id)
        high = bisect_right(self._added, last, key=_by_id)
        for rowset in self._added[low:high]:
            self._count(-1, -rowset.row_count, -rowset.byte_count)
        del self._added[low:high]
        stored = last - first + 1 - (high - low)
        if stored:
            if self._in_dropped(first, last) or self._spans(first, last) < stored:
                self._refuse(f"drops RowSets {first} to {last}, which are not all live")
            self._drop_stored(first, last, stored)

    def _drop_stored(self, first: int, last: int, count: int) -> None:
        """Drop `count` RowSets that segments hold."""
        dropped = _with_range(self._dropped, first, last)
        covered = [s for s in self._segments if _covered(dropped, s)]
        self._count(-count, 0, 0)
        whole = not any(_overlap(r, s) for r in self._dropped for s in covered)
        if whole and sum(s.segment.rowset_count for s in covered) == count:
            for segment in covered:
                self._subtract(segment)
        else:
            self._count(0, None, None)
        if covered:
            self._segments = [s for s in self._segments if not _covered(dropped, s)]
            # A range without any remaining segment means nothing any more.
            dropped = [r for r in dropped if any(_overlap(r, s) for s in self._segments)]
        self._dropped = dropped
        if self._amended:
            self._amended = {k: v for k, v in self._amended.items() if not first <= k <= last}

    def _subtract(self, segment: EntrySegmentRef) -> None:
        """Subtract the counts of a segment, whose RowSets were all live, before it is removed."""
        later = [each for k, each in self._amended.items() if segment.holds(k)]
        rows = None if any(each.vector for each in later) else -segment.live_row_count
        wider = any(each.replaced for each in later)
        self._count(0, rows, None if wider else -segment.segment.byte_count)

    def _forget_if_empty(self) -> None:
        if not self._rowset_count:
            self._segments, self._dropped, self._amended = [], [], {}
            self._row_count = self._byte_count = 0

    def _in_dropped(self, first: int, last: int) -> bool:
        index = bisect_left(self._dropped, (first, -1))
        before = index > 0 and self._dropped[index - 1][1] >= first
        return before or (index < len(self._dropped) and self._dropped[index][0] <= last)

    def _spans(self, first: int, last: int) -> int:
        """Return the most ids of a range that segments can hold."""
        return sum(
            max(0, min(last, s.last_id) - max(first, s.first_id) + 1) for s in self._segments
        )

    def _take_ids(self, count: int) -> int:
        first = self._next_id
        self._next_id += count
        if self._next_id > ROWSET_IDS:
            self._refuse(f"needs {count} RowSet ids of {ROWSET_IDS - first} left; {COPY}")
        return first

    def _count(self, rowsets: int, rows: int | None, stored_bytes: int | None) -> None:
        self._rowset_count += rowsets
        self._row_count = _plus(self._row_count, rows)
        self._byte_count = _plus(self._byte_count, stored_bytes)

    def _refuse(self, what: str) -> NoReturn:
        raise CorruptionError(f"Epoch {self.changed_epoch}, table {self.table.name!r}: it {what}.")


def _plus(total: int | None, change: int | None) -> int | None:
    return None if total is None or change is None else total + change


def _covered(ranges: Sequence[tuple[int, int]], segment: EntrySegmentRef) -> bool:
    index = bisect_right(ranges, (segment.first_id, ROWSET_IDS)) - 1
    return (
        index >= 0 and ranges[index][0] <= segment.first_id <= segment.last_id <= ranges[index][1]
    )


def _overlap(ids: tuple[int, int], segment: EntrySegmentRef) -> bool:
    return ids[0] <= segment.last_id and segment.first_id <= ids[1]


def _with_range(ranges: Sequence[tuple[int, int]], first: int, last: int) -> list[tuple[int, int]]:
    """Insert a range into ascending ranges that do not overlap it. Adjacent ranges are merged."""
    index = bisect_left(ranges, (first, last))
    low, high = index, index
    if index and ranges[index - 1][1] == first - 1:
        low, first = index - 1, ranges[index - 1][0]
    if index < len(ranges) and ranges[index][0] == last + 1:
        high, last = index + 1, ranges[index][1]
    return [*ranges[:low], (first, last), *ranges[high:]]
