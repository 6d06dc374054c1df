"""Commit what a job has written as an epoch, or drop it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.rebase.targets import all_rows
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.deletion_vector import DeletionVector, hold_deletion_vector
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AddRowSet,
    Compaction,
    CompactionInput,
    CompactionOutput,
    Operation,
)
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.compaction.job import CompactionJob, CompactionOutcome
from colonnade.tableformat.compaction.lease import end_of_lease
from colonnade.tableformat.statements.expire import same_lifetimes

OPERATION = "compact"
"""The name of a compaction in the history."""

AFTER_COMMIT = "after_commit"
"""The parameter of a compaction that a writer made after its own commit (`compaction.auto`)."""


def commit_job(
    log: Log,
    base: Snapshot,
    job: CompactionJob,
    outcome: CompactionOutcome,
    *,
    fresh: bool = False,
) -> tuple[Snapshot, Epoch | None]:
    """Commit the outputs of a compaction in place of its RowSets; return the new state and epoch.

    `base` is the state at the job's base, from before its first file was written. Rows that a
    concurrent writer deleted or changed meanwhile are carried over. A commit that is sent again
    commits once; `fresh` says that it was never sent before. Raises ConflictError when a concurrent
    writer rewrote or emptied one of the RowSets, or changed the columns. Raises the errors of
    `Log.commit`. After an error, vacuum removes the files.
    """
    change = Change(
        job.transaction,
        OPERATION,
        (*_operations(job, outcome), *end_of_lease(job)),
        _parameters(job),
        metrics=_metrics(job, outcome),
        job_id=job.job_id,
        fresh=fresh,
        keys=(same_lifetimes(job.target.table, job.lifetimes),) if job.lifetimes else (),
    )
    return log.commit_change(change, base)


def _parameters(job: CompactionJob) -> dict[str, str]:
    found = {"kind": job.group.kind, "reason": job.group.reason, **job.parameters}
    return {**found, AFTER_COMMIT: "true"} if job.group.after_commit else found


def _operations(job: CompactionJob, outcome: CompactionOutcome) -> Iterator[Operation]:
    buries = job.group.kind in ("tombstones", "erase")
    yield Compaction(
        table=job.target.table,
        inputs=tuple(
            CompactionInput(rowset=each.id, rows=each.entry.rows, vector=each.vector)
            for each in job.view.rowsets
        ),
        outputs=tuple(
            CompactionOutput(rowset=_dated(job, each)) for each in outcome.outputs if not buries
        ),
        origin=outcome.origin,
    )
    # A compaction keeps live rows, and tombstones have none.
    yield from _tombstones(job, outcome.outputs) if buries else ()


def _dated(job: CompactionJob, entry: RowSetEntry) -> RowSetEntry:
    """Return an entry that states what all its rows have in common, where that matters.

    It is which range tombstones they have met, and when they were written.
    """
    times = entry.written_ms if job.written_at is None else (job.written_at, job.written_at)
    return entry.model_copy(update={"clean_epoch": job.cleaned, "written_ms": times})


def _metrics(job: CompactionJob, outcome: CompactionOutcome) -> dict[str, int]:
    return {
        "rowsets_removed": len(job.view.rowsets),
        "rowsets_added": len(outcome.outputs),
        "rows_dropped": job.group.deleted_rows,
        "bytes_read": job.group.bytes_in,
        "bytes_copied": outcome.bytes_copied,
        "bytes_written": outcome.bytes_written,
    }


def _tombstones(job: CompactionJob, entries: Sequence[RowSetEntry]) -> Iterator[AddRowSet]:
    """Yield operations that add merged tombstones, with vectors that delete all of them."""
    for entry in entries:
        vector = hold_deletion_vector(job.job_id, DeletionVector(all_rows(entry.rows)))
        yield AddRowSet(table=job.target.table, rowset=entry, vector=vector)
