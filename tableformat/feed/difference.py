"""Which rows of a table differ between the states before and after a span of epochs.

    before    RowSet 3: rows 0, 1, 2
    after     RowSet 3: row 0; RowSet 8: rows 0, 1
    deleted   RowSet 3: row 1
    updated   RowSet 8: row 0, which was row 2 of RowSet 3
    inserted  RowSet 8: row 1

Row 0 of RowSet 3 is in both states, so it does not differ. A row that a compaction moved does not
differ either. Spec: docs/spec/feed.md#the-change-of-a-span
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.arrays.bounds import BoundsTable
from colonnade.manifests.arrays.hidden_rows import view_of
from colonnade.manifests.arrays.origins import NEW, RowOrigins, Rows, by_rowset, origins_of
from colonnade.manifests.arrays.region_bounds import meets_each
from colonnade.manifests.commit.rebase.targets import all_rows
from colonnade.manifests.feed.lineage import Lineage
from colonnade.manifests.feed.steps import Step
from colonnade.manifests.feed.touched_rowsets import Touched
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.primary_key import PrimaryKey, key_fields
from colonnade.manifests.model.range_tombstones import region_of
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import View
from colonnade.tableformat.feed.shown_types import read_held
from colonnade.tableformat.keys.find import stored_rows
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.scan.other_columns import with_columns_of
from colonnade.tableformat.scan.selection import Selection, deleted_rows

_NO_ROWS = FrozenBitMap()


@dataclass(frozen=True, slots=True)
class Updated:
    """Rows of a RowSet after a span, and which row before it each of them was.

    `origins` has the number of that row for each row of the RowSet, and `NEW` for the rest. The
    values of the rows may still be equal. `columns` are the ids of the columns that may differ;
    None: all.
    """

    rowset: LiveRowSet
    origins: RowOrigins
    columns: frozenset[int] | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The rows that differ between a view before a span and a view after it, by RowSet.

    Rows have the columns `shown`, whose types a view may lack (`shown_types.py`). `last` is the
    last epoch of the span that changed the table. `key` are the ids of the primary key that the
    table has before and after, if there is one. With `statics`, other static values are changes of
    their rows.
    """

    last: Step
    shown: TableSchema
    before: View
    after: View
    key: PrimaryKey
    deleted: Mapping[int, FrozenBitMap]
    inserted: Mapping[int, FrozenBitMap]
    updated: tuple[Updated, ...]
    statics: bool = False

    def removed(self) -> Iterable[Selection]:
        """Return the deleted rows, in the view before the span."""
        return _selections(self.before, self.deleted)

    def added(self) -> Iterable[Selection]:
        """Return the inserted rows, in the view after the span."""
        return _selections(self.after, self.inserted)


def _selections(view: View, rows: Mapping[int, FrozenBitMap]) -> Iterable[Selection]:
    return [Selection(view, each, rows[each.id]) for each in view.rowsets if each.id in rows]


def difference(
    reader: LogReader,
    steps: Iterable[Step],
    shown: TableState,
    now_ms: int | None,
    *,
    fills: bool = False,
    statics: bool = False,
) -> Difference | None:
    """Return which rows differ between the states before the first step and after the last one.

    Rows are shown with the columns of the table `shown`. Rows that have expired at `now_ms` are in
    neither state (ms since 1970 UTC; None: nothing has expired). Values that a job has filled in
    are changes if `fills`, and other static values if `statics`. Returns None without a step.

    Reads the vectors and origins of the RowSets that the steps add, drop or amend. If they add a
    range tombstone, the RowSets that it meets are read as `deleted_rows` does. Holds a bitmap for
    each of these RowSets, and coded origins. Raises the errors of `with_columns_of`;
    CorruptionError, StoreError.
    """
    span = _Span.follow(reader, steps, fills=fills, statics=statics)
    if span is None:
        return None
    keys = span.keys_of_statics(reader, now_ms)
    before, after = span.views(reader, now_ms, keys)
    found = _Compared(reader, span, before, after, keys).result()
    return replace(
        found,
        statics=statics,
        shown=shown.schema,
        before=_with_columns(before, span.before, shown),
        after=_with_columns(after, span.after, shown),
    )


