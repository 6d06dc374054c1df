"""Where the rows of a table's RowSets were before the first epoch of a span.

    epoch 5   the state before: row 0 of RowSet 3
    epoch 6   UPDATE        row 0 of RowSet 3 became row 0 of RowSet 8
    epoch 7   compaction    row 0 of RowSet 8 became row 4 of RowSet 9
              row 4 of RowSet 9 was row 0 of RowSet 3, and a statement has changed it since

Spec: docs/spec/feed.md#where-rows-were
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.arrays.origins import NEW, RowOrigins, Rows, by_rowset, origins_of
from colonnade.manifests.commit.rebase.compaction import Vectors
from colonnade.manifests.commit.rebase.targets import all_rows, ids_of
from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.feed.moves import Moved, moves_of
from colonnade.manifests.feed.steps import Step, read_steps
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.operations import Compaction, DropRowSet, ReplaceColumn, Restore
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot

_NO_ROWS = FrozenBitMap()
_ANY_ROWS = 2**32


@dataclass(frozen=True, slots=True)
class Origins:
    """Where each row of a RowSet was before a span, and the rows that were changed since then.

    Rows that a statement wrote anew or gave other values may be `changed`. `NEW` rows never are.
    """

    where: RowOrigins
    changed: FrozenBitMap


class Lineage:
    """Follows the rows of a table from the state before a span, epoch by epoch.

    Holds the coded origins of the live RowSets that were added since. Decodes one epoch at a time.
    """

    def __init__(
        self, reader: LogReader, table: TableId, base: Snapshot, *, fills: bool = False
    ) -> None:
        """`base` is the state before the span. The table need not be in it.

        Rows that got a value by a fill count as changed if `fills`.
        """
        self._reader, self._table, self._base, self._fills = reader, table, base, fills
        before = base.tables.get(table)
        self._first = 0 if before is None else before.next_rowset_id
        self._known: dict[int, Origins] = {}
        self._spans: dict[tuple[int, int], tuple[Lineage, list[LiveRowSet]]] = {}
        self._new_values: dict[int, FrozenBitMap] = {}

    def is_new(self, rowset: int) -> bool:
        """Return whether the span has added a RowSet."""
        return rowset >= self._first

    def of(self, rowset: int) -> Origins | None:
        """Return where the rows of an added RowSet were; None if all of them are new.

        Requires that the RowSet is live after the last epoch that was followed.
        """
        return self._known.get(rowset)

    def new_values(self, rowset: int) -> FrozenBitMap:
        """Return the rows of a live RowSet in whose place a statement has put other values."""
        return self._new_values.get(rowset, _NO_ROWS)

    def follow(self, step: Step) -> None:
        """Go on with the next epoch that changed the table. Raises CorruptionError, StoreError."""
        vectors, dropped = Vectors(self._reader.store), set[int]()
        restored: Restore | None = None
        for operation, _ in step.operations():
            if isinstance(operation, ReplaceColumn) and (self._fills or not operation.fill):
                rows = vectors.changed(operation, _ANY_ROWS)
                self._new_values[operation.rowset] = self.new_values(operation.rowset) | rows
            elif isinstance(operation, DropRowSet):
                dropped.update(ids_of(operation.rowsets))
            elif isinstance(operation, Compaction):
                dropped.update(each.rowset for each in operation.inputs)
            elif isinstance(operation, Restore):
                restored = operation
        if restored is None:
            moves = moves_of(self._reader, step)
            found = {rowset: self._composed(moved) for rowset, moved in moves.items()}
        else:
            found = dict(self._restored(step, restored.epoch))
        for rowset in dropped:
            self._known.pop(rowset, None)
            self._new_values.pop(rowset, None)
        self._known.update(found)

    def _composed(self, moved: Moved) -> Origins:
        """Return where rows were before the span, by where they were right before an epoch."""
        numbers = moved.numbers.copy()
        changed = np.full(len(numbers), moved.rewritten)
        for earlier, at, rows in by_rowset(moved.numbers):
            changed[at] |= _among(rows, self.new_values(earlier))
            if self.is_new(earlier):
                theirs = self.of(earlier)
                numbers[at] = NEW if theirs is None else theirs.where.array()[rows]
                changed[at] |= False if theirs is None else _among(rows, theirs.changed)
        changed &= numbers != NEW
        return Origins(RowOrigins.of(numbers), FrozenBitMap(np.flatnonzero(changed)))

    def _restored(self, step: Step, epoch: int) -> Iterator[tuple[int, Origins]]:
        """Yield where the rows of the RowSets were that a restore adds.

        A row that was live before the span, in a RowSet of the same object, is that row. The other
        rows are looked for in the states between the restored epoch and the one before the span. If
        retention has removed these, they count as new.
        """
        before = self._base.tables.get(self._table)
        if before is None:
            return
        read, vectors = self._reader.rowsets.read, Vectors(self._reader.store)
        here = {each.entry.object: each for each in read(before, which="all")}
        found: dict[str, Rows] = {}
        restored = [each for each in read(step.later, which="all") if each.epoch == step.number]
        lost = dict[str, FrozenBitMap]()
        for each in restored:
            name, same = each.entry.object, here.get(each.entry.object)
            numbers = RowOrigins(each.entry.rows).array()
            rows = all_rows(each.entry.rows) - vectors.rows(self._table, each.vector)
            if same is not None:
                live = all_rows(each.entry.rows) - vectors.rows(self._table, same.vector)
                at = np.asarray(live.to_array(), np.int64)
                numbers[at] = origins_of(same.id, at)
                rows -= live
            found[name] = numbers
            if rows:
                lost[name] = rows
        followed = self._look(epoch, {name: len(found[name]) for name in lost}) if lost else {}
        for each in restored:
            name, same = each.entry.object, here.get(each.entry.object)
            differ = BitMap()
            if same is None or same.replacements != each.replacements:
                differ |= all_rows(each.entry.rows)
            if name in followed:
                at = np.asarray(lost[name].to_array(), np.int64)
                found[name][at] = followed[name][at]
                differ |= lost[name]
            changed = FrozenBitMap(differ & BitMap(np.flatnonzero(found[name] != NEW)))
            yield each.id, Origins(RowOrigins.of(found[name]), changed)

    def _look(self, epoch: int, rows: Mapping[str, int]) -> Mapping[str, Rows]:
        """Return where rows of objects at a restored epoch were before the span.

        `rows` has the number of rows of each object.
        """
        try:
            if epoch < self._base.epoch:
                return self._since_then(epoch, rows)
            lineage, then = self._followed(self._base, epoch)
        except NotFoundError:
            return {}
        found: dict[str, Rows] = {}
        for each in then:
            origins = lineage.of(each.id) if each.entry.object in rows else None
            if origins is not None:
                found[each.entry.object] = origins.where.array()
        return found

    def _since_then(self, epoch: int, rows: Mapping[str, int]) -> Mapping[str, Rows]:
        """Return where rows of objects at an epoch before the span were right before the span."""
        start = self._reader.read_at(epoch)
        lineage, now = self._followed(start, self._base.epoch)
        table = start.tables.get(self._table)
        rowsets = [] if table is None else self._reader.rowsets.read(table, which="all")
        names = {each.id: each.entry.object for each in rowsets if each.entry.object in rows}
        found = {name: RowOrigins(rows[name]).array() for name in names.values()}
        for each in now:
            origins = lineage.of(each.id) if lineage.is_new(each.id) else None
            for rowset, at, rows_then in by_rowset(origins.where.array()) if origins else ():
                if rowset in names:
                    found[names[rowset]][rows_then] = origins_of(each.id, at)
        return found

    def _followed(self, start: Snapshot, last: int) -> tuple[Lineage, list[LiveRowSet]]:
        """Return the lineage from a state to an epoch, and the RowSets of the table at its end.

        Each span is followed once: restores within it ask for the shorter ones again.
        """
        known = self._spans.get((start.epoch, last))
        if known is not None:
            return known
        lineage, table = Lineage(self._reader, self._table, start), start.tables.get(self._table)
        lineage._spans = self._spans
        for step in read_steps(self._reader, self._table, start, last):
            lineage.follow(step)
            table = step.later
        rowsets = [] if table is None else self._reader.rowsets.read(table, which="all")
        self._spans[start.epoch, last] = lineage, rowsets
        return lineage, rowsets


def _among(rows: Rows, some: FrozenBitMap) -> NDArray[np.bool_]:
    if not some:
        return np.zeros(len(rows), np.bool_)
    return np.isin(rows, np.asarray((some & FrozenBitMap(rows)).to_array(), np.int64))
