"""Run a scan plan: read footers, indexes, blocks and deletion vectors, and return batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

import pyarrow as pa

from colonnade.manifests.later import later
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.jobs import JobRunner, Stop, run_in_order
from colonnade.tableformat.predicate import BoundPredicate, prune
from colonnade.tableformat.scan.live_rows import live_batches, needed_fields
from colonnade.tableformat.scan.open_rowsets import OpenedAhead, OpenedRowSet, open_rowsets
from colonnade.tableformat.scan.plan import Ranges, ScanPlan
from colonnade.tableformat.types.arrow_types import arrow_schema

if TYPE_CHECKING:
    from colonnade.tableformat.scan import ordered
else:
    ordered = later("colonnade.tableformat.scan.ordered")

_SHARE_BYTES = 4 * 2**20
"""The most stored bytes of the columns to read that one thread decodes at a time."""

_SHARE_ROWS = 128 * 1024
"""The most rows that one thread decodes at a time. Few stored bytes may be many values."""

_DEAR_SHARE_BYTES = 32 * 2**20
"""The stored bytes that one thread decodes at a time where beginning a share costs more.

It does behind a network, and where each share reads what its rows need beside their columns.
"""


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
    with LogReader(store).naming_removals(plan.epoch, staged=True):
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
    store: ObjectStore,
    plan: ScanPlan,
    ahead: OpenedAhead | None = None,
    threads: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Read a plan like `read_plan`, decoding in `threads` threads (None: as many as
    Arrow uses).

    Batches are in the same order. Holds the decoded rows of at most twice as many shares as there
    are threads: of 128 Ki rows, or more behind a network. A plan with an order is not divided.
    """
    workers = pa.cpu_count() if threads is None else threads
    if plan.order is not None or workers == 1:
        yield from read_plan(store, plan, ahead)
        return
    predicate = plan.bound_predicate()
    fields = needed_fields(plan, predicate)
    names = arrow_schema(plan.output_schema).names

    def batches_of(share: OpenedRowSet) -> Iterator[pa.RecordBatch]:
        return live_batches(plan.view, share, fields, predicate, returned=names)

    def read_share(share: OpenedRowSet, stop: Stop) -> list[pa.RecordBatch]:
        batches = []
        for batch in batches_of(share):
            stop.check()
            batches.append(batch)
        return batches

    with LogReader(store).naming_removals(plan.epoch, staged=True):
        opened = open_rowsets(store, plan, ahead or OpenedAhead())
        shares = (part for each in opened for part in _shares(store, plan, each, fields, predicate))
        first = [*islice(shares, 2)]
        if len(first) < 2:
            yield from chain.from_iterable(map(batches_of, first))
            return
        runner = JobRunner(read_share, workers)
        with closing(run_in_order(runner, chain(first, shares), held=2 * workers)) as found:
            for batches in found:
                yield from batches


def _shares(
    store: ObjectStore,
    plan: ScanPlan,
    opened: OpenedRowSet,
    fields: Sequence[SchemaField],
    predicate: BoundPredicate | None,
) -> Iterator[OpenedRowSet]:
    """Divide what a plan reads of a RowSet into shares, between cuts. Most have a similar size."""
    scan, reader = opened.scan, opened.reader
    ranges = scan.ranges
    if predicate is not None and store.parallel == 1:
        # Behind a network, the thread of each share reads the indexes.
        pruned = [each for each in fields if each.id in predicate.column_ids]
        ranges = reader.matching_ranges(pruned, ranges, partial(prune, predicate))
    view = plan.view
    dear = store.parallel > 1 or view.statics is not None or not view.is_counted(scan.rowset)
    most_bytes, most_rows = (_DEAR_SHARE_BYTES, None) if dear else (_SHARE_BYTES, _SHARE_ROWS)
    rows = max(1, most_bytes * scan.rowset.entry.rows // max(1, reader.stored_bytes(fields)))
    for part in _divided(reader.stretches(ranges), min(rows, most_rows or rows)):
        yield opened._replace(scan=replace(scan, ranges=part))


def _divided(stretches: Iterable[tuple[int, int]], rows: int) -> Iterator[Ranges]:
    """Group ascending stretches into ranges of at most `rows` rows, or one stretch."""
    share: list[tuple[int, int]] = []
    taken = 0
    for first, end in stretches:
        if share and taken + end - first > rows:
            yield tuple(share)
            share, taken = [], 0
        if share and share[-1][1] == first:
            share[-1] = (share[-1][0], end)
        else:
            share.append((first, end))
        taken += end - first
    if share:
        yield tuple(share)
