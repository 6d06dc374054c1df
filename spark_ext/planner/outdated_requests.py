"""Make errors of requests tell the truth: about removed epochs, and about commits sent before.

Files that retention removed are not damage. An error about damage would lead users to repair a
sound table. An error of a request that is sent again does not say that its commit has failed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from colonnade.manifests.commit.landed_changes import UNTELLING
from colonnade.manifests.errors import (
    CorruptionError,
    NotFoundError,
)
from colonnade.manifests.log.log import Log
from colonnade.manifests.store import StoreAddress, open_store
from colonnade.spark_ext.planner.messages.base import Message, Operation, Request
from colonnade.spark_ext.planner.messages.rewrites import ChooseColumns, UpdatedRowsets
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.spark_ext.planner.messages.writes import Committed, DeleteWhere
from colonnade.spark_ext.planner.state.storage import job_of, place_of
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS, is_state
from colonnade.spark_ext.planner.state.unsent_transactions import UNSENT


def unless_outdated(operation: Operation[Any, Any]) -> Operation[Any, Any]:
    """Wrap an operation so that its errors tell what retention did, and what became of a commit.

    If retention has removed the epoch of a request, the wrapped operation raises NotFoundError for
    a read, and ConflictError for a statement. If an earlier request may have sent the commit of a
    job, no error of the log or the store tells its outcome. The wrapped operation then returns the
    committed epoch if the log has it, and otherwise raises CommitUnknownError.
    """

    def run(request: Any) -> Message:
        if isinstance(request, DeleteWhere):
            UNSENT.add_sent(request.transaction)
            view = request.view
            sending = _Sending(place_of(view), request.transaction, view.epoch, creates=False)
            return _run_commit(operation, request, sending)
        if hasattr(request, "job"):
            job = job_of(request.job)
            sending = _Sending(job.address, job.transaction, job.base, job.create_database)
            return _run_commit(operation, request, sending)
        try:
            reply: Message = operation.run(request)
            return reply
        except CorruptionError:
            read = _view_of(request)
            if read is None:
                raise
            log, epoch = Log(open_store(place_of(read))), read.epoch
            with log.reader.naming_removals(_epoch(epoch), staged=is_state(epoch)):
                raise

    return replace(operation, run=run)


class _Sending(NamedTuple):
    """A commit that a request asks for: where, under which id, and on which epoch or state.

    `creates` says that it creates the database.
    """

    address: StoreAddress
    transaction: str
    base: int
    creates: bool


def _run_commit(operation: Operation[Any, Any], request: Request, sending: _Sending) -> Message:
    log = Log(open_store(sending.address))
    sent = not UNSENT.has(sending.transaction) and not is_state(sending.base)
    try:
        try:
            reply: Message = operation.run(request)
            return reply
        except (NotFoundError, CorruptionError):
            base = _epoch(sending.base)
            if sending.creates or not log.reader.is_removed(base):
                raise
            state, landed = log.resume(base, sending.transaction, fresh=not sent)
            if not landed:
                raise
            return Committed(epoch=state.epoch)
    except UNTELLING as error:
        if not sent:
            raise
        return Committed(epoch=log.find_sent(sending.transaction, error).epoch)


def _view_of(request: Any) -> NamedView | None:
    """Return the view that a question reads, or that the statement reads which it is about."""
    if isinstance(request, UpdatedRowsets | ChooseColumns):
        return request.update.view
    found: NamedView | None = getattr(request, "view", None)
    return found


def _epoch(number: int) -> int:
    """Return the epoch, or for a transaction's state the epoch on which it began."""
    return TRANSACTIONS.holding(number).base if is_state(number) else number