def _with_columns(view: View, table: TableState | None, shown: TableState) -> View:
    table = shown if table is None else with_columns_of(table, shown, in_feed=True)
    return replace(view, columns=table.schema)


@dataclass(slots=True)
class _Span:
    """A span of epochs, and what they did to the rows of the table."""

    first: Step
    last: Step
    touched: Touched
    lineage: Lineage
    statics: _Span | None = None

    @property
    def before(self) -> TableState | None:
        return self.first.earlier

    @property
    def after(self) -> TableState:
        return self.last.later

    @classmethod
    def follow(
        cls, reader: LogReader, steps: Iterable[Step], *, fills: bool, statics: bool
    ) -> _Span | None:
        found: _Span | None = None
        for step in steps:
            found = cls._with(found, reader, step, fills)
            there = step.later.statics
            if statics and there is not None and there.changed_epoch == step.number:
                own = replace(step, table=there.id)
                found.statics = cls._with(found.statics, reader, own, fills)
        return found

    @classmethod
    def _with(cls, found: _Span | None, reader: LogReader, step: Step, fills: bool) -> _Span:
        if found is None:
            lineage = Lineage(reader, step.table, step.before, fills=fills)
            found = cls(step, step, Touched(), lineage)
        found.touched.add(step)
        found.lineage.follow(step)
        found.last = step
        return found

    def keys_of_statics(self, reader: LogReader, now_ms: int | None) -> KeySet | None:
        """Return the partition keys whose static values may differ; None if there are none.

        No row after the span has a key that the type which the column has then does not hold.
        """
        if self.statics is None:
            return None
        views = self.statics.views(reader, now_ms, None)
        found = _Compared(reader, self.statics, *views, None).result()
        key = TableSchema(fields=key_fields(self.after.partition_key, self.after.schema))
        updated = (
            Selection(
                found.after, each.rowset, FrozenBitMap(np.flatnonzero(each.origins.array() != NEW))
            )
            for each in found.updated
        )
        batches = [
            batch
            for each in (*found.removed(), *found.added(), *updated)
            for batch in read_held(reader.store, each, key)
        ]
        return KeySet.of(pa.Table.from_batches(batches), key, repeated=True) if batches else None

    @property
    def key(self) -> PrimaryKey:
        """The primary key, if it is the same before and after."""
        same = self.before is not None and self.before.primary_key == self.after.primary_key
        return self.after.primary_key if same else ()

    def views(
        self, reader: LogReader, now_ms: int | None, keys: KeySet | None
    ) -> tuple[View, View]:
        """Return what a reader sees of the touched RowSets before the span, and after it.

        RowSets that may have one of the `keys` are touched, too.
        """
        ids = self.touched.rowsets | self._newly_hidden(reader)
        if keys is not None:
            ids |= {each.id for each in reader.rowsets.read(self.after, keys.may_match)}
        views = []
        for table in (self.before, self.after):
            if table is None:
                views.append(View.stored(self.after))
                continue
            rowsets = reader.rowsets.find(table, ids)
            seen = view_of(table, [rowsets[each] for each in sorted(rowsets)], now_ms)
            views.append(reader.rowsets.with_lookups(table, seen))
        return views[0], views[1]

    def _newly_hidden(self, reader: LogReader) -> set[int]:
        """Return the RowSets that may have rows which range tombstones of the span delete."""
        earlier = 0 if self.before is None else self.before.changed_epoch
        new = [each for each in self.after.range_tombstones if each.epoch > earlier]
        regions = [region_of(each, self.after.schema) for one in new for each in one.regions]
        if not regions:
            return set()

        def may_match(bounds: BoundsTable) -> NDArray[np.bool_]:
            some, _ = meets_each(regions, bounds)
            return np.asarray(some.any(axis=0))

        return {each.id for each in reader.rowsets.read(self.after, may_match)}


