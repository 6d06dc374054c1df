"""Enforce what a table promises: the last step of every statement on it, before the commit.

Every statement passes through this module, from Python and from Spark, whatever its kind.
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.statements.identity_guard import guarded
from colonnade.tableformat.statements.keyed.unique import compared, compared_once
from colonnade.tableformat.statements.statement import Statement
from colonnade.tableformat.statements.static_values import with_static_values
from colonnade.tableformat.write.run import dated


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
