"""Find the rows that a condition selects, reading as little as possible.

A RowSet that the bounds in the log decide as a whole is not read. Of every other RowSet, only the
columns of the condition are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.arrays.bounds import bounds_table
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.predicate import (
    BoundPredicate,
    Predicate,
    bind,
    complement,
    prune,
)
from colonnade.tableformat.predicate.evaluate import evaluate_shown
from colonnade.tableformat.rowset.deleted_rows import read_deleted, read_vector
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.scan.plan import cut_rows
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.stored_value import to_numpy

_JOINED_ROWS = 8_192
_JOINED_BYTES = 8 * 2**20
"""Rows of several blocks become one batch up to this size."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Some rows of a RowSet of a view, by their numbers. None as `rows` means all live rows."""

    view: View
    rowset: LiveRowSet
    rows: FrozenBitMap | None

    @property
    def count(self) -> int:
        """The number of selected rows."""
        return self.rowset.row_count if self.rows is None else len(self.rows)


def judge(view: View, where: Predicate) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for each RowSet whether `where` may select rows, and whether it may leave some out.

    The bounds in the log decide. Raises InvalidInputError when `where` does not fit the columns.
    """
    bound, rowsets = bind(where, view.columns), view.rowsets
    bounds = bounds_table(
        [rowset.entry.statistics for rowset in rowsets],
        [rowset.entry.rows for rowset in rowsets],
        view.columns,
        lambda index: f"RowSet {rowsets[index].entry.object}",
    )
    masked = {each.column for masks in view.masks.values() for each in masks}
    bounds = bounds.with_open_nulls(masked) if masked else bounds
    return prune(bound, bounds), prune(complement(bound), bounds)


def select_rows(store: ObjectStore, view: View, where: Predicate | None) -> Iterator[Selection]:
    """Yield the rows that meet `where` (None: all), by RowSet. Skips RowSets without any.

    Raises the errors of `judge`, CorruptionError, StoreError.
    """
    if where is None:
        yield from (_whole(store, view, rowset) for rowset in view.rowsets)
        return
    bound = bind(where, view.columns)
    some, others = judge(view, where)
    for rowset, may, may_not in zip(view.rowsets, some, others, strict=True):
        if may and not may_not:
            yield _whole(store, view, rowset)
        elif may and (rows := _matching(store, view, rowset, bound)):
            yield Selection(view, rowset, rows)


def _whole(store: ObjectStore, view: View, rowset: LiveRowSet) -> Selection:
    """Return all visible rows of a RowSet. Reads it only if it hides rows that are stored."""
    if view.is_counted(rowset):
        return Selection(view, rowset, None)
    shown = BitMap(range(rowset.entry.rows)) - deleted_rows(store, view, rowset)
    return Selection(view, rowset, FrozenBitMap(shown))


def _matching(
    store: ObjectStore, view: View, rowset: LiveRowSet, predicate: BoundPredicate
) -> FrozenBitMap:
    if predicate.may_fail:
        # A deleted row must not fail, and is not asked.
        hidden = deleted_rows(store, view, rowset)
        return FrozenBitMap(stored_matches(store, view, rowset, predicate, hidden) - hidden)
    found = stored_matches(store, view, rowset, predicate)
    return FrozenBitMap(found - deleted_rows(store, view, rowset))


def stored_matches(
    store: ObjectStore,
    view: View,
    rowset: LiveRowSet,
    predicate: BoundPredicate,
    hidden: FrozenBitMap | None = None,
) -> BitMap:
    """Return the stored rows of a RowSet that meet the predicate, including deleted rows.

    Rows that are `hidden` may be among them, and are never errors. Raises InvalidInputError for a
    row whose values the predicate cannot compute. Raises CorruptionError, StoreError.
    """
    fields = [field for field in view.columns.fields if field.id in predicate.column_ids]
    found = BitMap()
    batches = RowSetReader(store, view, rowset).read(
        fields,
        may_match=partial(prune, predicate),
        pruning_columns=predicate.column_ids,
        in_threads=True,
    )
    for first_row, batch in batches:
        shown = None if hidden is None else _shown(hidden, first_row, batch.num_rows)
        met = pc.indices_nonzero(evaluate_shown(predicate, batch, shown))
        found |= BitMap(first_row + to_numpy(met).astype(np.int64))
    return found


def _shown(hidden: FrozenBitMap, first_row: int, count: int) -> NDArray[np.bool_]:
    shown = np.ones(count, np.bool_)
    inside = BitMap(range(first_row, first_row + count)) & hidden
    shown[np.asarray(inside.to_array(), np.int64) - first_row] = False
    return shown


def deleted_rows(store: ObjectStore, view: View, rowset: LiveRowSet) -> FrozenBitMap:
    """Return the rows of a RowSet that a view does not show. Raises CorruptionError, StoreError."""
    found = read_deleted(store, view, rowset)
    return FrozenBitMap() if found is None else found.rows


def newly_hidden(store: ObjectStore, view: View, rowset: LiveRowSet) -> FrozenBitMap:
    """Return the rows of a RowSet that a view hides and no deletion vector names.

    Raises CorruptionError, StoreError.
    """
    if view.is_counted(rowset):
        return FrozenBitMap()
    named = read_vector(store, view.prefix, rowset)
    return deleted_rows(store, view, rowset) - (FrozenBitMap() if named is None else named.rows)


def selected_numbers(store: ObjectStore, selection: Selection) -> NDArray[np.int64]:
    """Return the numbers of the selected rows, ascending. Raises CorruptionError, StoreError."""
    rows = selection.rows
    if rows is None:
        deleted = deleted_rows(store, selection.view, selection.rowset)
        rows = FrozenBitMap(BitMap(range(selection.rowset.entry.rows)) - deleted)
    return np.asarray(rows.to_array(), np.int64)


def read_selected(
    store: ObjectStore, selection: Selection, schema: TableSchema
) -> Iterator[tuple[NDArray[np.int64], pa.RecordBatch]]:
    """Yield the selected rows in batches: their numbers, and the columns of `schema`.

    Reads only stretches between cuts that hold selected rows, about a block at a time. Raises
    CorruptionError, StoreError.
    """
    numbers = selected_numbers(store, selection)
    yield from read_numbered(store, selection.view, selection.rowset, numbers, schema)


def read_numbered(
    store: ObjectStore,
    view: View,
    rowset: LiveRowSet,
    numbers: NDArray[np.int64],
    schema: TableSchema,
) -> Iterator[tuple[NDArray[np.int64], pa.RecordBatch]]:
    """Yield rows of a RowSet in batches by their ascending numbers, like `read_selected`.

    Rows of several blocks come in one batch where they are few, because those who change rows take
    about a millisecond for each batch.
    """
    cuts = np.array(cut_rows(rowset.entry))
    stretches = np.unique(np.searchsorted(cuts, numbers, side="right") - 1)
    ranges = [(int(cuts[i]), int(cuts[i + 1])) for i in stretches]
    reader = RowSetReader(store, view, rowset)
    waiting: list[pa.RecordBatch] = []
    size = first = end = 0
    for first_row, batch in reader.read(schema.fields, ranges=ranges):
        low, high = np.searchsorted(numbers, (first_row, first_row + batch.num_rows))
        taken = batch.take(pa.array(numbers[low:high] - first_row))
        if waiting and (high - first > _JOINED_ROWS or size + taken.nbytes > _JOINED_BYTES):
            yield numbers[first:end], _one_batch(waiting)
            waiting, size, first = [], 0, low
        waiting.append(taken)
        size, end = size + taken.nbytes, high
    if waiting:
        yield numbers[first:end], _one_batch(waiting)


def _one_batch(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
