"""The live rows of one RowSet that meet the predicate of a plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.model.deletion_vector import DeletionVector
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.view import View
from colonnade.tableformat.predicate import BoundPredicate, prune
from colonnade.tableformat.predicate.evaluate import evaluate_shown
from colonnade.tableformat.rowset.deleted_rows import with_hidden_rows
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.scan.open_rowsets import OpenedRowSet
from colonnade.tableformat.scan.plan import ScanPlan
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.stored_value import booleans

_FEW_ROWS = 64
"""The most deleted rows of a block that are cut out; a mask is faster for more."""


def needed_fields(
    plan: ScanPlan, predicate: BoundPredicate | None, others: Collection[int] = ()
) -> list[SchemaField]:
    """Return the columns that a plan returns or filters by, and `others`, in the table's order."""
    needed = set(others) if predicate is None else {*others, *predicate.column_ids}
    names = set(plan.projection)
    return [each for each in plan.view.columns.fields if each.name in names or each.id in needed]


def live_batches(
    view: View,
    opened: OpenedRowSet,
    fields: Sequence[SchemaField],
    predicate: BoundPredicate | None,
    window_bytes: int | None = None,
    returned: Sequence[str] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a RowSet that a view shows and that meet the predicate; no empty batch.

    `window_bytes` is as in `RowSetReader.read`. `returned` names the columns of the batches (None:
    all `fields`); the predicate may need further fields. Raises CorruptionError, StoreError.
    """
    may_match = None if predicate is None else partial(prune, predicate)
    pruning_columns = frozenset[int]() if predicate is None else predicate.column_ids
    ranges, deleted = opened.scan.ranges, opened.deleted
    if not view.is_counted(opened.scan.rowset):
        if may_match is not None:
            pruned = [each for each in fields if each.id in pruning_columns]
            ranges = opened.reader.matching_ranges(pruned, ranges, may_match)
        deleted = with_hidden_rows(opened.reader, view, opened.scan.rowset, deleted, ranges)
    batches = opened.reader.read(
        fields,
        ranges=_live_ranges(opened.reader, ranges, deleted),
        may_match=may_match,
        pruning_columns=pruning_columns,
        window_bytes=window_bytes,
    )
    for first_row, batch in batches:
        kept = _live_rows(batch, first_row, deleted, predicate, returned)
        if kept.num_rows:
            yield kept


def _live_ranges(
    reader: RowSetReader, ranges: Sequence[tuple[int, int]], deleted: DeletionVector | None
) -> Sequence[tuple[int, int]]:
    """Return row ranges without stretches of which every row is deleted."""
    if deleted is None:
        return ranges
    rows = deleted.rows
    return [
        (first, end)
        for first, end in reader.stretches(ranges)
        if rows.range_cardinality(first, end) < end - first
    ]


def _live_rows(
    batch: pa.RecordBatch,
    first_row: int,
    deleted: DeletionVector | None,
    predicate: BoundPredicate | None,
    returned: Sequence[str] | None,
) -> pa.RecordBatch:
    """Drop deleted rows, and rows that do not meet the predicate."""
    mask: pa.BooleanArray | None = None
    if predicate is not None:
        shown = None if deleted is None else deleted.keep_mask(first_row, batch.num_rows)
        mask = evaluate_shown(predicate, batch, shown)
        if mask.true_count == batch.num_rows:
            mask = None
    if returned is not None and batch.schema.names != returned:
        batch = batch.select(returned)
    if deleted is not None:
        if mask is None and deleted.count_between(first_row, batch.num_rows) <= _FEW_ROWS:
            return _without(batch, deleted.numbers_between(first_row, batch.num_rows))
        alive = deleted.keep_mask(first_row, batch.num_rows)
        live = booleans(alive)
        mask = live if mask is None else pc.and_(live, mask)
    return batch if mask is None else batch.filter(mask)


def _without(batch: pa.RecordBatch, rows: NDArray[np.int64]) -> pa.RecordBatch:
    """Return a batch without a few rows, by copying what is between them."""
    if not len(rows):
        return batch
    edges = np.concatenate([[-1], rows, [batch.num_rows]])
    between = np.flatnonzero(np.diff(edges) > 1)
    kept = [batch.slice(edges[at] + 1, edges[at + 1] - edges[at] - 1) for at in between.tolist()]
    return kept[0] if len(kept) == 1 else pa.concat_batches(kept or [batch.slice(0, 0)])
