"""The rows of a difference as batches: those before it, and those after it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from colonnade.manifests.arrays.origins import NEW, Rows, by_rowset, origins_of
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.feed.difference import Difference, Updated
from colonnade.tableformat.feed.shown_types import has_types_of, read_shown
from colonnade.tableformat.predicate import Predicate, bind, prune
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.scan.selection import (
    Selection,
    judge,
    selected_numbers,
)
from colonnade.tableformat.types.same_values import same_values

INSERT = "insert"
DELETE = "delete"
BEFORE = "update_preimage"
AFTER = "update_postimage"
CHANGES = (INSERT, DELETE, BEFORE, AFTER)
"""The kinds of changes, by the names that Delta and Spark use."""


@dataclass(frozen=True, slots=True)
class Image:
    """Some rows with one kind of change: RowSet * 2**32 + row of each, and their columns."""

    change: str
    numbers: Rows
    rows: pa.RecordBatch


def images(
    store: ObjectStore,
    found: Difference,
    columns: TableSchema,
    where: Predicate | None = None,
    changes: Collection[str] = CHANGES,
) -> Iterator[Image]:
    """Yield the rows of a difference with some of its columns, about a block at a time.

    The rows before an update precede the same number of rows after it, in the same order. Updated
    rows whose values are all equal are left out: all columns of the table but static ones are read
    to find that out, or those that were replaced. Rows that do not meet `where` may be left out,
    and so may other `changes`. Raises CorruptionError, StoreError.
    """
    if DELETE in changes:
        bounds = where if has_types_of(found.before, found.shown) else None
        yield from _selected(store, found.before, found.removed(), columns, bounds, DELETE)
    if BEFORE in changes or AFTER in changes:
        for updated in found.updated:
            yield from _updates(store, found, updated, columns)
    if INSERT in changes:
        bounds = where if has_types_of(found.after, found.shown) else None
        yield from _selected(store, found.after, found.added(), columns, bounds, INSERT)


def _selected(
    store: ObjectStore,
    view: View,
    selections: Iterable[Selection],
    columns: TableSchema,
    where: Predicate | None,
    change: str,
) -> Iterator[Image]:
    """Yield selected rows. Leaves out blocks in which no row meets `where`."""
    for each in selections:
        numbers = selected_numbers(store, each)
        if where is not None:
            numbers = _possible(store, view, each.rowset, numbers, where)
        if not len(numbers):
            continue
        for rows, batch in read_shown(store, view, each.rowset, numbers, columns):
            yield Image(change, origins_of(each.rowset.id, rows), batch)


def _possible(
    store: ObjectStore, view: View, rowset: LiveRowSet, numbers: Rows, where: Predicate
) -> Rows:
    """Return the rows that bounds do not rule out."""
    may, _ = judge(view.of([rowset]), where)
    if not may[0]:
        return numbers[:0]
    bound = bind(where, view.columns)
    fields = [field for field in view.columns.fields if field.id in bound.column_ids]
    whole = ((0, rowset.entry.rows),)
    reader = RowSetReader(store, view, rowset)
    left = np.zeros(len(numbers), np.bool_)
    for first, end in reader.matching_ranges(fields, whole, partial(prune, bound)):
        low, high = np.searchsorted(numbers, (first, end))
        left[low:high] = True
    return numbers[left]


def compared_columns(found: Difference, updated: Updated) -> list[str]:
    """Return the names of the columns whose values say whether a row is updated."""
    return [
        each.name
        for each in found.shown.fields
        if (found.statics or not each.static)
        and (updated.columns is None or each.id in updated.columns)
    ]


def _updates(
    store: ObjectStore, found: Difference, updated: Updated, columns: TableSchema
) -> Iterator[Image]:
    compared = compared_columns(found, updated)
    if not compared:
        return
    wanted = [*columns.names, *(name for name in compared if name not in columns.names)]
    shown = found.shown.select(wanted)
    old = _Rows(store, found.before, shown)
    numbers = updated.origins.array()
    rows = np.flatnonzero(numbers != NEW)
    for chosen, batch in read_shown(store, found.after, updated.rowset, rows, shown):
        was = old.take(numbers[chosen])
        same = np.ones(len(chosen), np.bool_)
        for name in compared:
            same &= same_values(batch.column(name), was.column(name))
        changed = pa.array(np.flatnonzero(~same))
        if len(changed):
            for change, where, part in (
                (BEFORE, numbers[chosen], was),
                (AFTER, origins_of(updated.rowset.id, chosen), batch),
            ):
                some = part.select(columns.names).take(changed)
                yield Image(change, where[np.asarray(changed)], some)


class _Rows:
    """Reads rows of a view by their numbers."""

    def __init__(self, store: ObjectStore, view: View, columns: TableSchema) -> None:
        self._store, self._view, self._columns = store, view, columns
        self._rowsets = {each.id: each for each in view.rowsets}

    def take(self, numbers: Rows) -> pa.RecordBatch:
        """Return rows in the order of their numbers, which all differ."""
        parts, places = list[pa.RecordBatch](), list[Rows]()
        for rowset, at, rows in by_rowset(numbers):
            order = np.argsort(rows)
            places.append(at[order])
            read = read_shown(
                self._store, self._view, self._rowsets[rowset], rows[order], self._columns
            )
            parts += (batch for _, batch in read)
        back = np.empty(len(numbers), np.int64)
        back[np.concatenate(places)] = np.arange(len(numbers))
        return pa.concat_batches(parts).take(pa.array(back))
