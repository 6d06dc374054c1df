"""Transactions of Spark sessions: statements on tables of a database that become one epoch.

A session in a transaction sends the transaction's id with every request. Each statement makes a new
state of the database, which is only in this process and not in the log. A state has a number above
all numbers of epochs. If the process ends, its open transactions end without a commit.
"""

from __future__ import annotations

import itertools
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from colonnade.manifests.clock import AgreedTime
from colonnade.manifests.commit.change import TableRead
from colonnade.manifests.errors import ConflictError, InvalidInputError, NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.spark_ext.settings import TRANSACTION
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import Reported
from colonnade.tableformat.statements.statement import RowCounts
from colonnade.tableformat.table.transaction.transaction import ArrowTransaction
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.settings import CommitSettings

IDLE_HOURS_MAX = 24
"""A transaction without requests for this long is dropped."""

_FIRST_STATE = 1 << 52
# Numbers begin at random: a DataFrame may still name a state of a planner that has ended, and a
# new planner must not have a state of the same number.
_STATES = itertools.count(_FIRST_STATE + secrets.randbelow(_FIRST_STATE - 2**32))


def is_state(epoch: int) -> bool:
    """Whether a number names a transaction's state and not an epoch."""
    return epoch >= _FIRST_STATE


class OpenTransaction:
    """The transaction of a session, which several requests add statements to. Thread-safe."""

    def __init__(self, location: Location, transaction: ArrowTransaction) -> None:
        self.location = location
        self._transaction = transaction
        self._lock = threading.RLock()
        self._counts: dict[str, RowCounts] = {}
        self._states: dict[int, Snapshot] = {}
        self.heard = time.monotonic()
        self._advance()

    @property
    def base(self) -> int:
        """The epoch that the transaction is based on."""
        return self._transaction.base

    def agreed(self, table: TableState | None = None) -> AgreedTime:
        """Return the one time that the transaction sees all its tables at."""
        return self._transaction._time(table)

    @property
    def job_id(self) -> str:
        """The id that the ids of all objects of the transaction begin with."""
        return self._transaction._job_id

    @property
    def snapshot(self) -> Snapshot:
        """The newest state of the transaction; its `epoch` is the number of the state."""
        self.heard = time.monotonic()
        with self._lock:
            return self._states[self._number]

    def state(self, number: int) -> Snapshot | None:
        """Return a state of this transaction by its number; None for any other number."""
        self.heard = time.monotonic()
        return self._states.get(number)

    def counts(self, statement: str) -> RowCounts:
        """Return what a statement changed, by its id; zeros for an unknown id."""
        return self._counts.get(statement, RowCounts())

    def record_read(self, read: TableRead) -> None:
        """Remember what a query has read, in case its table is serializable."""
        with self._lock:
            self._transaction._record_read(read)

    def move(self, consumer: str, table: TableState) -> None:
        """Let the commit move a consumer, whose changes of a table of the base a query reads.

        Raises the errors of `ArrowTransaction._move`.
        """
        with self._lock:
            self._transaction._move(consumer, table)

    def add(self, job: WriteJob, reported: Reported) -> int:
        """Add what the tasks of a job did; a repeated request does not add it again.

        Returns the number of the new state, or of the present one if nothing changed. Raises
        ConflictError if another statement changed the state since the job was planned, and the
        errors of `ArrowTransaction._add`.
        """
        with self._lock:
            if job.transaction in self._counts:
                return self._number
            if job.base != self._number:
                raise ConflictError(
                    f"Another statement of the same transaction changed {self.location.url} while"
                    " this one ran; run one after another."
                )
            before = self._transaction._current
            with self._transaction._all_or_nothing():
                counts = self._transaction._add(job, reported)
            self._counts[job.transaction] = counts
            return self._number if self._transaction._current is before else self._advance()

    def drop(self, name: str) -> None:
        """Drop a table. Raises NotFoundError for an unknown name."""
        with self._lock:
            self._transaction.drop(name)
            self._advance()

    def commit(self) -> int:
        """Commit all changes as one epoch and return it. Raises as `ArrowTransaction.commit`."""
        with self._lock:
            return self._transaction.commit()

    def rollback(self) -> None:
        """End the transaction and discard its changes."""
        with self._lock:
            self._transaction.rollback()

    def _advance(self) -> int:
        self._number = next(_STATES)
        self._states[self._number] = replace(self._transaction._current, epoch=self._number)
        return self._number


