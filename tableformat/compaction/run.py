"""A job run: its RowSets are written, and nothing is visible."""

from __future__ import annotations

from manifests.rebase.origin import write_origin
from manifests.store import ObjectStore, open_store
from tableformat.compaction.concatenate import concatenate
from tableformat.compaction.inputs import Rows
from tableformat.compaction.job import CompactionJob, CompactionOutcome
from tableformat.compaction.merge import merge
from tableformat.compaction.zorder import zorder
from tableformat.rowset_writer import RowSetWriter
from tableformat.write_job import write_options
from tableformat.write_settings import WriteSettings


def run_job(job: CompactionJob, store: ObjectStore | None = None) -> CompactionOutcome:
    """Write the RowSets that shall replace those of a job; `commit_job` makes them visible.

    Every stored byte is read once, but for a sample of the columns of a z-order. What was written
    is removed when it fails. Raises CorruptionError naming file, column and block; StoreError.
    """
    store = store or open_store(job.url)
    settings = WriteSettings(target_bytes=job.target_bytes)
    options = write_options(job.table_schema, job.sort_key, settings, job.bloom_columns)
    rows: Rows | None = None
    copied = 0
    # No sort key: the rows come in their order.
    with RowSetWriter(store, job.prefix, job.job, job.table_schema, (), options) as writer:
        if job.group.kind == "merge":
            rows = merge(job, store, writer)
        elif job.group.kind == "zorder":
            rows = zorder(job, store, writer)
        else:
            copied = concatenate(job, store, writer)
        origin = None
        if rows is not None and len(rows):
            origin = write_origin(store, job.prefix, job.job, rows)
        entries = writer.close()
    written_by = {"schema_id": job.schema_id}
    return CompactionOutcome(
        outputs=tuple(entry.model_copy(update=written_by) for entry in entries),
        origin=origin,
        bytes_copied=copied,
    )
