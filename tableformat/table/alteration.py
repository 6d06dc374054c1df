"""Alter a table: the changes that a user can ask for, and the operations of the log for them.

Files know columns by id, so no change touches a file. Existing rows get a new column's values when
they are read (`rowset/adapt.py`). A renamed column keeps its id, and the id of a dropped column is
never used again.
Spec: docs/spec/operations.md#altering-tables
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.bloom_columns import check_bloom_columns, follow_columns
from colonnade.manifests.model.entries import PartitionField
from colonnade.manifests.model.operations import (
    AlterSchema,
    Operation,
    RenameTable,
    SetComment,
    SetPartitionLayout,
    SetProperties,
)
from colonnade.manifests.model.schema import (
    DataType,
    EarlierColumn,
    SchemaField,
    StructType,
    TableSchema,
    assign_ids,
    check_schema,
    type_text,
)
from colonnade.manifests.model.widening import widens, wider_types
from colonnade.manifests.state.partition_layout import parse_layout
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.rowset.adapt import may_be_absent
from colonnade.tableformat.rowset.column import check_names
from colonnade.tableformat.table.design import check_table_name
from colonnade.tableformat.table.properties import check_comment, check_properties

Path = tuple[str, ...]
"""The name of a column, or the names that lead to a nested field, element, key or value."""


@dataclass(frozen=True, slots=True)
class AddColumn:
    """Add a nullable column: as the last, `first`, or `after` another column."""

    column: SchemaField
    after: str | None = None
    first: bool = False

    def __str__(self) -> str:
        return f"add column {self.column.name}"


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """Rename a column, or a field of a struct."""

    path: Path
    name: str

    def __str__(self) -> str:
        return f"rename column {'.'.join(self.path)} to {self.name}"


@dataclass(frozen=True, slots=True)
class DropColumn:
    """Drop a column. With `if_exists`, an unknown column is not an error."""

    path: Path
    if_exists: bool = False

    def __str__(self) -> str:
        return f"drop column {'.'.join(self.path)}"


@dataclass(frozen=True, slots=True)
class CommentColumn:
    """Set the comment of a column or field; None removes it."""

    path: Path
    comment: str | None

    def __str__(self) -> str:
        return f"comment on column {'.'.join(self.path)}"


@dataclass(frozen=True, slots=True)
class DropNotNull:
    """Allow NULL in a column or field."""

    path: Path

    def __str__(self) -> str:
        return f"drop not null of column {'.'.join(self.path)}"


@dataclass(frozen=True, slots=True)
class WidenColumn:
    """Change the type of a column to one that holds all its values, such as int to `long`.

    No file is written again. Existing rows are converted when they are read.
    """

    path: Path
    type: DataType

    def __str__(self) -> str:
        return f"widen column {'.'.join(self.path)} to {type_text(self.type)}"


@dataclass(frozen=True, slots=True)
class MoveColumn:
    """Move a column to be `first`, or `after` another column."""

    path: Path
    after: str | None = None
    first: bool = False

    def __str__(self) -> str:
        return f"move column {'.'.join(self.path)}"


@dataclass(frozen=True, slots=True)
class AlterProperties:
    """Set and remove properties."""

    set: dict[str, str] = field(default_factory=dict)
    remove: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"properties {', '.join((*self.set, *self.remove))}"


@dataclass(frozen=True, slots=True)
class CommentTable:
    """Set the comment of the table; None removes it."""

    comment: str | None

    def __str__(self) -> str:
        return "comment"


@dataclass(frozen=True, slots=True)
class SetPartitioning:
    """Partition future rows by these fields, such as `days(ts)`; no fields end partitioning.

    Existing RowSets keep their partitions until compaction rewrites them.
    """

    fields: tuple[str, ...]

    def __str__(self) -> str:
        return f"partition by {', '.join(self.fields) or 'nothing'}"


PathChange = RenameColumn | DropColumn | CommentColumn | DropNotNull | MoveColumn | WidenColumn
ColumnChange = AddColumn | PathChange
Alteration = ColumnChange | AlterProperties | CommentTable | SetPartitioning


def commit_alterations(
    log: Log, base: Snapshot, table: TableState, changes: Sequence[Alteration]
) -> Snapshot:
    """Make all changes in one epoch, in order, or none of them.

    Raises the errors of `plan_alterations`. Raises ConflictError when a concurrent writer altered
    the same thing since `base`, or dropped the table.
    """
    operations = plan_alterations(table, changes)
    if not operations:
        return base
    parameters = {"name": table.name, "changes": "; ".join(map(str, changes))}
    return _commit(log, base, "alter_table", operations, parameters)


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


def plan_alterations(table: TableState, changes: Iterable[Alteration]) -> tuple[Operation, ...]:
    """Return the operations that make these changes, in order; none when nothing changes.

    Properties that name a column are updated. Raises NotFoundError for a column that does not
    exist, and InvalidInputError that names the column for an impossible change.
    """
    schema, next_id = table.schema, table.next_column_id
    properties: dict[str, str] = {}
    operations: list[Operation] = []
    layout: tuple[PartitionField, ...] | None = None
    for change in changes:
        if isinstance(change, PathChange) and not check_names(change.path, "The path of a column"):
            raise InvalidInputError("The path of a column must have at least one name.")
        match change:
            case AlterProperties():
                check_properties(change.set)
                properties = {**_without(properties, change.remove), **change.set}
                operations.append(
                    SetProperties(table=table.id, set=change.set, remove=change.remove)
                )
            case CommentTable():
                check_comment(change.comment)
                operations.append(SetComment(table=table.id, comment=change.comment))
            case SetPartitioning():
                layout = parse_layout(check_names(change.fields, "The partitioning"), schema)
            case AddColumn():
                schema, next_id = _add(schema, change, next_id)
            case DropColumn():
                kept = table.partition_fields if layout is None else layout
                schema = _drop(schema, change, table, kept)
            case WidenColumn():
                found = schema.field(change.path[0])
                schema, next_id = _widen(schema, change, next_id, table.next_column_id)
                if found not in schema.fields:
                    _check_place(found, table, layout or ())
            case RenameColumn() | CommentColumn() | DropNotNull() | MoveColumn():
                schema = _edit(schema, change)
            case _:
                raise InvalidInputError(
                    "A change must be one of the alterations of colonnade, such as"
                    f" colonnade.DropColumn, not {change!r}."
                )
    check_bloom_columns(properties, schema)
    if schema == table.schema:
        return (*operations, *_set_layout(table, layout))
    check_schema(schema)
    altered = AlterSchema(
        table=table.id,
        table_schema=schema,
        schema_id=table.schema_id + 1,
        next_column_id=next_id,
    )
    before = _following_properties(table, schema, operations)
    if layout and not {field.column for field in layout} <= {c.id for c in table.schema.fields}:
        return (*before, *operations, altered, *_set_layout(table, layout))
    # A column of the former layout may be dropped once that layout is not current any more.
    return (*before, *operations, *_set_layout(table, layout), altered)


def _following_properties(
    table: TableState, schema: TableSchema, operations: Iterable[Operation]
) -> tuple[Operation, ...]:
    """Return the operation that makes properties name the columns of a new schema.

    It comes first, so that `operations`, with the properties that a user sets, override it.
    """
    removed = {key for each in operations if isinstance(each, SetProperties) for key in each.remove}
    following = _without(table.properties, removed)
    moved, gone = follow_columns(following, table.schema, schema)
    return (SetProperties(table=table.id, set=moved, remove=gone),) if moved or gone else ()


def _set_layout(
    table: TableState, layout: tuple[PartitionField, ...] | None
) -> tuple[Operation, ...]:
    """Return the operation that makes a layout current. A former layout keeps its number."""
    if layout is None or layout == table.partition_fields:
        return ()
    earlier = ((), *table.partition_layouts)
    number = earlier.index(layout) if layout in earlier else len(earlier)
    return (SetPartitionLayout(table=table.id, layout_id=number, fields=layout),)


def _without(properties: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    return {name: text for name, text in properties.items() if name not in names}


def _add(schema: TableSchema, change: AddColumn, next_id: int) -> tuple[TableSchema, int]:
    name = change.column.name
    if not may_be_absent(change.column):
        raise InvalidInputError(
            f"Column {name!r} cannot be added as NOT NULL, because existing rows have NULL in it;"
            " add it as nullable."
        )
    added, next_id = assign_ids(TableSchema(fields=(change.column,)), next_id)
    fields = (*schema.fields, *added.fields)
    # Checked before the move, which could not tell two columns of one name apart.
    check_schema(TableSchema(fields=fields))
    if change.first or change.after is not None:
        return _move(TableSchema(fields=fields), name, change.after), next_id
    return TableSchema(fields=fields), next_id


def _drop(
    schema: TableSchema,
    change: DropColumn,
    table: TableState,
    layout: tuple[PartitionField, ...],
) -> TableSchema:
    try:
        found = schema.field(change.path[0])
    except NotFoundError:
        if change.if_exists:
            return schema
        raise
    if len(change.path) > 1:
        raise InvalidInputError(
            f"Field {'.'.join(change.path)!r} cannot be dropped: only whole columns can."
        )
    if any(key.column == found.id for key in table.sort_key):
        raise InvalidInputError(
            f"Column {found.name!r} cannot be dropped: the table is sorted by it."
        )
    if any(field.column == found.id for field in layout):
        raise InvalidInputError(
            f"Column {found.name!r} cannot be dropped: the table is partitioned by it; partition it"
            " by other columns first."
        )
    return TableSchema(fields=tuple(f for f in schema.fields if f.id != found.id))


def _widen(
    schema: TableSchema, change: WidenColumn, next_id: int, first_new: int
) -> tuple[TableSchema, int]:
    """Give a column a wider type and a new id, under which RowSets have the new type.

    No RowSet has a column yet whose id is at least `first_new`, so such a column keeps its id.
    """
    path = ".".join(change.path)
    found = schema.field(change.path[0])
    if len(change.path) > 1:
        raise InvalidInputError(f"Field {path!r} cannot be widened: only whole columns can.")
    if found.type == change.type:
        return schema, next_id
    _check_type(found, change.type)
    _check_widens(found, change.type)
    wider = found.model_copy(update={"type": change.type})
    if found.id < first_new:
        step = EarlierColumn(id=found.id, type=str(found.type))
        earlier = (*(found.earlier or ()), step)
        wider = wider.model_copy(update={"id": next_id, "earlier": earlier})
        next_id += 1
    fields = (wider if field.id == found.id else field for field in schema.fields)
    return TableSchema(fields=tuple(fields)), next_id


def _check_type(column: SchemaField, wanted: DataType) -> None:
    # Only a field checks its type.
    SchemaField(name=column.name, type=wanted)


def _check_widens(column: SchemaField, wanted: DataType) -> None:
    if widens(column.type, wanted):
        return
    old, new = type_text(column.type), type_text(wanted)
    wider = wider_types(column.type)
    can = f"it can become {wider}" if wider else "it has no wider type"
    raise InvalidInputError(
        f"The type of column {column.name!r} cannot be changed from {old} to {new}: {can}; or add a"
        " column of the other type."
    )


def _check_place(
    column: SchemaField, table: TableState, layout: tuple[PartitionField, ...]
) -> None:
    """Refuse to widen a column that decides where rows are stored."""
    if any(key.column == column.id for key in table.sort_key):
        raise InvalidInputError(
            f"The type of column {column.name!r} cannot be changed: the table is sorted by it."
        )
    layouts = (*table.partition_layouts, layout)
    if any(field.column == column.id for fields in layouts for field in fields):
        raise InvalidInputError(
            f"The type of column {column.name!r} cannot be changed: the table is, or was,"
            " partitioned by it."
        )


def _edit(
    schema: TableSchema, change: RenameColumn | CommentColumn | DropNotNull | MoveColumn
) -> TableSchema:
    match change:
        case MoveColumn():
            if len(change.path) > 1:
                raise InvalidInputError(
                    f"Field {'.'.join(change.path)!r} cannot be moved: only whole columns can."
                )
            return _move(schema, change.path[0], change.after)
        case RenameColumn():
            return _replace(schema, change.path, "name", change.name)
        case CommentColumn():
            return _replace(schema, change.path, "comment", change.comment)
        case DropNotNull():
            return _replace(schema, change.path, "nullable", True)


def _move(schema: TableSchema, name: str, after: str | None) -> TableSchema:
    moved = schema.field(name)
    others = [f for f in schema.fields if f.id != moved.id]
    at = 0 if after is None else 1 + _index(others, schema.field(after), name)
    return TableSchema(fields=(*others[:at], moved, *others[at:]))


def _index(fields: list[SchemaField], wanted: SchemaField, name: str) -> int:
    for index, each in enumerate(fields):
        if each.id == wanted.id:
            return index
    raise InvalidInputError(f"Column {name!r} cannot come after itself.")


def _replace(schema: TableSchema, path: Path, key: str, value: object) -> TableSchema:
    """Change one attribute of the column or field that a path leads to."""

    def replaced(fields: tuple[SchemaField, ...], names: Path) -> tuple[SchemaField, ...]:
        # A TableSchema finds the field, so that errors are the same as for columns.
        found = TableSchema(fields=fields).field(names[0])
        if len(names) == 1:
            new = found.model_copy(update={key: value})
        else:
            if key == "name" and len(names) == 2 and not isinstance(found.type, StructType):
                raise InvalidInputError(f"{'.'.join(path)!r} is not a field that can be renamed.")
            new = found.with_children(replaced(found.children(), names[1:]))
        return tuple(new if f.id == found.id else f for f in fields)

    return TableSchema(fields=replaced(schema.fields, path))
