"""Transactions of Spark sessions: statements on tables of a database that become one epoch.

A session that began one sends its id with every request. What the transaction has done so far are
states that stand in no log: each is named by a number above those of all epochs, and found by it
in this process alone. When the process ends, its transactions are over and nothing was committed.
"""

from __future__ import annotations

import itertools
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from colonnade.manifests.commit.change import TableRead
from colonnade.manifests.errors import ConflictError, InvalidInputError, NotFoundError
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.spark_ext.settings import TRANSACTION
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import written_statement
from colonnade.tableformat.statements.statement import RowCounts, Statement
from colonnade.tableformat.table.transaction import Transaction
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.settings import CommitSettings

IDLE_HOURS_MAX = 24
"""A transaction of which nothing was heard for so long is over."""

_FIRST_STATE = 1 << 52
# What a DataFrame remembers of a planner that ended must be no state of the one that followed it.
_STATES = itertools.count(_FIRST_STATE + secrets.randbelow(_FIRST_STATE - 2**32))


def is_state(epoch: int) -> bool:
    """Whether a number is that of a transaction's state and not of an epoch."""
    return epoch >= _FIRST_STATE


class OpenTransaction:
    """A transaction of a session, whose statements come from several requests. Thread safe."""

    def __init__(self, location: Location, transaction: Transaction) -> None:
        self.location = location
        self._transaction = transaction
        self._lock = threading.RLock()
        self._counts: dict[str, RowCounts] = {}
        self._states: dict[int, Snapshot] = {}
        self.heard = time.monotonic()
        self._advance()

    @property
    def base(self) -> int:
        """The epoch that it reads."""
        return self._transaction.base

    @property
    def snapshot(self) -> Snapshot:
        """The database as the transaction left it; its epoch is the number of this state."""
        self.heard = time.monotonic()
        with self._lock:
            return self._states[self._number]

    def state(self, number: int) -> Snapshot | None:
        """One of its states, by number."""
        self.heard = time.monotonic()
        return self._states.get(number)

    def counts(self, statement: str) -> RowCounts:
        """What the statement of a transaction id did; nothing where it changed nothing."""
        return self._counts.get(statement, RowCounts())

    def note_read(self, read: TableRead) -> None:
        """Remember what a query has read, in case that its table is serializable."""
        with self._lock:
            self._transaction.note_read(read)

    def write(self, job: WriteJob, entries: Sequence[RowSetEntry]) -> int:
        """Add what tasks wrote, to the table that `job` may create or replace.

        Returns the number of the state after it. Raises as the methods of `Transaction`,
        ConflictError where another statement came between.
        """
        table = TableId(job.target.table)

        def added(log: Log, state: TableState, _: str) -> Statement:
            return written_statement(job, entries, log, state)

        def run() -> RowCounts:
            if job.replaces is not None:
                self._transaction.drop(self._transaction.state_of(TableId(job.replaces)).name)
            if job.create is not None:
                self._transaction.create_as(job.create)
            if entries or job.where is not None or job.replaces_all:
                return self._transaction.run(table, added)
            return RowCounts()

        return self._once(job, run)

    def run(self, job: WriteJob, statement: Statement) -> int:
        """Add a statement that was evaluated on the job's base; returns and raises as `write`."""
        table = TableId(job.target.table)
        return self._once(job, lambda: self._transaction.run(table, lambda *_: statement))

    def drop(self, name: str) -> None:
        """Drop a table. Raises NotFoundError for an unknown name."""
        with self._lock:
            self._transaction.drop(name)
            self._advance()

    def commit(self) -> int:
        """Make all of it one epoch, and return that. Raises as `Transaction.commit`."""
        with self._lock:
            return self._transaction.commit()

    def rollback(self) -> None:
        """End it and change nothing."""
        with self._lock:
            self._transaction.rollback()

    def _once(self, job: WriteJob, run: Callable[[], RowCounts]) -> int:
        """Carry a statement out, which was planned on the present state, and not twice."""
        with self._lock:
            if job.transaction in self._counts:
                return self._number
            if job.base != self._number:
                raise ConflictError(
                    f"Another statement of the same transaction changed {self.location.url} while"
                    " this one ran; run one after another."
                )
            with self._transaction.all_or_nothing():
                counts = run()
            self._counts[job.transaction] = counts
            return self._advance()

    def _advance(self) -> int:
        self._number = next(_STATES)
        self._states[self._number] = replace(self._transaction.state, epoch=self._number)
        return self._number


