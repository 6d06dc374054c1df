"""Enforce what a table promises, and make a change of a statement: the last step before a commit.

Every statement passes through this module, from Python and from Spark, whatever its kind.
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.commit.change import Change, TableRead
from colonnade.manifests.commit.rebase.targets import id_ranges
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.operations import AddRowSet, DropRowSet, Operation
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.statements.identity_guard import guarded
from colonnade.tableformat.statements.keyed.unique import compared, compared_once
from colonnade.tableformat.statements.statement import Statement, is_done, make_change
from colonnade.tableformat.statements.static_values import with_static_values
from colonnade.tableformat.write.run import dated
from colonnade.tableformat.write.settings import CommitSettings


def change_of(
    statement: Statement,
    log: StatementLog,
    base: Snapshot,
    table: TableState,
    job_id: str,
    commit: CommitSettings | None = None,
    *,
    ended: tuple[Operation, ...] = (),
    creates: bool = False,
    transaction: str | None = None,
) -> Change | None:
    """Return a statement on a table of `base` as a change, or None if it has nothing to commit.

    `ended` are the operations that end a lease. With them, or if the statement `creates` its table,
    there is always something to commit. `transaction` is the id of the change if it may have been
    sent before. Raises the errors of `finished`, and ConflictError when there is nothing to commit,
    but the database is expected at another epoch.
    """
    statement = finished(statement, log, table)
    if not (ended or creates) and is_done(statement, commit, log.plain, base):
        return None
    change = make_change(statement, table, job_id, commit, transaction)
    dropped = (_drop_all(log.plain, table),) if statement.overwrites_all else ()
    return replace(
        change,
        ops=(*dropped, *change.ops, *ended),
        reads=(*change.reads, *(TableRead(table.id, overwrites=True) for _ in dropped)),
    )


def finished(statement: Statement, log: StatementLog, table: TableState) -> Statement:
    """Return a statement on a state of a table as it can be committed by itself.

    Its new RowSets say when their rows were written, where that decides when they expire. It gives
    no value of an identity column twice, and adds no row whose primary key is taken. It
    has the static values that its rows bring. Raises the errors of `compared` and of
    `with_static_values`.
    """
    statement = with_static_values(_dated(statement, log, table), log, table)
    own = stored_table(table)
    if statement.rows_at_slot:
        statement = replace(statement, rows=(), reads=(), keys=(), rows_at_slot=False)
    return compared(guarded(statement, log.store, own), log, own)


def finished_in_transaction(
    statement: Statement, log: StatementLog, table: TableState
) -> Statement:
    """Return a statement as a transaction can join it with its other statements.

    Raises the errors of `compared`.
    """
    statement = with_static_values(_dated(statement, log, table), log, table, whole=True)
    own = stored_table(table)
    if statement.rows_at_slot:
        statement = replace(statement, keyed=None, rows_at_slot=False)
    return compared_once(guarded(statement, log.store, own), log, own)


def _dated(statement: Statement, log: StatementLog, table: TableState) -> Statement:
    """Return a statement whose new RowSets say when their rows were written, if that counts."""
    if table.lifetimes is None:
        return statement
    ops = (
        op.model_copy(update={"rowset": dated(op.rowset, table, log.present_ms)})
        if isinstance(op, AddRowSet)
        else op
        for op in statement.ops
    )
    return replace(statement, ops=tuple(ops))


def _drop_all(log: Log, table: TableState) -> DropRowSet:
    """Drop every RowSet. The list is empty for an empty table, which still marks an overwrite."""
    return DropRowSet(
        table=table.id, rowsets=id_ranges(log.rowsets.read_entries(table).ids.tolist())
    )
