"""May a change that was planned on one epoch follow the epochs since? Pure.

What is provably independent commits; the rest is refused with the reason.

    mine \\ theirs       append        replace table   delete rows       drop table
    append              commit        commit          commit            conflict
    replace table       conflict      conflict        conflict          conflict
    delete rows         commit        conflict        same RowSet:      conflict
                                                      conflict
    drop table          commit        commit          commit            conflict
    create table        commits unless the name is taken

Spec: docs/spec/epoch-log.md#conflicts
"""

from __future__ import annotations

from collections.abc import Iterable

from manifests.change import Change
from manifests.entries import (
    AddDeletionVector,
    AddRowSet,
    AddRowSets,
    CreateDatabase,
    CreateTable,
    DropRowSet,
    DropTable,
    Epoch,
    Operation,
)
from manifests.errors import (
    AlreadyExistsError,
    ConflictError,
    InvalidInputError,
    UnsupportedFormatError,
)
from manifests.fold import WRITER_FEATURES
from manifests.ids import TableId
from manifests.snapshot import Snapshot

TableOperation = AddRowSet | AddRowSets | DropRowSet | AddDeletionVector | DropTable


def check_change(change: Change, base: Snapshot) -> None:
    """Refuse a change that makes no sense on the epoch that it was planned on.

    Raises InvalidInputError for a table that does not exist at the base.
    """
    created = {op.table for op in change.ops if isinstance(op, CreateTable)}
    for operation in change.ops:
        if isinstance(operation, CreateDatabase):
            raise InvalidInputError("A database is created by its epoch 0 and by no other.")
        if not isinstance(operation, TableOperation) or operation.table in created:
            continue
        if TableId(operation.table) not in base.tables:
            raise InvalidInputError(
                f"Table {operation.table} does not exist at epoch {base.epoch}, on which"
                f" {change.operation!r} was planned."
            )


def check_epoch(change: Change, base: Snapshot, theirs: Epoch) -> None:
    """Compare a change planned on `base` with an epoch committed since.

    Raises ConflictError that names table, operation and epoch.
    """
    touched = [op for op in theirs.ops if isinstance(op, TableOperation)]
    if not touched:
        return
    for mine in change.ops:
        if not isinstance(mine, TableOperation):
            continue
        for operation in touched:
            if operation.table == mine.table and _conflict(mine, operation):
                raise _conflict_error(change, base, theirs, TableId(mine.table), operation)


def check_head(change: Change, base: Snapshot, head: Snapshot) -> None:
    """Check what the state right before the change's slot must be like.

    Raises AlreadyExistsError for a name that is taken, ConflictError when a table's schema
    changed, UnsupportedFormatError for a writer feature that this code does not know.
    """
    unknown = sorted(head.writer_features - WRITER_FEATURES)
    if unknown:
        raise UnsupportedFormatError(
            f"Writing to this database needs features that this version does not know:"
            f" {', '.join(unknown)}; upgrade Colonnade."
        )
    _check_names(change.ops, head)
    for operation in change.ops:
        if isinstance(operation, TableOperation):
            planned = base.tables.get(TableId(operation.table))
            current = head.tables.get(TableId(operation.table))
            if planned and current and planned.schema_id != current.schema_id:
                raise ConflictError(
                    f"The schema of table {planned.name!r} changed after epoch {base.epoch}, on"
                    f" which {change.operation!r} was planned; read the table again and repeat it."
                )


def _check_names(operations: Iterable[Operation], head: Snapshot) -> None:
    names = {table.id: table.name for table in head.tables.values()}
    for operation in operations:
        if isinstance(operation, DropTable):
            names.pop(TableId(operation.table), None)
        elif isinstance(operation, CreateTable):
            if operation.name in names.values():
                raise AlreadyExistsError(
                    f"Table {operation.name!r} exists already; choose another name or open it."
                )
            if head.lone_table and names:
                raise AlreadyExistsError(
                    f"Table {operation.name!r} cannot be created: this database holds the lone"
                    f" table {next(iter(names.values()))!r} and no other."
                )
            names[TableId(operation.table)] = operation.name


def _conflict(mine: TableOperation, theirs: TableOperation) -> bool:
    """Two operations on the same table: does theirs make mine wrong?"""
    if isinstance(theirs, DropTable) or isinstance(mine, DropRowSet):
        return True
    if isinstance(mine, AddDeletionVector):
        if isinstance(theirs, DropRowSet):
            return True
        return isinstance(theirs, AddDeletionVector) and theirs.rowset == mine.rowset
    return False


def _conflict_error(
    change: Change, base: Snapshot, theirs: Epoch, table: TableId, operation: TableOperation
) -> ConflictError:
    name = base.tables[table].name if table in base.tables else table
    did = "dropped" if isinstance(operation, DropTable) else "changed"
    return ConflictError(
        f"Table {name!r} was {did} by epoch {theirs.epoch} ({theirs.operation}) after epoch"
        f" {base.epoch}, on which {change.operation!r} was planned; read the table again and"
        " repeat it."
    )
