"""Committing the rows that the tasks of a job wrote, in place of whatever the job replaces."""

from __future__ import annotations

from collections.abc import Sequence

from manifests.entries import RowSetEntry
from manifests.log import Log
from manifests.snapshot import Snapshot
from tableformat.statements.replace import commit_replacement
from tableformat.statements.replace_partitions import commit_partitions
from tableformat.write_job import WriteJob, commit_write


def commit_written(
    job: WriteJob, entries: Sequence[RowSetEntry], log: Log, base: Snapshot | None = None
) -> Snapshot:
    """Commit a write of any kind; the state after it. Raises as `commit_write`.

    `base`, the snapshot of the job's base epoch, saves reading it again.
    """
    if job.where is not None:
        return commit_replacement(job, entries, log, base)
    if job.mode == "overwrite_partitions" and job.create is None:
        return commit_partitions(job, entries, log, base)
    return commit_write(job, entries, log, base)
