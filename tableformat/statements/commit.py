"""Turn what the tasks of a job wrote into an epoch. Every kind of job goes through here.

    written_statement   what tasks wrote, as a statement on the state that the job was planned on
    commit_evaluated    a statement of a job, as one epoch
    commit_written      both, for every kind of job, with the creation of its table and database

A transaction calls `written_statement` alone, and adds the statement to its other statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from colonnade.manifests.commit.change import Change, TableRead
from colonnade.manifests.commit.rebase.targets import id_ranges
from colonnade.manifests.errors import AlreadyExistsError, ConflictError
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import UNTELLING, Log, create_database
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.operations import (
    AddRowSet,
    CreateTable,
    DropRowSet,
    DropTable,
    Operation,
)
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import open_store
from colonnade.tableformat.statements.overwrite import written_overwrite
from colonnade.tableformat.statements.overwrite_partitions import written_partitions
from colonnade.tableformat.statements.statement import (
    Statement,
    is_done,
    make_change,
    row_statement,
)
from colonnade.tableformat.write.job import WriteJob, stamped


def commit_written(
    job: WriteJob,
    entries: Iterable[RowSetEntry],
    log: Log | None = None,
    base: Snapshot | None = None,
    *,
    fresh: bool = False,
) -> Snapshot:
    """Commit what the tasks of a job wrote as one epoch, and return the state after it.

    Creates the job's database and table if the job says so. An append without rows makes no epoch.
    `fresh` says that no process has sent this job before. `log` and `base`, the snapshot of the
    job's base epoch, spare reading them again. When a condition selects the rows to overwrite, the
    columns of the condition are read in RowSets that bounds do not decide.

    Raises ConflictError when a concurrent writer changed what the job overwrites, dropped the
    table, or created a database of several tables where the job was to create a lone table.
    Raises AlreadyExistsError when a concurrent writer created the table. Raises InvalidInputError
    when a new row does not meet the job's condition. Raises CommitUnknownError, and keeps the job's
    files, when the store did not say whether the epoch was written. A job that is not `fresh` also
    raises it when retention has removed its base, or when an object cannot be read, and the epoch
    cannot be found. Only a `fresh` job raises CorruptionError or StoreError.
    """
    log = log or Log(open_store(job.address))
    try:
        return _commit_written(job, entries, log, base, fresh)
    except UNTELLING as error:
        if fresh:
            raise
        return log.find_sent(job.transaction, error)


def _commit_written(
    job: WriteJob, entries: Iterable[RowSetEntry], log: Log, base: Snapshot | None, fresh: bool
) -> Snapshot:
    if job.create_database:
        # When a commit is sent again, its first try may have created the database.
        with suppress(AlreadyExistsError):
            create_database(log.store, lone_table=True)
    if base is None:
        base, landed = log.resume(job.base, job.transaction, fresh=fresh)
        if landed:
            return base
    if job.create_database and not base.lone_table:
        # The rows are stored where those of a lone table are. No reader would find them here.
        raise ConflictError(
            f"A concurrent writer created a database at {job.url}; write to a table in it, such as"
            f" {job.url}/{job.target.name}."
        )
    if job.create is not None:
        return log.commit(_creation(job, job.create, entries, fresh), base)
    table = base.tables[TableId(job.target.table)]
    with log.removals_are_conflicts(Change(job.transaction, job.mode, (), fresh=fresh), base):
        statement = written_statement(job, tuple(entries), log, table)
    return commit_evaluated(job, statement, log, base, fresh=fresh)


def written_statement(
    job: WriteJob, entries: Sequence[RowSetEntry], log: Log, table: TableState
) -> Statement:
    """Return what the tasks of a job wrote as a statement on a state of its table.

    Raises InvalidInputError when a new row does not meet the job's condition, CorruptionError,
    StoreError.
    """
    if job.where is not None:
        return written_overwrite(job, entries, log, table)
    if job.mode == "overwrite_partitions" and job.create is None:
        return written_partitions(log, table, entries, job.parameters)
    inserted = sum(entry.rows for entry in entries)
    added = row_statement(
        job.mode, table, (), entries, inserted=inserted, parameters=job.parameters
    )
    return replace(added, overwrites_all=job.overwrites_all)


def commit_evaluated(
    job: WriteJob, statement: Statement, log: Log, base: Snapshot, *, fresh: bool = False
) -> Snapshot:
    """Commit a statement that was evaluated on the job's base, and return the state after it.

    A statement that changes nothing makes no epoch. `fresh` says that no process has sent this job
    before. Raises the errors of `Log.commit`.
    """
    if not job.has_lease and is_done(statement, job.commit, log, base):
        return base
    table = base.tables[TableId(job.target.table)]
    change = make_change(statement, table, job.job_id, job.commit, job.transaction)
    ops, reads = (*change.ops, *job.end_of_lease()), change.reads
    if statement.overwrites_all:
        with log.removals_are_conflicts(replace(change, fresh=fresh), base):
            ops = (_drop_all(log, table), *ops)
        reads = (*reads, TableRead(table.id, overwrites=True))
    return log.commit(replace(change, ops=ops, reads=reads, fresh=fresh), base)


def _creation(
    job: WriteJob, create: CreateTable, entries: Iterable[RowSetEntry], fresh: bool
) -> Change:
    """Return the change that creates a job's table, and drops a table that it replaces."""
    ops: list[Operation] = [create]
    if job.replaced_table is not None:
        # Like any overwrite, this fails rather than lose rows that were added since the base.
        ops = [
            DropRowSet(table=job.replaced_table, rowsets=()),
            DropTable(table=job.replaced_table),
            create,
        ]
    added = [AddRowSet(table=create.table, rowset=stamped(entry, job.target)) for entry in entries]
    plain = job.mode if added else "create_table"
    return Change(
        job.transaction,
        "replace_table" if job.replaced_table is not None else plain,
        (*ops, *added, *job.commit.operations(create.table), *job.end_of_lease()),
        {**job.parameters, **job.commit.parameters()},
        expect_epoch=job.commit.expect_epoch,
        fresh=fresh,
    )


def _drop_all(log: Log, table: TableState) -> DropRowSet:
    """Drop every RowSet. The list is empty for an empty table, which still marks an overwrite."""
    return DropRowSet(table=table.id, rowsets=id_ranges(log.read_entries(table).ids.tolist()))
