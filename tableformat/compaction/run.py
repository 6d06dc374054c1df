"""A job run: its RowSets are written, and nothing is visible."""

from __future__ import annotations

from manifests.entries import OriginEntry, PartitionValues, RowSetEntry
from manifests.rebase.origin import write_origin
from manifests.store import ObjectStore, open_store
from tableformat.compaction.concatenate import concatenate
from tableformat.compaction.inputs import Rows, open_sources
from tableformat.compaction.job import CompactionJob, CompactionOutcome
from tableformat.compaction.merge import merge
from tableformat.compaction.zorder import zorder
from tableformat.partition.writer import PartitionedWriter
from tableformat.rowset_writer import RowSetWriter, WriteOptions
from tableformat.stop import Stop
from tableformat.write_job import write_options
from tableformat.write_settings import WriteSettings


def run_job(
    job: CompactionJob, store: ObjectStore | None = None, stop: Stop | None = None
) -> CompactionOutcome:
    """Write the RowSets that shall replace those of a job; `commit_job` makes them visible.

    Every stored byte is read once, but for a sample of the columns of a z-order. What was written
    is removed when it fails. Raises CorruptionError naming file, column and block; StoreError;
    CancelledError soon after a stop is requested.
    """
    store, stop = store or open_store(job.url), stop or Stop()
    divided = job.group.kind == "repartition"
    return _divide(job, store, stop) if divided else _write(job, store, stop)


def _write(job: CompactionJob, store: ObjectStore, stop: Stop) -> CompactionOutcome:
    """All rows into RowSets of the partition that they are of."""
    rows: Rows | None = None
    copied = 0
    prefix, schema = job.target.prefix, job.target.table_schema
    # No sort key: the rows come in their order.
    with RowSetWriter(store, prefix, job.job, schema, (), _options(job)) as writer:
        if job.group.kind == "merge":
            rows = merge(job, store, writer, stop)
        elif job.group.kind == "zorder":
            rows = zorder(job, store, writer, stop)
        else:
            copied = concatenate(job, store, writer, stop)
        origin = _origin(job, store, rows)
        entries = writer.close()
    # A table that is not partitioned any more forgets of what partition its rows were.
    if not job.target.partition_fields:
        return _outcome(job, entries, 0, origin, copied)
    group = job.group
    partition = group.partition or None
    return _outcome(job, entries, group.partition_layout_id, origin, copied, partition)


def _divide(job: CompactionJob, store: ObjectStore, stop: Stop) -> CompactionOutcome:
    """Rows of an earlier layout into RowSets of the partitions that they are of by now."""
    target = job.target
    schema, fields, sort_key = target.table_schema, target.partition_fields, target.sort_key
    writer = PartitionedWriter(
        store, target.prefix, job.job, schema, fields, sort_key, _options(job)
    )
    try:
        for source in open_sources(job, store, stop):
            for rows, columns in source.batches():
                writer.write_storage(columns, source.origin(rows))
        entries = writer.close()
        origin = _origin(job, store, writer.origins())
    except BaseException:
        writer.abort()
        raise
    return _outcome(job, entries, target.partition_layout_id, origin)


def _options(job: CompactionJob) -> WriteOptions:
    target, settings = job.target, WriteSettings(target_bytes=job.target_bytes)
    schema, fields = target.table_schema, target.partition_fields
    return write_options(schema, target.sort_key, settings, target.bloom_columns, fields)


def _origin(job: CompactionJob, store: ObjectStore, rows: Rows | None) -> OriginEntry | None:
    if rows is None or not len(rows):
        return None
    inline = _options(job).inline_vector_bytes
    return write_origin(store, job.target.prefix, job.job, rows, inline_bytes=inline)


def _outcome(
    job: CompactionJob,
    entries: tuple[RowSetEntry, ...],
    layout: int,
    origin: OriginEntry | None,
    copied: int = 0,
    partition: PartitionValues | None = None,
) -> CompactionOutcome:
    """What was written; a `partition` that all entries are of."""
    ids: dict[str, object] = {"schema_id": job.target.schema_id, "partition_layout_id": layout}
    if partition is not None:
        ids["partition"] = partition
    return CompactionOutcome(
        outputs=tuple(entry.model_copy(update=ids) for entry in entries),
        origin=origin,
        bytes_copied=copied,
    )
