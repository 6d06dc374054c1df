"""Run a job: write its RowSets, which no reader sees before the commit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.origins import encode_origins
from colonnade.manifests.commit.rebase.origin import write_origin
from colonnade.manifests.model.deletion_vector import DeletionVector, hold_deletion_vector
from colonnade.manifests.model.entries import (
    DeletionVectorEntry,
    OriginEntry,
    RowSetEntry,
)
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore, open_store
from colonnade.tableformat.compaction.concatenate import concatenate
from colonnade.tableformat.compaction.inputs import Inputs, Rows
from colonnade.tableformat.compaction.job import (
    CompactionJob,
    CompactionOutcome,
    CompactionRunner,
)
from colonnade.tableformat.compaction.merge import merge
from colonnade.tableformat.compaction.zorder import zorder
from colonnade.tableformat.jobs import JobRunner, Stop
from colonnade.tableformat.keys.tombstones import certain, tombstone_schema
from colonnade.tableformat.partition.writer import PartitionedWriter
from colonnade.tableformat.predicate import from_json
from colonnade.tableformat.rowset.read_back import check_kept, read_back
from colonnade.tableformat.rowset.task_writer import TaskWriter
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.scan.selection import stored_matches
from colonnade.tableformat.write.pipeline import target_options
from colonnade.tableformat.write.settings import WriteSettings

_THREADS = 4
"""The most jobs that run in parallel in one process, because each needs memory."""


def compact_here(store: ObjectStore, workers: int | None = None) -> CompactionRunner:
    """Run jobs on threads of this process. By default one for each processor, at most 4."""
    threads = workers or min(_THREADS, os.cpu_count() or 1)
    return JobRunner(lambda job, stop: run_job(job, store, stop), threads)


def run_job(
    job: CompactionJob, store: ObjectStore | None = None, stop: Stop | None = None
) -> CompactionOutcome:
    """Write the RowSets that replace those of a job; `commit_job` makes them visible.

    Every stored byte is read once; for a z-order, a sample of its columns is read in addition. The
    outputs are read back and compared with the inputs. After any error they are removed. Raises
    CorruptionError that names file, column and block, StoreError, and CancelledError soon after a
    stop is requested.
    """
    # The new RowSets are read back. A cache would show what was sent, and not what is stored.
    store, stop = (store or open_store(job.address)).uncached, stop or Stop()
    if job.group.kind == "forget":
        return CompactionOutcome(outputs=())
    if job.group.kind in ("tombstones", "erase"):
        return _divide(Inputs(_of_tombstones(job, store), store, stop))
    inputs = Inputs(job, store, stop)
    return _divide(inputs) if job.group.kind in ("repartition", "sort") else _write(inputs)


def _of_tombstones(job: CompactionJob, store: ObjectStore) -> CompactionJob:
    """Return a job of tombstones that reads all their rows, though none is live.

    Erased ones count as deleted.
    """
    schema = tombstone_schema(job.target.table_schema)
    view = View.written(job.target.prefix, schema.fields)
    rowsets = (
        replace(each, vector=_erased(job, store, view, each), replacements=())
        for each in job.view.rowsets
    )
    target = job.target.model_copy(update={"table_schema": schema})
    return job.model_copy(update={"view": view.of(rowsets), "target": target})


def _erased(
    job: CompactionJob, store: ObjectStore, view: View, rowset: LiveRowSet
) -> DeletionVectorEntry | None:
    """Return a vector of the erased tombstones of a RowSet."""
    if job.group.erased is None:
        return None
    where = certain(from_json(job.group.erased), view.columns)
    rows = stored_matches(store, view, rowset, where)
    return hold_deletion_vector(job.job_id, DeletionVector(FrozenBitMap(rows))) if rows else None


def _write(inputs: Inputs) -> CompactionOutcome:
    """Write all rows into RowSets of their partition."""
    job, store = inputs.job, inputs.store
    copied = 0
    prefix, schema = job.target.prefix, job.target.table_schema
    # No sort key, because the rows arrive in order.
    with RowSetWriter(store, prefix, job.job_id, schema, (), _options(job)) as writer:
        if job.group.kind == "merge":
            merge(inputs, writer)
        elif job.group.kind == "zorder":
            zorder(inputs, writer)
        else:
            copied = concatenate(inputs, writer)
        entries = writer.close()
        _check(inputs, entries, writer)
        origin = _origin(job, store, writer.take_origins())
    return _outcome(job, entries, origin, copied)


def _check(inputs: Inputs, entries: Sequence[RowSetEntry], writer: TaskWriter) -> None:
    """Compare what was written with its inputs, and remove it when they differ."""
    job, fields = inputs.job, inputs.job.target.table_schema.fields
    try:
        written = read_back(inputs.store, job.target.prefix, fields, entries)
        left = sum(each.row_count for each in job.view.rowsets)
        what = (
            f"RowSets {', '.join(str(each.id) for each in job.view.rowsets)} of {job.target.name!r}"
        )
        check_kept(inputs.contents, written, left, fields, what, job.masked)
    except BaseException:
        writer.abort()
        raise


def _divide(inputs: Inputs) -> CompactionOutcome:
    """Sort rows, and divide those of an earlier layout into RowSets of their present partitions."""
    job, store = inputs.job, inputs.store
    target, divides = job.target, job.group.kind == "repartition"
    schema, sort_key = target.table_schema, target.sort_key
    fields = target.partition_fields if divides else ()
    writer = PartitionedWriter(
        store, target.prefix, job.job_id, schema, fields, sort_key, _options(job)
    )
    try:
        for source in inputs.open():
            for rows, columns in source.batches():
                writer.write_storage(columns, source.origin(rows))
        entries = writer.close()
        _check(inputs, entries, writer)
        moved = job.group.kind not in ("tombstones", "erase")
        origin = _origin(job, store, writer.take_origins()) if moved else None
    except BaseException:
        writer.abort()
        raise
    return _outcome(job, entries, origin, divided=divides)


def _options(job: CompactionJob) -> WriteOptions:
    return target_options(job.target, WriteSettings(target_bytes=job.target_bytes))


def _origin(job: CompactionJob, store: ObjectStore, rows: list[Rows]) -> OriginEntry | None:
    if not rows:
        return None
    data, prefix = encode_origins(rows), job.target.prefix
    return write_origin(store, prefix, job.job_id, data, inline_bytes=job.inline_bytes)


def _outcome(
    job: CompactionJob,
    entries: tuple[RowSetEntry, ...],
    origin: OriginEntry | None,
    copied: int = 0,
    *,
    divided: bool = False,
) -> CompactionOutcome:
    """Return what was written: into the partition of the group, unless it was `divided`."""
    ids: dict[str, object] = {"sort_order_id": job.target.sort_order_id}
    if divided:
        ids["partition_layout_id"] = job.target.partition_layout_id
    elif job.target.partition_fields:
        ids["partition_layout_id"] = job.group.partition_layout_id
        ids["partition"] = job.group.partition or None
    else:
        # In a table that is not partitioned any more, new RowSets have no partition.
        ids["partition_layout_id"] = 0
    return CompactionOutcome(
        outputs=tuple(entry.model_copy(update=ids) for entry in entries),
        origin=origin,
        bytes_copied=copied,
    )
