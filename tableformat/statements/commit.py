"""Commit what the tasks of a job did. Every kind of job goes through `commit_reported`.

What tasks report becomes a `Statement` on the state that the job was planned on. `commit_reported`
makes an epoch of it, with the creation of the job's table and database. `ArrowTransaction._add`
instead adds it to the other statements of a transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from colonnade.manifests.commit.change import Change, KeyedRows
from colonnade.manifests.commit.conflicts import has_landed
from colonnade.manifests.commit.landed_changes import UNTELLING
from colonnade.manifests.commit.removals import removals_are_conflicts
from colonnade.manifests.errors import (
    AlreadyExistsError,
    ColonnadeError,
    ConflictError,
    NotFoundError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.later import later
from colonnade.manifests.log.creation import begin_log, first_epoch
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.columns.statics import stored_schema
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.operations import (
    DropRowSet,
    DropTable,
    Operation,
)
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import ObjectStore, open_store
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.statements.change import change_of
from colonnade.tableformat.statements.statement import (
    Statement,
    StaticValues,
    inserting,
    row_statement,
)
from colonnade.tableformat.write.job import WriteJob

if TYPE_CHECKING:
    from colonnade.tableformat.statements import overwrite as overwrites
else:
    overwrites = later("colonnade.tableformat.statements.overwrite")

Reported = Callable[[StatementLog, TableState], Statement]
"""Turns what the tasks of a job reported into a statement on a state of the job's table."""


def commit_written(
    job: WriteJob,
    entries: Iterable[RowSetEntry],
    log: Log | None = None,
    base: Snapshot | None = None,
    *,
    fresh: bool = False,
    statics: StaticValues | None = None,
) -> Snapshot:
    """Commit the RowSets that the tasks of a job wrote as one epoch; return the state after it.

    `statics` are static values that the rows had.
    When a condition selects the rows to overwrite, the columns of the condition are read in RowSets
    that bounds do not decide. Raises InvalidInputError when a new row does not meet that condition.
    All else is as `commit_reported` says.
    """
    entries = tuple(entries)
    if statics is None and not job.needs_commit(entries):
        # Without `base`, the newest state: retention may have removed the job's base.
        return base or (log or Log(open_store(job.address))).reader.read_head()
    reported = partial(written_statement, job, entries, statics=statics)
    return commit_reported(job, reported, log, base, fresh=fresh)


def commit_reported(
    job: WriteJob,
    reported: Reported,
    log: Log | None = None,
    base: Snapshot | None = None,
    *,
    fresh: bool = False,
) -> Snapshot:
    """Commit what the tasks of a job did as one epoch, and return the state after it.

    Creates the job's database and table if the job says so. If there is nothing to commit, this
    makes no epoch and returns the state at the job's base. `fresh` says that no process has sent
    this job before. `log` and `base`, the snapshot of the job's base epoch, spare reading them
    again.

    Raises ConflictError when a concurrent writer changed rows that the job overwrites or deletes,
    or dropped the table. Raises it, too, when the job was to create a lone table, and a concurrent
    writer created a database of several tables there. Raises NotFoundError when the database was
    dropped or replaced. Raises AlreadyExistsError when a concurrent writer created the table.
    Raises CommitUnknownError, and keeps the job's files, when the store did not say whether the
    epoch was written. A job that is not `fresh` also raises it when retention has removed its base,
    or when an object cannot be read, and the epoch cannot be found. Only a `fresh` job raises
    CorruptionError or StoreError. Raises the errors of `reported`.
    """
    log = log or Log(open_store(job.address))
    try:
        return _commit_reported(job, reported, log, base, fresh)
    except UNTELLING as error:
        if fresh:
            raise
        return log.find_sent(job.transaction, error)


def _commit_reported(
    job: WriteJob, reported: Reported, log: Log, base: Snapshot | None, fresh: bool
) -> Snapshot:
    if job.create_database:
        return _commit_first(job, reported, log, fresh)
    if base is None:
        base, landed = log.resume(job.base, job.transaction, fresh=fresh)
        if landed:
            return base
    change = _planned(job, reported, log, base, fresh)
    return base if change is None else _send(job, change, log, base)


def _commit_first(job: WriteJob, reported: Reported, log: Log, fresh: bool) -> Snapshot:
    """Commit to a database that is created for it, and is not if the change is refused."""
    first = first_epoch(lone_table=True)
    try:
        change = _planned(job, reported, log, apply_epoch(None, first), fresh)
    except BaseException:
        if fresh:
            _remove_written(job, log.store)
        raise
    assert change is not None, "The job creates a table."
    try:
        base = begin_log(log.store, first)
    except AlreadyExistsError:
        # By a concurrent writer, or by an earlier try of this job.
        base, landed = log.resume(job.base, job.transaction, fresh=fresh)
        if landed or has_landed(change, base):
            return base
    if not base.lone_table:
        # The rows are stored where those of a lone table are. No reader would find them here.
        raise ConflictError(
            f"A concurrent writer created a database at {job.url}; write to a table in it, such as"
            f" {job.url}/{job.target.name}."
        )
    return _send(job, change, log, base)