class Transactions:
    """The open transactions of this process, by id. Thread-safe."""

    def __init__(self) -> None:
        self._open: dict[str, OpenTransaction] = {}
        self._within: ContextVar[str | None] = ContextVar("within", default=None)

    @contextmanager
    def within(self, transaction: str | None) -> Iterator[None]:
        """Run a block within the transaction of this id; within none if the id is None."""
        token = self._within.set(transaction)
        try:
            yield
        finally:
            self._within.reset(token)

    def begin(self, location: Location, commit: CommitSettings) -> str:
        """Begin a transaction on the newest state of a database; return its id.

        Raises InvalidInputError within another transaction, and StoreError.
        """
        if self._within.get() is not None:
            raise InvalidInputError("This session is already in a transaction; end it first.")
        log = Log(location.store)
        id_ = secrets.token_hex(16)
        self._open[id_] = OpenTransaction(
            location, ArrowTransaction(log, log.reader.read_head(), commit)
        )
        return id_

    @property
    def id(self) -> str | None:
        """The id of the transaction of this request, which may have ended; None without one."""
        return self._within.get()

    def current(self) -> OpenTransaction | None:
        """Return the transaction of this request, or None. Raises InvalidInputError if it ended."""
        id_ = self._within.get()
        if id_ is None:
            return None
        found = self._open.get(id_)
        if found is None:
            raise _over_error()
        return found

    def of(self, location: Location) -> OpenTransaction | None:
        """Return the transaction of this request if it is on the database at `location`."""
        found = self.current()
        here = found is not None and found.location.store.url == location.store.url
        return found if here else None

    def is_own(self, location: Location, number: int) -> bool:
        """Whether this request may base a write on `number`.

        Within a transaction on this database `number` must be one of its states, and otherwise an
        epoch.
        """
        found = self.of(location)
        return not is_state(number) if found is None else found.state(number) is not None

    def to_write(self, location: Location) -> OpenTransaction | None:
        """Return the transaction of this request, or None.

        Raises InvalidInputError if the transaction is on another database than `location`.
        """
        found = self.current()
        if found is not None and found.location.store.url != location.store.url:
            raise InvalidInputError(
                f"The transaction of this session is on database {found.location.store.url};"
                f" {location.url} is outside it, so write to it before or after."
            )
        return found

    def refuse(self, url: str, what: str) -> None:
        """Raise InvalidInputError within a transaction, on any database.

        Operations that need their own epoch call this; `what` completes "{url} cannot be".
        """
        if self.current() is not None:
            raise InvalidInputError(
                f"{url} cannot be {what} within a transaction; do it before or after."
            )

    def holding(self, number: int) -> OpenTransaction:
        """Return the transaction that has a state. Raises NotFoundError if it has ended."""
        for each in list(self._open.values()):
            if each.state(number) is not None:
                return each
        raise NotFoundError(
            "The rows belong to a transaction that has ended; load the table again to see what was"
            " committed."
        )

    def state(self, number: int) -> Snapshot:
        """Return a state by its number. Raises NotFoundError if its transaction has ended."""
        found = self.holding(number).state(number)
        assert found is not None
        return found

    def record_read(self, epoch: int, read: TableRead) -> None:
        """Remember a read of a transaction's state; ignore a read of an epoch."""
        if is_state(epoch):
            self.holding(epoch).record_read(read)

    def end(self, finish: Callable[[OpenTransaction], int | None]) -> int | None:
        """End the transaction of this request by `finish`; it ends even if `finish` raises."""
        found = self.current()
        if found is None:
            raise InvalidInputError("This session is not in a transaction; begin one first.")
        if self._open.pop(self._within.get() or "", None) is None:
            raise _over_error()  # another thread of the session has just ended it
        return finish(found)

    def any_open(self) -> bool:
        """Whether a transaction is open; first drops those without requests for a day."""
        oldest = time.monotonic() - IDLE_HOURS_MAX * 3600
        for id_, each in list(self._open.items()):
            if each.heard < oldest:
                self._open.pop(id_, None)
        return bool(self._open)


def _over_error() -> InvalidInputError:
    return InvalidInputError(
        "The transaction of this session is over: it was ended, or its planner has ended. Changes"
        f" that were not committed are lost; RESET {TRANSACTION} to continue."
    )


TRANSACTIONS = Transactions()
"""The open transactions of this process."""