class _Compared:
    """Compares the rows of two views. Reads each vector once."""

    def __init__(
        self, reader: LogReader, span: _Span, before: View, after: View, keys: KeySet | None
    ) -> None:
        self._store, self._span, self._keys = reader.store, span, keys
        self._before, self._after = before, after
        self._shown_before = {each.id: self._shown(before, each) for each in before.rowsets}
        self._taken: dict[int, BitMap] = {}
        self._inserted: dict[int, FrozenBitMap] = {}
        self._updated: list[Updated] = []

    def result(self) -> Difference:
        for each in self._after.rowsets:
            shown = self._shown(self._after, each)
            if self._span.lineage.is_new(each.id):
                new = self._came(each, shown)
            else:
                new = self._stayed(each, shown)
            if new:
                self._inserted[each.id] = new
        deleted = {
            rowset: gone
            for rowset, shown in self._shown_before.items()
            if (gone := shown - self._taken.get(rowset, _NO_ROWS))
        }
        key, inserted, updated = self._span.key, self._inserted, tuple(self._updated)
        last, before, after = self._span.last, self._before, self._after
        return Difference(last, after.columns, before, after, key, deleted, inserted, updated)

    def _shown(self, view: View, rowset: LiveRowSet) -> FrozenBitMap:
        return all_rows(rowset.entry.rows) - deleted_rows(self._store, view, rowset)

    def _stayed(self, rowset: LiveRowSet, shown: FrozenBitMap) -> FrozenBitMap:
        """Record the rows of a RowSet that was there before. Return those that were not shown."""
        both = shown & self._shown_before.get(rowset.id, _NO_ROWS)
        self._take(rowset.id, both)
        with_new_values = self._new_values(rowset) & both
        if with_new_values:
            rows = np.asarray(with_new_values.to_array(), np.int64)
            numbers = np.full(rowset.entry.rows, NEW, np.int64)
            numbers[rows] = origins_of(rowset.id, rows)
            replaced = self._span.touched.replaced.get(rowset.id, ())
            columns = {each for op in replaced for each in op.replacement.columns}
            columns.update(each.id for each in static_fields(self._after.columns))
            self._updated.append(Updated(rowset, RowOrigins.of(numbers), frozenset(columns)))
        return shown - both

    def _came(self, rowset: LiveRowSet, shown: FrozenBitMap) -> FrozenBitMap:
        """Record the rows of a RowSet that the span added. Return those that are new."""
        origins = self._span.lineage.of(rowset.id)
        if origins is None:
            return shown
        numbers = origins.where.array()
        old = np.zeros(len(numbers), np.bool_)
        for earlier, at, rows in by_rowset(numbers):
            there = self._shown_before.get(earlier, _NO_ROWS)
            known = _in(rows, there) & _in(at, shown)
            old[at[known]] = True
            self._take(earlier, FrozenBitMap(rows[known]))
        changed = np.zeros(len(numbers), np.bool_)
        changed[np.asarray(origins.changed.to_array(), np.int64)] = True
        # A statement may also have replaced values of the row in its new place.
        with_new_values = self._new_values(rowset) & shown
        changed[np.asarray(with_new_values.to_array(), np.int64)] = True
        numbers[~(old & changed)] = NEW
        if (numbers != NEW).any():
            self._updated.append(Updated(rowset, RowOrigins.of(numbers), None))
        return shown - FrozenBitMap(np.flatnonzero(old))

    def _new_values(self, rowset: LiveRowSet) -> FrozenBitMap:
        """Return the rows that may have other values in the place where they are."""
        with_new_values = self._span.lineage.new_values(rowset.id)
        if self._keys is None:
            return with_new_values
        rows, _ = stored_rows(self._store, self._after, rowset, self._keys)
        return with_new_values | FrozenBitMap(rows)

    def _take(self, rowset: int, rows: FrozenBitMap) -> None:
        self._taken.setdefault(rowset, BitMap()).update(rows)


def _in(rows: Rows, some: FrozenBitMap) -> NDArray[np.bool_]:
    among = np.zeros(int(rows.max(initial=-1)) + 1, np.bool_)
    among[np.asarray((some & all_rows(len(among))).to_array(), np.int64)] = True
    found: NDArray[np.bool_] = among[rows]
    return found
