"""Committing the rows that the tasks of a job wrote, in place of whatever the job replaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.statements.replace import written_replacement
from colonnade.tableformat.statements.replace_partitions import written_partitions
from colonnade.tableformat.statements.statement import is_done, make_change
from colonnade.tableformat.write.job import WriteJob, commit_write


def commit_written(
    job: WriteJob,
    entries: Sequence[RowSetEntry],
    log: Log,
    base: Snapshot | None = None,
    *,
    fresh: bool = False,
) -> Snapshot:
    """Commit a write of any kind; the state after it. `fresh`: nobody has sent the job before.

    `base`, the snapshot of the job's base epoch, saves reading it again. Where rows are replaced
    that a condition selects, reads the columns of the condition where bounds do not decide it.
    Raises as `commit_write`, and InvalidInputError where a new row does not meet the condition.
    """
    of_partitions = job.mode == "overwrite_partitions" and job.create is None
    if job.where is None and not of_partitions:
        return commit_write(job, entries, log, base, fresh=fresh)
    if base is None:
        base, landed = log.resume(job.base, job.transaction, fresh=fresh)
        if landed:
            return base
    table = base.tables[TableId(job.target.table)]
    with log.removals_are_conflicts(Change(job.transaction, job.mode, (), fresh=fresh), base):
        if job.where is None:
            statement = written_partitions(log, table, entries, job.parameters)
        else:
            statement = written_replacement(job, entries, log, table)
    if not job.has_lease and is_done(statement, job.commit, log, base):
        return base
    change = make_change(statement, table, job.job, job.commit, job.transaction)
    ops = (*change.ops, *job.end_of_lease())
    return log.commit(replace(change, ops=ops, fresh=fresh), base)
