"""Commit alterations of a table as one epoch."""

from __future__ import annotations

from collections.abc import Sequence

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import Operation, RenameTable
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.statements.rerun import commit_statement
from colonnade.tableformat.table.alteration.draft import Alteration
from colonnade.tableformat.table.alteration.not_null import check_no_null, reads_of
from colonnade.tableformat.table.alteration.plan import draft_of, operations_of
from colonnade.tableformat.table.design import check_table_name


def commit_alterations(
    log: Log, base: Snapshot, table: TableState, changes: Sequence[Alteration]
) -> Snapshot:
    """Make all changes in one epoch, in order, or none of them.

    Changes that forbid NULL look at existing rows first. They look again if a concurrent writer has
    added rows that may be NULL. Raises the errors of `draft_of`, `operations_of` and
    `check_no_null`. Raises ConflictError when a concurrent writer altered the same thing since
    `base`, or dropped the table.
    """
    draft = draft_of(table, changes)
    operations = operations_of(draft)
    if not operations:
        return base
    parameters = {"name": table.name, "changes": "; ".join(map(str, changes))}
    if not draft.not_null:
        return _commit(log, base, "alter_table", operations, parameters)

    def evaluate(state: Snapshot) -> Change:
        current = state.tables.get(table.id)
        if current is None or _is_altered(table, current):
            raise ConflictError(
                f"Table {table.name!r} was altered after epoch {base.epoch}, on which"
                " 'alter_table' was planned; read the table again and repeat it."
            )
        check_no_null(log, state, current, draft.not_null)
        transaction, reads = new_transaction_id(), reads_of(current, draft.not_null)
        return Change(transaction, "alter_table", operations, parameters, reads=reads, fresh=True)

    return commit_statement(log, base, evaluate)[0]


def _is_altered(before: TableState, after: TableState) -> bool:
    return any(
        getattr(before, each) != getattr(after, each)
        for each in ("schema_id", "partition_layout_id", "properties", "comment")
    )


def commit_rename(log: Log, base: Snapshot, table: TableState, name: str) -> Snapshot:
    """Rename a table of a database. Moves no file.

    Raises InvalidInputError for a lone table, which is named by its folder, and for an invalid
    name. Raises AlreadyExistsError, ConflictError.
    """
    if table.at_root:
        raise InvalidInputError(
            f"{log.store.url} is a table in its own folder and is named by that folder; move"
            " the folder instead."
        )
    if name == table.name:
        raise InvalidInputError(f"Table {name!r} has this name already; choose another one.")
    operation = RenameTable(table=table.id, name=check_table_name(name))
    parameters = {"name": table.name, "new_name": name}
    return _commit(log, base, "rename_table", (operation,), parameters)


def _commit(
    log: Log,
    base: Snapshot,
    operation: str,
    operations: tuple[Operation, ...],
    parameters: dict[str, str],
) -> Snapshot:
    change = Change(new_transaction_id(), operation, operations, parameters, fresh=True)
    return log.commit(change, base)