def _remove_written(job: WriteJob, store: ObjectStore) -> None:
    """Remove the RowSets of a job without a database. No vacuum would find them."""
    with suppress(ColonnadeError):  # the caller is about to raise what went wrong first
        names = (info.name for info in store.list(""))
        store.remove_many([each for each in names if job.job_id in each])


def _planned(
    job: WriteJob, reported: Reported, log: Log, base: Snapshot, fresh: bool
) -> Change | None:
    """Return the change that a job makes on a state; None if it makes none, or has made it."""
    created = _table_operations(job)
    batch = job.commit._operations(job.target.table)
    if has_landed(Change(job.transaction, job.mode, (*created, *batch)), base):
        # Its rows need not fit any more.
        return None
    planned = Change(job.transaction, job.mode, created, job_id=job.job_id, fresh=fresh)
    before = log.preview(planned, base) if created else base
    table = before.tables.get(TableId(job.target.table))
    if table is None:
        raise NotFoundError(
            f"The database of {job.url} was replaced by another one after the write was planned;"
            " run the write again."
        )
    with removals_are_conflicts(log.reader, planned, base):
        own = StatementLog.begin(log, base, table, job.time)
        statement = reported(own, table)
        change = change_of(
            statement,
            own,
            base,
            table,
            job.job_id,
            job.commit,
            ended=job.end_of_lease(),
            creates=bool(created),
            transaction=job.transaction,
        )
    if change is None:
        return None
    return replace(
        change,
        operation=_operation(job, statement),
        parameters={**change.parameters, **job.columns.parameters()},
        ops=(*created, *change.ops),
        fresh=fresh,
    )


def _send(job: WriteJob, change: Change, log: Log, base: Snapshot) -> Snapshot:
    """Commit the change of a job. A concurrent writer may have given its table the same columns."""
    keyed = tuple(_with_columns(each, job, log) for each in change.keyed)
    try:
        return log.commit(replace(change, keyed=keyed), base)
    except ConflictError as error:
        if not _has_columns(job, log.reader.read_head(), error):
            raise
    described = job.columns.parameters()
    rest = tuple(op for op in change.ops if op not in job.columns.operations)
    said = {name: text for name, text in change.parameters.items() if name not in described}
    return log.commit(replace(change, ops=rest, parameters=said), base)


def _with_columns(keyed: KeyedRows, job: WriteJob, log: Log) -> KeyedRows:
    """Return what compares rows with the state before their slot, which lacks their new columns."""
    columns = job.columns
    if not columns.operations:
        return keyed
    resolve = keyed.resolve
    return replace(
        keyed, resolve=lambda state, leaving: resolve(columns.preview(log, state), leaving)
    )


def _has_columns(job: WriteJob, head: Snapshot, error: ConflictError) -> bool:
    """Return whether a table has the columns that a job wanted to give it, with the same ids.

    Raises ConflictError that names the changes if a concurrent writer has made different changes.
    """
    table, target = head.tables.get(TableId(job.target.table)), job.target
    if not job.columns.operations or table is None or table.schema_id < target.schema_id:
        return False
    if (table.schema_id, stored_schema(table.schema)) == (target.schema_id, target.table_schema):
        return True
    raise ConflictError(
        f"The write was to change columns ({job.columns.text}), but another writer changed them"
        f" first. {error.message}"
    ) from error


def written_statement(
    job: WriteJob,
    entries: Sequence[RowSetEntry],
    log: StatementLog,
    table: TableState,
    statics: StaticValues | None = None,
) -> Statement:
    """Return the RowSets that the tasks of a job wrote as a statement on a state of its table.

    `table` is the state at the job's base, or the new table if the job creates it. Raises
    InvalidInputError when a new row does not meet the job's condition, CorruptionError, StoreError.
    """
    columns = None if job.incoming_columns is None else frozenset(job.incoming_columns)
    written = _written_statement(job, entries, log, stored_table(table))
    statement = inserting(written, job.settings, columns, statics)
    return replace(statement, operation="merge", is_merge=True) if job.is_merge else statement


def _written_statement(
    job: WriteJob, entries: Sequence[RowSetEntry], log: StatementLog, table: TableState
) -> Statement:
    if job.where is not None and job.create is None:
        return overwrites.written_overwrite(job, entries, log, table)
    if job.mode == "overwrite_partitions" and job.create is None:
        return overwrites.written_partitions(log, table, entries, job.parameters)
    inserted = sum(entry.rows for entry in entries)
    added = row_statement(
        job.mode, table, (), entries, reads=(), inserted=inserted, parameters=job.parameters
    )
    return replace(added, overwrites_all=True) if job.overwrites_all else added


def _table_operations(job: WriteJob) -> tuple[Operation, ...]:
    """Return the operations that create or alter a job's table, or replace a table by it."""
    if job.create is None:
        return job.columns.operations
    if job.replaced_table is None:
        return (job.create,)
    # Like any overwrite, this fails rather than lose rows that were added since the base.
    return (
        DropRowSet(table=job.replaced_table, rowsets=()),
        DropTable(table=job.replaced_table),
        job.create,
    )


def _operation(job: WriteJob, statement: Statement) -> str:
    """Return what the history says that the epoch of a job did."""
    if job.create is None:
        return statement.operation
    made = "create_table" if job.replaced_table is None else "replace_table"
    adds = not statement.is_empty or statement.static_values is not None
    return f"{made}_as_select" if adds else made
