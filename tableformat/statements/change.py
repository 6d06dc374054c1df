"""Make a change of a statement, so that it keeps what its table promises: the step before a commit.

Every statement passes through this module, from Python and from Spark, whatever its kind. An append
of the RowSet A with the keys 2 and 3, to a table with `onDuplicate` = ignore that has the key 2:

    statement   add A
    dated       A says when its rows were written, if rows of the table expire
    guarded     no value of an identity column is given twice
    compared    row 0 of A has a key that is taken, and is left out
    change      transaction t: add A; at the slot, `keyed` says again which of its rows are left out
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from colonnade.manifests.arrays.origins import RowOrigins
from colonnade.manifests.commit.change import Change, TableRead
from colonnade.manifests.commit.rebase.targets import id_ranges
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.operations import AddRowSet, DropRowSet, Operation
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.statements.identity_guard import guarded
from colonnade.tableformat.statements.keyed.unique import compared, compared_once
from colonnade.tableformat.statements.statement import Statement, short_texts
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
    sent before. Raises the errors of `complete`, and ConflictError when there is nothing to commit,
    but the database is expected at another epoch.
    """
    statement = complete(statement, log, table)
    if not (ended or creates) and is_done(statement, commit, log.plain, base):
        return None
    change = make_change(statement, table, job_id, commit, transaction)
    if statement.overwrites_all:
        dropped, read = _drop_all(log.plain, table), TableRead(table.id, overwrites=True)
        change = replace(change, ops=(dropped, *change.ops), reads=(*change.reads, read))
    return replace(change, ops=(*change.ops, *ended)) if ended else change


def complete(statement: Statement, log: StatementLog, table: TableState) -> Statement:
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


def complete_in_transaction(
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


def make_change(
    statement: Statement,
    table: TableState,
    job_id: str,
    settings: CommitSettings | None = None,
    transaction: str | None = None,
) -> Change:
    """Return a statement on a table as a change, with the id `transaction` if it is given."""
    operations = () if settings is None else settings._operations(table.id)
    stated = {} if settings is None else settings._parameters()
    parts = [each for each in (statement, statement.statics) if each is not None]
    return Change(
        transaction or new_transaction_id(),
        statement.operation,
        (*(op for each in parts for op in each.ops), *operations),
        {**short_texts(statement.parameters), **stated},
        rows=tuple(row for each in parts for row in each.rows),
        reads=tuple(read for each in parts for read in each.reads),
        keys=tuple(guard for each in parts for guard in each.keys),
        metrics={} if statement.is_plain else statement.counts.metrics(),
        expect_epoch=None if settings is None else settings.expect_epoch,
        job_id=job_id,
        fresh=transaction is None,
        keyed=tuple(each.keyed for each in parts if each.keyed is not None),
        origins=_origins(parts),
    )


def _origins(parts: Iterable[Statement]) -> dict[str, tuple[RowOrigins, ...]]:
    """Return which rows the rows of new RowSets replace, in order, by table."""
    found: dict[str, tuple[RowOrigins, ...]] = {}
    for each in parts:
        ops = [op for op in each.ops if isinstance(op, AddRowSet)]
        if ops and any(origins.data for origins in each.origins.values()):
            found[ops[0].table] = tuple(
                each.origins.get(op.rowset.object) or RowOrigins(op.rowset.rows) for op in ops
            )
    return found


def is_done(
    statement: Statement, settings: CommitSettings | None, log: Log, base: Snapshot
) -> bool:
    """Return whether a statement on a table of `base` has nothing to commit, not even a batch.

    Raises ConflictError when it has nothing to commit, but expects the database at another epoch.
    """
    if not statement.is_empty or (settings is not None and settings.batch is not None):
        return False
    if settings is not None:
        log.expect(statement.operation, settings.expect_epoch, base)
    return True
