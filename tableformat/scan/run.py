"""Run a scan plan: read footers, indexes, blocks and deletion vectors, and return batches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pyarrow as pa

from colonnade.manifests.later import later
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.jobs import JobRunner, Stop, run_in_order
from colonnade.tableformat.scan.live_rows import live_batches, needed_fields
from colonnade.tableformat.scan.open_rowsets import OpenedAhead, open_rowsets
from colonnade.tableformat.scan.plan import ScanPlan, split_plan
from colonnade.tableformat.types.arrow_types import arrow_schema

if TYPE_CHECKING:
    from colonnade.tableformat.scan import ordered
else:
    ordered = later("colonnade.tableformat.scan.ordered")

PARALLEL_SHARE_BYTES = 8 * 2**20
"""The stored bytes that one thread of a parallel read handles at a time."""

_FAR_SHARE_BYTES = 32 * 2**20
"""The bytes of the columns to read that one thread handles where requests cost more than bytes."""


def read_plan(
    store: ObjectStore, plan: ScanPlan, ahead: OpenedAhead | None = None
) -> Iterator[pa.RecordBatch]:
    """Read a plan, as batches with exactly the Arrow schema of `plan.output_schema`.

    Rows are in the order that the plan states, else in that of its RowSets. `ahead` has RowSets of
    the plan that are open already. Empty batches are omitted. Without a stated order, a batch holds
    at most the rows between two cuts of a RowSet. Raises CorruptionError that names file, column
    and block, before any row of that block is returned. Raises NotFoundError when retention has
    removed the epoch since the scan was planned.
    """
    with LogReader(store).removals_are_told(plan.epoch, staged=True):
        if plan.order is None:
            yield from _read_rowsets(store, plan, ahead or OpenedAhead())
        else:
            yield from ordered.read_ordered(store, plan, plan.order)


def _read_rowsets(
    store: ObjectStore, plan: ScanPlan, ahead: OpenedAhead
) -> Iterator[pa.RecordBatch]:
    predicate = plan.bound_predicate()
    fields = needed_fields(plan, predicate)
    names = arrow_schema(plan.output_schema).names
    for opened in open_rowsets(store, plan, ahead):
        yield from live_batches(plan.view, opened, fields, predicate, returned=names)


def read_plan_parallel(
    store: ObjectStore, plan: ScanPlan, ahead: OpenedAhead | None = None
) -> Iterator[pa.RecordBatch]:
    """Read a plan like `read_plan`, decoding several parts of it in parallel.

    Holds the decoded rows of at most twice as many parts as there are processors. A plan with an
    order is not divided.
    """
    if plan.order is not None:
        yield from read_plan(store, plan)
        return
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

    runner = JobRunner(read_share, workers)
    with closing(run_in_order(runner, shares, held=2 * workers)) as found:
        for batches in found:
            yield from batches


def _share_bytes(store: ObjectStore, plan: ScanPlan) -> int:
    """Return how many bytes of whole RowSets one thread handles at a time.

    Each share of a RowSet opens it again. So behind a network, shares are larger, and larger still
    for few columns.
    """
    if store.parallel == 1:
        return PARALLEL_SHARE_BYTES
    read = len(needed_fields(plan, plan.bound_predicate()))
    return _FAR_SHARE_BYTES * len(plan.view.columns.fields) // max(1, read)
