"""Give tasks in the JVM values of identity columns.

A task asks the driver, and the driver asks here. The values of an attempt that fails, or that asks
twice, are gaps. Spec: docs/spec/types.md#identity-columns
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from colonnade.manifests.errors import ConflictError, NotFoundError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.identity import numbers_of
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.store import open_store
from colonnade.spark_ext.planner.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.storage import job_of
from colonnade.spark_ext.planner.transactions import TRANSACTIONS, is_state
from colonnade.tableformat.write.identity import (
    MOST_AHEAD,
    Draws,
    OwnDraws,
    beyond,
    draws_at,
    values_beyond,
)
from colonnade.tableformat.write.job import WriteJob

AHEAD_SHARE = 4
"""A draw is at least as large as this part of what the job has taken, so that draws are few."""

_MOST_JOBS = 64
"""At most this many jobs are remembered. A job that is forgotten loses values that nobody used."""


class _Pool:
    """The values of one column that a job has taken and that no task has yet."""

    def __init__(self) -> None:
        self.left, self.taken = range(0), 0


class JobDraws:
    """Divides the values that one job takes between its tasks. Thread-safe."""

    def __init__(self, draws: Draws) -> None:
        self._draws, self._lock = draws, threading.Lock()
        self._pools: dict[int, _Pool] = {}

    def take(self, column: SchemaField, count: int, farthest: int | None) -> range:
        """Return at least one and at most `count` values that no other task gets.

        They lie beyond `farthest`, a value that a user gave. Raises the errors of `Draws.draw`, and
        ConflictError if a concurrent writer has widened the column and uses the wider type.
        """
        with self._lock:
            pool = self._pools.setdefault(column.ids[0], _Pool())
            pool.left = beyond(pool.left, farthest)
            if not pool.left:
                ahead = min(pool.taken // AHEAD_SHARE, MOST_AHEAD)
                wanted = max(count, ahead)
                pool.left = values_beyond(self._draws, column, wanted, farthest, least=1)
                pool.taken += len(pool.left)
            values, pool.left = pool.left[:count], pool.left[count:]
        if values[-1] not in numbers_of(column):
            raise ConflictError(
                f"Identity column {column.name!r} was widened while a statement gave it values;"
                " run the statement again."
            )
        return values


_JOBS: OrderedDict[str, JobDraws] = OrderedDict()
_LOCK = threading.Lock()


def draw_identity(args: Mapping[str, Any]) -> dict[str, Any]:
    """Take values of the identity column with the id `column`, for one task of a `job`.

    The task gets at least one value and at most `count`. `beyond`, if given, is the farthest value
    that the task's own rows bring: all values lie beyond it. The reply has the `first` value and
    the `count`; the others follow by the step of the column. Values are texts, because they have 64
    bits. Raises the errors of `JobDraws.take`, and NotFoundError if the table was dropped.
    """
    job = job_of(args)
    column = job.target.table_schema.by_id(int(args["column"]))
    farthest = args.get("beyond")
    given = None if farthest is None else int(farthest)
    values = _draws_of(job).take(column, int(args["count"]), given)
    return {"first": str(values[0]), "count": len(values)}


def _draws_of(job: WriteJob) -> JobDraws:
    with _LOCK:
        found = _JOBS.pop(job.transaction, None)
        _JOBS[job.transaction] = found = found or JobDraws(_begin(job))
        if len(_JOBS) > _MOST_JOBS:
            _JOBS.popitem(last=False)
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
    if table in log.read_head().tables:
        return draws_at(log, table, transaction.job_id)
    return OwnDraws(own)


OPS = {"draw_identity": draw_identity}
