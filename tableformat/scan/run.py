"""Run a scan plan: read footers, indexes, blocks and deletion vectors, and return batches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import numpy as np
import pyarrow as pa

from colonnade.manifests.model.deletion_vector import DeletionVector
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.jobs import Stop, Workplace, run_in_order
from colonnade.tableformat.predicate import BoundPredicate, evaluate, prune
from colonnade.tableformat.scan.opened import OpenedAhead, open_rowsets
from colonnade.tableformat.scan.plan import ScanPlan, split_plan
from colonnade.tableformat.types.arrow_types import arrow_schema

PARALLEL_SHARE_BYTES = 8 * 2**20
"""The stored bytes that one thread of a parallel read handles at a time."""

_FAR_SHARE_BYTES = 32 * 2**20
"""The bytes of the columns to read that one thread handles where requests cost more than bytes."""


def read_plan(
    store: ObjectStore, plan: ScanPlan, ahead: OpenedAhead | None = None
) -> Iterator[pa.RecordBatch]:
    """Read a plan in row order, as batches with exactly the Arrow schema of `plan.output_schema`.

    `ahead` has RowSets of the plan that are open already. A batch holds at most the rows between
    two cuts of a RowSet; empty batches are omitted. Raises CorruptionError that names file, column
    and block, before any row of that block is returned. Raises NotFoundError when retention has
    removed the epoch since the scan was planned.
    """
    with LogReader(store).removals_are_told(plan.epoch):
        yield from _read_rowsets(store, plan, ahead or OpenedAhead())


def _read_rowsets(
    store: ObjectStore, plan: ScanPlan, ahead: OpenedAhead
) -> Iterator[pa.RecordBatch]:
    predicate = plan.bound_predicate()
    keep = None if predicate is None else partial(prune, predicate)
    fields = _fields(plan, predicate)
    output = arrow_schema(plan.output_schema)
    for scan, reader, deleted in open_rowsets(store, plan, ahead):
        for first_row, batch in reader.read(
            fields,
            ranges=scan.ranges,
            keep=keep,
            keep_columns=() if predicate is None else predicate.column_ids,
        ):
            kept = _live_rows(batch, first_row, deleted, predicate)
            if kept.num_rows:
                yield kept.select(output.names) if kept.schema.names != output.names else kept


def _fields(plan: ScanPlan, predicate: BoundPredicate | None) -> list[SchemaField]:
    """Return the columns to read, in the order of the table."""
    needed = set(plan.projection)
    if predicate is not None:
        needed |= {plan.table_schema.by_id(column).name for column in predicate.column_ids}
    return [field for field in plan.table_schema.fields if field.name in needed]


def read_plan_parallel(
    store: ObjectStore, plan: ScanPlan, ahead: OpenedAhead | None = None
) -> Iterator[pa.RecordBatch]:
    """Read a plan like `read_plan`, decoding several parts of it in parallel.

    Holds the decoded rows of at most twice as many parts as there are processors.
    """
    shares = split_plan(plan, _share_bytes(store, plan))
    workers = os.cpu_count() or 1
    if len(shares) == 1 or workers == 1:
        yield from read_plan(store, plan, ahead)
        return

    def read_share(share: ScanPlan, stop: Stop) -> list[pa.RecordBatch]:
        batches = []
        for batch in read_plan(store, share, ahead):
            stop.check()
            batches.append(batch)
        return batches

    place = Workplace(read_share, workers)
    with closing(run_in_order(place, shares, held=2 * workers)) as found:
        for batches in found:
            yield from batches


def _share_bytes(store: ObjectStore, plan: ScanPlan) -> int:
    """Return how many bytes of whole RowSets one thread handles at a time.

    Each share of a RowSet opens it again. So behind a network, shares are larger, and larger still
    for few columns.
    """
    if store.parallel == 1:
        return PARALLEL_SHARE_BYTES
    read = len(_fields(plan, plan.bound_predicate()))
    return _FAR_SHARE_BYTES * len(plan.table_schema.fields) // max(1, read)


def _live_rows(
    batch: pa.RecordBatch,
    first_row: int,
    deleted: DeletionVector | None,
    predicate: BoundPredicate | None,
) -> pa.RecordBatch:
    """Drop deleted rows, and rows that do not meet the predicate."""
    mask: pa.BooleanArray | None = None
    if predicate is not None:
        mask = evaluate(predicate, batch).fill_null(False)
    if deleted is not None:
        alive = deleted.keep_mask(first_row, batch.num_rows)
        chosen = alive if mask is None else np.logical_and(alive, mask.to_numpy(False))
        mask = pa.array(chosen)
    if mask is None or mask.true_count == batch.num_rows:
        return batch
    return batch.filter(mask)
