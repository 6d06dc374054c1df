"""Make errors of requests tell the truth: about removed epochs, and about commits sent before.

Files that retention removed are not damage. An error about damage would lead users to repair a
sound table. An error of a request that is sent again does not say that its commit has failed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from colonnade.manifests.errors import (
    CorruptionError,
    NotFoundError,
)
from colonnade.manifests.log.landed import UNTELLING
from colonnade.manifests.log.log import Log
from colonnade.manifests.store import open_store
from colonnade.spark_ext.planner.state.storage import job_of, place_of
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS, is_state
from colonnade.spark_ext.planner.state.unsent import UNSENT
from colonnade.tableformat.write.job import WriteJob

Operation = Callable[[Mapping[str, Any]], dict[str, Any]]


def unless_outdated(operation: Operation) -> Operation:
    """Wrap an operation so that its errors tell what retention did, and what became of a commit.

    If retention has removed the epoch of a request, the wrapped operation raises NotFoundError for
    a read, and ConflictError for a statement. Every operation with a `job` commits that job. If an
    earlier request may have sent the commit, no error of the log or the store tells its outcome.
    The wrapped operation then returns the committed epoch if the log has it, and otherwise raises
    CommitUnknownError.
    """

    @wraps(operation)
    def run(args: Mapping[str, Any]) -> dict[str, Any]:
        if "job" in args:
            return _run_job(operation, args, job_of(args))
        try:
            return operation(args)
        except CorruptionError:
            if "url" not in args:
                raise
            number = args["epoch"]
            log = Log(open_store(place_of(args)))
            with log.reader.removals_are_told(_epoch(number), staged=is_state(number)):
                raise

    return run


def _run_job(operation: Operation, args: Mapping[str, Any], job: WriteJob) -> dict[str, Any]:
    log = Log(open_store(job.address))
    sent = not UNSENT.has(job.transaction) and not is_state(job.base)
    try:
        try:
            return operation(args)
        except (NotFoundError, CorruptionError):
            base = _epoch(job.base)
            if job.create_database or not log.reader.is_removed(base):
                raise
            state, landed = log.resume(base, job.transaction, fresh=not sent)
            if not landed:
                raise
            return {"epoch": state.epoch}
    except UNTELLING as error:
        if not sent:
            raise
        return {"epoch": log.find_sent(job.transaction, error).epoch}


def _epoch(number: int) -> int:
    """Return the epoch, or for a transaction's state the epoch on which it began."""
    return TRANSACTIONS.holding(number).base if is_state(number) else number
