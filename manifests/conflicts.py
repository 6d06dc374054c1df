"""May a change that was planned on one epoch follow the epochs since? Pure.

What is provably independent commits; the rest is refused with the reason.

    mine \\ theirs       append        replace table   delete rows       drop table
    append              commit        commit          commit            conflict
    replace table       conflict      conflict        conflict          conflict
    delete rows         commit        conflict        same RowSet:      conflict
                                                      conflict
    drop table          commit        commit          commit            conflict
    alter table         commit        commit          commit            conflict
    create table        commits unless the name is taken

All of them commit after a table was altered, too, where rows that were written for its columns as
they were fit its columns as they are. Two that alter the same thing, its columns, its name, its
comment or one property, conflict.

Spec: docs/spec/epoch-log.md#conflicts
"""

from __future__ import annotations

from collections.abc import Iterable

from manifests.change import Change
from manifests.entries import (
    AddDeletionVector,
    AddRowSet,
    AddRowSets,
    AlterSchema,
    CreateDatabase,
    CreateTable,
    DropRowSet,
    DropTable,
    Epoch,
    Operation,
    RenameTable,
    SetComment,
    SetProperties,
)
from manifests.errors import (
    AlreadyExistsError,
    ConflictError,
    InvalidInputError,
    UnsupportedFormatError,
)
from manifests.fold import WRITER_FEATURES
from manifests.ids import TableId
from manifests.schema import SchemaField, TableSchema
from manifests.snapshot import Snapshot

RowOperation = AddRowSet | AddRowSets | DropRowSet | AddDeletionVector
AlterOperation = AlterSchema | SetProperties | SetComment | RenameTable
TableOperation = RowOperation | AlterOperation | DropTable


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

    Raises AlreadyExistsError for a name that is taken, ConflictError when a table's columns
    changed so that the rows to add do not fit them, UnsupportedFormatError for a
    writer feature that this code does not know.
    """
    unknown = sorted(head.writer_features - WRITER_FEATURES)
    if unknown:
        raise UnsupportedFormatError(
            f"Writing to this database needs features that this version does not know:"
            f" {', '.join(unknown)}; upgrade Colonnade."
        )
    _check_names(change.ops, head)
    for operation in change.ops:
        if isinstance(operation, AddRowSet | AddRowSets):
            planned = base.tables.get(TableId(operation.table))
            current = head.tables.get(TableId(operation.table))
            if planned and current and not rows_fit(planned.schema, current.schema):
                raise ConflictError(
                    f"The columns of table {planned.name!r} changed after epoch {base.epoch}, on"
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
        elif isinstance(operation, RenameTable):
            others = {name for table, name in names.items() if table != operation.table}
            if operation.name in others:
                raise AlreadyExistsError(
                    f"Table {operation.name!r} exists already; choose another name."
                )
            names[TableId(operation.table)] = operation.name


def rows_fit(written: TableSchema, current: TableSchema) -> bool:
    """Whether RowSets written for some columns are right under others, read by id.

    So they are when each column is as it was, but perhaps for names, comments, its place, or a NOT
    NULL that went, or is new and may be NULL.
    """
    before = {field.id: field for field in written.fields}
    return written is current or all(
        _fits(before[field.id], field) if field.id in before else field.nullable
        for field in current.fields
    )


def _fits(written: SchemaField, current: SchemaField) -> bool:
    children = tuple(zip(written.children(), current.children(), strict=False))
    return (
        _kind(written) == _kind(current)
        and (current.nullable or not written.nullable)
        and all(w.id == c.id and _fits(w, c) for w, c in children)
    )


def _kind(field: SchemaField) -> tuple[str, int]:
    """The type but for the fields inside it, of which it tells the number."""
    return (field.type if isinstance(field.type, str) else field.type.type), len(field.children())


def _conflict(mine: TableOperation, theirs: TableOperation) -> bool:
    """Two operations on the same table: does theirs make mine wrong?"""
    if isinstance(theirs, DropTable):
        return True
    if isinstance(theirs, AlterOperation):
        return _alters_same(mine, theirs)
    if isinstance(mine, DropRowSet):
        return True
    if isinstance(mine, AddDeletionVector):
        if isinstance(theirs, DropRowSet):
            return True
        return isinstance(theirs, AddDeletionVector) and theirs.rowset == mine.rowset
    return False


def _alters_same(mine: TableOperation, theirs: AlterOperation) -> bool:
    if isinstance(mine, SetProperties) and isinstance(theirs, SetProperties):
        return not {*mine.set, *mine.remove}.isdisjoint((*theirs.set, *theirs.remove))
    return type(mine) is type(theirs)


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
