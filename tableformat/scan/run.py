"""Run a scan plan: read footers, indexes, blocks and deletion vectors, and return batches."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import numpy as np
import pyarrow as pa

from colonnade.manifests.errors import (
    CorruptionError,
    NotFoundError,
    StoreError,
    UnsupportedFormatError,
)
from colonnade.manifests.log.reader import LogReader
from colonnade.manifests.model.deletion_vector import DeletionVector
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.predicate import BoundPredicate, evaluate, prune
from colonnade.tableformat.rowset.deleted import read_deleted
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.scan.plan import ScanPlan, split_plan
from colonnade.tableformat.types.arrow_types import arrow_schema

PARALLEL_SHARE_BYTES = 8 * 2**20
"""The stored bytes that one thread of a parallel read handles at a time."""


def read_plan(store: ObjectStore, plan: ScanPlan) -> Iterator[pa.RecordBatch]:
    """Read a plan in row order, as batches with exactly the Arrow schema of `plan.output_schema`.

    A batch holds at most the rows between two cuts of a RowSet; empty batches are omitted. Raises
    CorruptionError that names file, column and block, before any row of that block is returned.
    Raises NotFoundError when retention has removed the epoch since the scan was planned.
    """
    try:
        yield from _read_rowsets(store, plan)
    except CorruptionError as error:
        if isinstance(error.__cause__, NotFoundError):
            # A missing file is not damage when retention removed the epoch: this raises
            # NotFoundError.
            with suppress(CorruptionError, StoreError, UnsupportedFormatError):
                LogReader(store).read_at(plan.epoch)
        raise


def _read_rowsets(store: ObjectStore, plan: ScanPlan) -> Iterator[pa.RecordBatch]:
    predicate = plan.bound_predicate()
    keep = None if predicate is None else partial(prune, predicate)
    needed = set(plan.projection)
    if predicate is not None:
        needed |= {plan.table_schema.by_id(column).name for column in predicate.column_ids}
    fields = [field for field in plan.table_schema.fields if field.name in needed]
    output = arrow_schema(plan.output_schema)
    for scan in plan.rowsets:
        reader = RowSetReader(store, plan.prefix, scan.rowset)
        deleted = read_deleted(store, plan.prefix, scan.rowset)
        for first_row, batch in reader.read(
            fields,
            ranges=scan.ranges,
            keep=keep,
            keep_columns=() if predicate is None else predicate.column_ids,
        ):
            kept = _live_rows(batch, first_row, deleted, predicate)
            if kept.num_rows:
                yield kept.select(output.names) if kept.schema.names != output.names else kept


def read_plan_parallel(store: ObjectStore, plan: ScanPlan) -> Iterator[pa.RecordBatch]:
    """Read a plan like `read_plan`, decoding several parts of it in parallel.

    Holds the decoded rows of at most twice as many parts as there are processors.
    """
    shares = split_plan(plan, PARALLEL_SHARE_BYTES)
    workers = os.cpu_count() or 1
    if len(shares) == 1 or workers == 1:
        yield from read_plan(store, plan)
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="colonnade-scan") as pool:
        waiting: deque[Future[list[pa.RecordBatch]]] = deque()
        try:
            for share in shares:
                waiting.append(pool.submit(lambda s: list(read_plan(store, s)), share))
                if len(waiting) >= 2 * workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


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
