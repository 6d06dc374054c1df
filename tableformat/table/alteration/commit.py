"""Commit alterations of a table as one epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.removals import removals_are_conflicts
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import AddCheck, DropTable, Operation, RenameTable
from colonnade.manifests.state.alterations import is_altered
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.table.alteration.constrained_rows import ConstrainedRows
from colonnade.tableformat.table.alteration.draft import Alteration
from colonnade.tableformat.table.alteration.plan import draft_of, operations_of
from colonnade.tableformat.table.alteration.primary_key import check_keys_differ, forgetting
from colonnade.tableformat.table.alteration.ranges import check_ranges
from colonnade.tableformat.table.alteration.stored_values import check_values, reads_of
from colonnade.tableformat.table.design.new_table import check_table_name
from colonnade.tableformat.write.constraints import can_evaluate


def commit_alterations(
    log: Log,
    base: Snapshot,
    table: TableState,
    changes: Sequence[Alteration],
    checked: Snapshot | None = None,
) -> Snapshot:
    """Make all changes in one epoch, in order, or none of them.

    Changes that demand something of existing values, or add a constraint or a primary key, look at
    existing rows first. They look again if a concurrent writer has added rows. Spark has checked
    the rows of the state `checked`; if only Spark can evaluate a new constraint, any row added
    since is a conflict.

    Raises the errors of `draft_of`, `operations_of`, `check_values`, `check_keys_differ` and
    `ConstrainedRows.check`. Raises ConflictError when a concurrent writer altered the same thing
    since `base`, or dropped the table.
    """
    draft = draft_of(table, changes, log.agreement.statement_time(base).present_ms)
    operations = operations_of(draft)
    if not operations:
        return base
    parameters = {"name": table.name, "changes": "; ".join(map(str, changes))}
    added = [op.constraint for op in operations if isinstance(op, AddCheck)]
    if not draft.demands and not added and draft.primary_key is None:
        return log.commit(_change("alter_table", operations, parameters), base)
    only_spark = checked is not None and not can_evaluate(added, draft.schema)
    known = None if checked is None else checked.tables.get(table.id)
    rows = ConstrainedRows(log, () if only_spark else added, known)

    def evaluate(state: Snapshot) -> Change:
        current = state.tables.get(table.id)
        if current is None or is_altered(table, current, operations):
            raise ConflictError(
                f"Table {table.name!r} was altered after epoch {base.epoch}, on which"
                " 'alter_table' was planned; read the table again and repeat it."
            )
        check_ranges(current, draft.schema)
        check_values(log, state, current, draft.demands)
        change = replace(
            _change("alter_table", operations, parameters),
            reads=reads_of(current, draft.demands),
        )
        if current.primary_key and draft.primary_key not in (None, current.primary_key):
            change = forgetting(change, log, current)
        rows.check(change, state, current)
        if draft.primary_key:
            check_keys_differ(log, log.preview(change, state).tables[table.id])
        return change

    if checked is not None and only_spark:
        planned = _change("alter_table", operations, parameters)
        with removals_are_conflicts(log.reader, planned, checked):
            change = evaluate(checked)
        return log.commit(change, checked)
    return log.commit_statement(base, evaluate)[0]


def commit_rename(log: Log, base: Snapshot, table: TableState, name: str) -> Snapshot:
    """Rename a table of a database. Moves no file.

    Raises InvalidInputError for a lone table, which is named by its folder, and for an invalid
    name. Raises AlreadyExistsError, ConflictError.
    """
    if base.lone_table:
        raise InvalidInputError(
            f"{log.store.url} is a table in its own folder and is named by that folder; move"
            " the folder instead."
        )
    if name == table.name:
        raise InvalidInputError(f"Table {name!r} has this name already; choose another one.")
    operation = RenameTable(table=table.id, name=check_table_name(name))
    parameters = {"name": table.name, "new_name": name}
    return log.commit(_change("rename_table", (operation,), parameters), base)


def commit_drop(log: Log, base: Snapshot, table: TableState) -> Snapshot:
    """Drop a table of a database. Its earlier epochs stay readable. Raises ConflictError."""
    operation = DropTable(table=table.id)
    return log.commit(_change("drop_table", (operation,), {"name": table.name}), base)


def _change(
    operation: str, operations: tuple[Operation, ...], parameters: dict[str, str]
) -> Change:
    return Change(new_transaction_id(), operation, operations, parameters, fresh=True)
