"""The one road from what the tasks of a job wrote to an epoch.

    written_statement   what tasks wrote, as a statement on the state that the job was planned on
    commit_evaluated    a statement of a job, as one epoch
    commit_written      both, for every kind of job, with the creation of its table and database

A transaction takes the first step alone: it adds the statement to its others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from colonnade.manifests.commit.change import Change, TableRead
from colonnade.manifests.commit.rebase.targets import id_ranges
from colonnade.manifests.errors import AlreadyExistsError, ConflictError
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log, create_database
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
from colonnade.tableformat.statements.replace import written_replacement
from colonnade.tableformat.statements.replace_partitions import written_partitions
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

    Creates the job's database and table where it is to. An append of nothing makes no epoch.
    `fresh`: nobody has sent the job before. `log`, and `base`, the snapshot of the job's base
    epoch, save reading them again. Where a condition selects the rows to replace, it reads the
    columns of the condition in RowSets for which bounds do not decide it.

    Raises ConflictError when a concurrent writer changed what the job replaces, dropped the table,
    or made a database of several tables where the job was to create a lone table.
    Raises AlreadyExistsError when a concurrent writer created the table. Raises InvalidInputError
    where a new row does not meet the job's condition. Raises CommitUnknownError, and keeps the
    job's files, when the store did not say whether the epoch was written, or when retention has
    removed the job's base and the epoch cannot be found.
    """
    log = log or Log(open_store(job.url))
    if job.create_database:
        # A commit that is sent again finds the database of its first try.
        with suppress(AlreadyExistsError):
            create_database(log.store, lone_table=True)
    if base is None:
        base, landed = log.resume(job.base, job.transaction, fresh=fresh)
        if landed:
            return base
    if job.create_database and not base.lone_table:
        # The rows lie where those of a lone table are; in this database nobody would find them.
        raise ConflictError(
            f"A database was created at {job.url} meanwhile; write to a table in it, such as"
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
    """What the tasks of a job wrote, as a statement on a state of its table.

    Raises InvalidInputError where a new row does not meet the job's condition, CorruptionError,
    StoreError.
    """
    if job.where is not None:
        return written_replacement(job, entries, log, table)
    if job.mode == "overwrite_partitions" and job.create is None:
        return written_partitions(log, table, entries, job.parameters)
    inserted = sum(entry.rows for entry in entries)
    added = row_statement(
        job.mode, table, (), entries, inserted=inserted, parameters=job.parameters
    )
    return replace(added, replaces_all=job.replaces_all)


def commit_evaluated(
    job: WriteJob, statement: Statement, log: Log, base: Snapshot, *, fresh: bool = False
) -> Snapshot:
    """Commit a statement that was evaluated on the job's base; returns the state after it.

    A statement that changes nothing makes no epoch. `fresh`: nobody has sent the job before.
    Raises as `Log.commit`.
    """
    if not job.has_lease and is_done(statement, job.commit, log, base):
        return base
    table = base.tables[TableId(job.target.table)]
    change = make_change(statement, table, job.job, job.commit, job.transaction)
    ops, reads = (*change.ops, *job.end_of_lease()), change.reads
    if statement.replaces_all:
        with log.removals_are_conflicts(replace(change, fresh=fresh), base):
            ops = (_drop_all(log, table), *ops)
        reads = (*reads, TableRead(table.id, replaces=True))
    return log.commit(replace(change, ops=ops, reads=reads, fresh=fresh), base)


def _creation(
    job: WriteJob, create: CreateTable, entries: Iterable[RowSetEntry], fresh: bool
) -> Change:
    """The change that creates a job's table with its first rows, in place of one that it drops."""
    ops: list[Operation] = [create]
    if job.replaces is not None:
        # The drop of RowSets refuses, as any overwrite, to lose rows added since the base.
        ops = [DropRowSet(table=job.replaces, rowsets=()), DropTable(table=job.replaces), create]
    added = [AddRowSet(table=create.table, rowset=stamped(entry, job.target)) for entry in entries]
    plain = job.mode if added else "create_table"
    return Change(
        job.transaction,
        "replace_table" if job.replaces is not None else plain,
        (*ops, *added, *job.commit.operations(create.table), *job.end_of_lease()),
        {**job.parameters, **job.commit.parameters()},
        expect_epoch=job.commit.expect_epoch,
        fresh=fresh,
    )


def _drop_all(log: Log, table: TableState) -> DropRowSet:
    """Without ranges where the table is empty: that tells an overwrite from an append."""
    return DropRowSet(table=table.id, rowsets=id_ranges(log.read_entries(table).ids.tolist()))
