"""What a job has written becomes an epoch, or is dropped."""

from __future__ import annotations

from colonnade.manifests.commit.change import Change
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import (
    Compaction,
    CompactionInput,
    CompactionOutput,
    Epoch,
)
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.compaction.job import CompactionJob, CompactionOutcome
from colonnade.tableformat.compaction.lease import end_of_lease

OPERATION = "compact"
"""What history calls a compaction."""


def commit_job(
    log: Log, base: Snapshot, job: CompactionJob, outcome: CompactionOutcome
) -> tuple[Snapshot, Epoch | None]:
    """Put the outputs of a job in the place of its RowSets; the state after it, and its epoch.

    `base` is the state at the job's base, from before its first file was written. Rows that others
    took meanwhile are carried over; sent again, it commits once. Raises ConflictError where others
    rewrote or emptied one of the RowSets, or changed the columns, and whatever `Log.commit` raises.
    Files are then vacuum's to remove.
    """
    change = Change(
        job.transaction,
        OPERATION,
        (_operation(job, outcome), *end_of_lease(job)),
        {"kind": job.group.kind, "reason": job.group.reason},
        metrics=_metrics(job, outcome),
        job=job.job,
    )
    return log.commit_change(change, base)


def _operation(job: CompactionJob, outcome: CompactionOutcome) -> Compaction:
    return Compaction(
        table=job.target.table,
        inputs=tuple(
            CompactionInput(rowset=each.id, rows=each.entry.rows, vector=each.vector)
            for each in job.sources
        ),
        outputs=tuple(CompactionOutput(rowset=entry) for entry in outcome.outputs),
        origin=outcome.origin,
    )


def _metrics(job: CompactionJob, outcome: CompactionOutcome) -> dict[str, int]:
    return {
        "rowsets_removed": len(job.sources),
        "rowsets_added": len(outcome.outputs),
        "rows_dropped": job.group.deleted_rows,
        "bytes_read": job.group.bytes_in,
        "bytes_copied": outcome.bytes_copied,
        "bytes_written": outcome.bytes_written,
    }
