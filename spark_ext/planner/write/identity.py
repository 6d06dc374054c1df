"""Give tasks in the JVM values of identity columns.

A task asks the driver, and the driver asks here. The values of an attempt that fails, or that asks
twice, are gaps. Spec: docs/spec/types.md#identity-columns
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import partial

from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    NotFoundError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.columns.identity import identity_columns, numbers_of, spec_of
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.store import open_store
from colonnade.spark_ext.planner.messages.base import Done, operation
from colonnade.spark_ext.planner.messages.writes import DrawIdentity, Drawn, RecordIdentity
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import job_of
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS, is_state
from colonnade.spark_ext.write_task import AHEAD_SHARE
from colonnade.tableformat.statements.commit import Reported
from colonnade.tableformat.statements.identity_guard import refuse_repeated
from colonnade.tableformat.statements.statement import Statement
from colonnade.tableformat.write.identity import (
    MOST_AHEAD,
    Draws,
    OwnDraws,
    beyond,
    draws_at,
    values_beyond,
)
from colonnade.tableformat.write.job import WriteJob

_MOST_JOBS = 10_000
"""At most this many jobs are remembered. A job that is forgotten gets no more values."""


class _Pool:
    """The values of one column that a job has taken, and those of them that no task has yet."""

    def __init__(self) -> None:
        self.left, self.taken = range(0), 0
        self.drawn: list[range] = []
        self.given: list[int] = []


class JobDraws:
    """Divides the values that one job takes between its tasks. Thread-safe."""

    def __init__(self, begin: Callable[[], Draws]) -> None:
        """Begin with the first task that needs a value. Raises what `begin` raises only then."""
        self._begin, self._lock = begin, threading.Lock()
        self._draws: Draws | None = None
        self._pools: dict[int, _Pool] = {}

    def take(self, column: SchemaField, count: int, farthest: int | None) -> range:
        """Return at least one and at most `count` values that no other task gets.

        They are beyond `farthest`, a value that a user gave. Raises the errors of `Draws.draw`, and
        ConflictError if a concurrent writer has widened the column and uses the wider type.
        """
        with self._lock:
            pool = self._pool(column)
            pool.left = beyond(pool.left, farthest)
            if not pool.left:
                ahead = min(pool.taken // AHEAD_SHARE, MOST_AHEAD)
                wanted = max(count, ahead)
                self._draws = self._draws or self._begin()
                pool.left = values_beyond(self._draws, column, wanted, farthest, least=1)
                pool.taken += len(pool.left)
                pool.drawn.append(pool.left)
            values, pool.left = pool.left[:count], pool.left[count:]
        if values[-1] not in numbers_of(column):
            raise ConflictError(
                f"Identity column {column.name!r} was widened while a statement gave it values;"
                " run the statement again."
            )
        return values

    def record(self, column: SchemaField, farthest: int) -> None:
        """Remember the farthest value of a column in the rows of a task."""
        with self._lock:
            self._pool(column).given.append(farthest)

    def contested(self, column: SchemaField) -> list[range]:
        """Return the values that tasks got, if another task may have written one of them."""
        pool = self._pool(column)
        if not pool.drawn:
            return []
        first = pool.drawn[0]
        return pool.drawn if any(beyond(first, each) != first for each in pool.given) else []

    def _pool(self, column: SchemaField) -> _Pool:
        return self._pools.setdefault(column.id, _Pool())


_JOBS: OrderedDict[str, JobDraws] = OrderedDict()
_LOCK = threading.Lock()


def remember(job: WriteJob) -> None:
    """Let the tasks of a job draw values, from its plan to its commit.

    Only the planner that plans a job knows which values its tasks got. Another planner, or one that
    has forgotten the job, gives its tasks no values, because it could not find a repeated one.
    """
    if not identity_columns(job.target.table_schema):
        return
    with _LOCK:
        _JOBS.setdefault(job.transaction, JobDraws(partial(_begin, job)))
        if len(_JOBS) > _MOST_JOBS:
            _JOBS.popitem(last=False)


@operation
def draw_identity(request: DrawIdentity) -> Drawn:
    """Raise the errors of `JobDraws.take`, and NotFoundError if the table was dropped.

    Raises ConflictError if this planner does not know the job (`remember`).
    """
    job = job_of(request.job)
    column = job.target.table_schema.by_id(request.column)
    farthest = None if request.beyond is None else int(request.beyond)
    values = _draws_of(job).take(column, request.count, farthest)
    return Drawn(first=str(values[0]), count=len(values))


@operation
def record_identity(request: RecordIdentity) -> Done:
    """Have the commit look for values that came twice."""
    job = job_of(request.job)
    column = job.target.table_schema.by_id(request.column)
    _draws_of(job).record(column, int(request.farthest))
    return Done()


def unrepeated(job: WriteJob, reported: Reported) -> Reported:
    """Return a statement that is refused if a row brings a value that another task's row got.

    It raises InvalidInputError that names the column and a value. It raises CommitUnknownError if
    this planner does not know the job, because another one may have committed it.
    """
    columns = [
        each for each in identity_columns(job.target.table_schema) if not spec_of(each).always
    ]
    if not columns:
        return reported
    with _LOCK:
        draws = _JOBS.get(job.transaction)

    def evaluated(log: StatementLog, table: TableState) -> Statement:
        statement = reported(log, table)
        added = [op.rowset for op in statement.ops if isinstance(op, AddRowSet)]
        if added and draws is None:
            raise CommitUnknownError(
                f"The planner was started again before rows were committed to table"
                f" {table.name!r}, and cannot check their identity values; look at the history of"
                " the table before you run the statement again."
            )
        for column in columns:
            if draws is not None and (drawn := draws.contested(column)):
                refuse_repeated(log.store, table, added, column, drawn)
        return statement

    return evaluated


def _draws_of(job: WriteJob) -> JobDraws:
    with _LOCK:
        found = _JOBS.get(job.transaction)
        if found is None:
            raise ConflictError(
                f"The planner was started again while rows were written to table"
                f" {job.target.name!r}, and no longer knows their identity values; run the"
                " statement again."
            )
        _JOBS.move_to_end(job.transaction)
        return found


def _begin(job: WriteJob) -> Draws:
    table, job_id = TableId(job.target.table), job.job_id
    log = SNAPSHOTS.log(open_store(job.address))
    if not is_state(job.base):
        return draws_at(log, table, job_id)
    transaction = TRANSACTIONS.holding(job.base)
    own = transaction.snapshot.tables.get(table)
    if own is None:
        raise NotFoundError(f"Table {job.target.name!r} was dropped by its own transaction.")
    if table in log.reader.read_head().tables:
        return draws_at(log, table, transaction.job_id)
    return OwnDraws(own)
