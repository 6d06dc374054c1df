"""Commit what the tasks of a job did, as an epoch or as a part of the session's transaction."""

from __future__ import annotations

from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import open_store
from colonnade.spark_ext.planner.messages.writes import Committed
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS, is_state
from colonnade.spark_ext.planner.state.unsent_transactions import UNSENT
from colonnade.spark_ext.planner.write.identity import unrepeated
from colonnade.tableformat.compaction.auto import compact_after
from colonnade.tableformat.statements.commit import Reported, commit_reported
from colonnade.tableformat.statements.statement import Statement
from colonnade.tableformat.write.job import WriteJob


def commit(job: WriteJob, base: Snapshot | None, reported: Reported) -> Committed:
    """Commit a job that was planned on `base`; None means that the job creates the database.

    Every request that commits rows ends here. The reply's `epoch` is the new epoch. It is the
    number of the new state if the job belongs to a transaction, and the job's base if nothing was
    changed.
    Raises the errors of `commit_reported`, or those of `OpenTransaction.add`.
    """
    reported = unrepeated(job, reported)
    if is_state(job.base):
        return Committed(epoch=TRANSACTIONS.holding(job.base).add(job, reported))
    log, fresh = SNAPSHOTS.log(open_store(job.address)), UNSENT.take(job.transaction)

    def evaluated(log: StatementLog, table: TableState) -> Statement:
        try:
            return reported(log, table)
        except BaseException:
            if fresh:
                UNSENT.add(job.transaction)  # nothing was sent yet
            raise

    after = commit_reported(job, evaluated, log, base, fresh=fresh)
    SNAPSHOTS.committed(job.address, after)
    if after is not base:
        compact_after(log, after, job.target.table)
    return Committed(epoch=after.epoch)
