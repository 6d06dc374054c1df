"""Tell removed epochs from damage when retention removes the epoch of a request.

Files that retention removed are not damage. An error about damage would lead users to repair a
sound table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    NotFoundError,
)
from colonnade.manifests.log.log import Log
from colonnade.manifests.store import open_store
from colonnade.spark_ext.planner.transactions import TRANSACTIONS, is_state
from colonnade.spark_ext.planner.unsent import UNSENT
from colonnade.tableformat.write.job import WriteJob

Operation = Callable[[Mapping[str, Any]], dict[str, Any]]


def unless_outdated(operation: Operation) -> Operation:
    """Wrap an operation so that it says when retention has removed its epoch.

    The wrapped operation then raises NotFoundError for a read, and ConflictError for a statement.
    It raises CommitUnknownError for a statement whose commit may have been sent before. If that
    commit is found in the log, it returns the committed epoch.
    """

    @wraps(operation)
    def run(args: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return operation(args)
        except NotFoundError:
            if "job" in args and (epoch := _landed(WriteJob.model_validate_json(args["job"]))):
                return {"epoch": epoch}
            raise
        except CorruptionError:
            if "job" in args:
                _refuse_job(WriteJob.model_validate_json(args["job"]))
            elif "url" in args:
                Log(open_store(args["url"])).read_at(_epoch(args["epoch"]))
            raise

    return run


def _landed(job: WriteJob) -> int | None:
    """Return the epoch that committed a job; None if the job was not committed."""
    if job.create_database or is_state(job.base):
        return None
    log, fresh = Log(open_store(job.url)), UNSENT.take(job.transaction)
    state, landed = log.resume(job.base, job.transaction, fresh=fresh)
    return state.epoch if landed else None


def _refuse_job(job: WriteJob) -> None:
    epoch = _epoch(job.base)
    if not Log(open_store(job.url)).is_removed(epoch):
        return
    removed = (
        f"Epoch {epoch} of {job.url}, on which the statement was planned, was removed by retention;"
    )
    if UNSENT.take(job.transaction) or is_state(job.base):
        raise ConflictError(f"{removed} run it again.")
    raise CommitUnknownError(
        f"{removed} look for transaction {job.transaction} in the history before you run it again."
    )


def _epoch(number: int) -> int:
    """Return the epoch, or for a transaction's state the epoch on which it began."""
    return TRANSACTIONS.holding(number).base if is_state(number) else number