class Transactions:
    """The open transactions of this process, by id. Thread safe."""

    def __init__(self) -> None:
        self._open: dict[str, OpenTransaction] = {}
        self._within: ContextVar[str | None] = ContextVar("within", default=None)

    @contextmanager
    def within(self, transaction: str | None) -> Iterator[None]:
        """A block that belongs to the transaction of a session, if it has one."""
        token = self._within.set(transaction)
        try:
            yield
        finally:
            self._within.reset(token)

    def begin(self, location: Location, commit: CommitSettings) -> str:
        """Open a transaction on the newest state of a database; returns its id.

        Raises InvalidInputError within another one, StoreError.
        """
        if self._within.get() is not None:
            raise InvalidInputError("This session is in a transaction already; end that first.")
        log = Log(location.store)
        id_ = secrets.token_hex(16)
        self._open[id_] = OpenTransaction(location, Transaction(log, log.read_head(), commit))
        return id_

    def current(self) -> OpenTransaction | None:
        """That of this request. Raises InvalidInputError where it is over."""
        id_ = self._within.get()
        if id_ is None:
            return None
        found = self._open.get(id_)
        if found is None:
            raise _over_error()
        return found

    def of(self, location: Location) -> OpenTransaction | None:
        """That of this request, if it is one of the database at `location`."""
        found = self.current()
        here = found is not None and found.location.store.url == location.store.url
        return found if here else None

    def is_own(self, location: Location, number: int) -> bool:
        """Whether this request may base a write on a state: its transaction's, or an epoch."""
        found = self.of(location)
        return not is_state(number) if found is None else found.state(number) is not None

    def to_write(self, location: Location) -> OpenTransaction | None:
        """That of this request. Raises InvalidInputError for another database than its own."""
        found = self.current()
        if found is not None and found.location.store.url != location.store.url:
            raise InvalidInputError(
                f"The transaction of this session is one of database {found.location.store.url};"
                f" {location.url} lies outside it and is written before or after."
            )
        return found

    def refuse(self, url: str, what: str) -> None:
        """Refuse in a transaction what would be an epoch of its own, also of other databases.

        Raises InvalidInputError.
        """
        if self.current() is not None:
            raise InvalidInputError(
                f"{url} cannot be {what} within a transaction; do it before or after."
            )

    def holding(self, number: int) -> OpenTransaction:
        """The one of a state. Raises NotFoundError where that is over."""
        for each in list(self._open.values()):
            if each.state(number) is not None:
                return each
        raise NotFoundError(
            "The rows belong to a transaction that is over; load the table again to see what was"
            " committed."
        )

    def state(self, number: int) -> Snapshot:
        """A state by its number. Raises NotFoundError where its transaction is over."""
        found = self.holding(number).state(number)
        assert found is not None
        return found

    def note_read(self, epoch: int, read: TableRead) -> None:
        """Remember a read of a transaction's state; one of an epoch is of no interest."""
        if is_state(epoch):
            self.holding(epoch).note_read(read)

    def end(self, finish: Callable[[OpenTransaction], int | None]) -> int | None:
        """End the transaction of this request, also where `finish` raises."""
        found = self.current()
        if found is None:
            raise InvalidInputError("This session is in no transaction; begin one first.")
        if self._open.pop(self._within.get() or "", None) is None:
            raise _over_error()  # by another thread of the session, just now
        return finish(found)

    def any_open(self) -> bool:
        """Whether one is open; those of which nothing was heard for a day are not any more."""
        oldest = time.monotonic() - IDLE_HOURS_MAX * 3600
        for id_, each in list(self._open.items()):
            if each.heard < oldest:
                self._open.pop(id_, None)
        return bool(self._open)


def _over_error() -> InvalidInputError:
    return InvalidInputError(
        "The transaction of this session is over: it was ended, or its planner was; what was not"
        f" committed before is lost. RESET {TRANSACTION} to go on."
    )


TRANSACTIONS = Transactions()
"""Those of this process."""
