"""Enforce what a table promises: the last step of every statement on it, before the commit.

Every statement passes through this module, from Python and from Spark, whatever its kind.
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.statements.identity_guard import guarded
from colonnade.tableformat.statements.keyed.unique import compared, compared_once
from colonnade.tableformat.statements.statement import Statement
from colonnade.tableformat.statements.static_values import with_static_values


def finished(statement: Statement, log: Log, table: TableState) -> Statement:
    """Return a statement on a state of a table as it can be committed by itself.

    It gives no value of an identity column twice, and adds no row whose primary key is taken. It
    has the static values that its rows bring. Raises the errors of `compared` and of
    `with_static_values`.
    """
    _require_agreed(table)
    statement, own = with_static_values(statement, log, table), stored_table(table)
    if statement.rows_at_slot:
        statement = replace(statement, rows=(), reads=(), keys=(), rows_at_slot=False)
    return compared(guarded(statement, log.store, own), log, own)


def finished_in_transaction(statement: Statement, log: Log, table: TableState) -> Statement:
    """Return a statement as a transaction can join it with its other statements.

    Raises the errors of `compared`.
    """
    _require_agreed(table)
    statement = with_static_values(statement, log, table, whole=True)
    own = stored_table(table)
    if statement.rows_at_slot:
        statement = replace(statement, keyed=None, rows_at_slot=False)
    return compared_once(guarded(statement, log.store, own), log, own)


def _require_agreed(table: TableState) -> None:
    """Require that a statement saw its table at an agreed time, if something expires in it.

    The clock of one machine must not decide which rows the statement has not met.
    """
    assert table.lifetimes is None or table.agreed is not None, "A reader's time decided."
