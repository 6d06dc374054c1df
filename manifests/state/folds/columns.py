"""The fold of a table's columns and partition layouts. Pure.

Spec: docs/spec/operations.md#altering-tables
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.columns import generated, void
from colonnade.manifests.model.columns.default import problem_of, widened_values
from colonnade.manifests.model.columns.identity import wider_numbers
from colonnade.manifests.model.columns.nested import misplaced
from colonnade.manifests.model.entries import PartitionField
from colonnade.manifests.model.operations import AlterSchema, Restore, SetPartitionLayout
from colonnade.manifests.model.schema import SchemaField, TableSchema, walk
from colonnade.manifests.state.folds.refusal import refuse
from colonnade.manifests.state.partition_layout import check_layout
from colonnade.manifests.state.partition_widening import keeps_partitions
from colonnade.manifests.state.snapshot import TableState


def altered(epoch: int, state: TableState, operation: AlterSchema) -> TableState:
    """Return a table with new columns. Raises CorruptionError.

    Every reader must find the files of these columns, now and after later changes.
    """
    first, end = state.next_column_id, operation.next_column_id
    if operation.schema_id != state.schema_id + 1 or end < first:
        refuse(epoch, f"numbers the schema or the columns of table {state.name!r} backwards")
    _check_ids(epoch, state, operation.table_schema, range(first, end))
    check_columns(epoch, operation.table_schema)
    _check_kept(epoch, state, operation.table_schema)
    _check_widened(epoch, state, operation.table_schema)
    _check_partitions(epoch, state, operation.table_schema)
    return replace(
        state,
        schema=operation.table_schema,
        schema_id=operation.schema_id,
        next_column_id=operation.next_column_id,
    )


def restored(epoch: int, state: TableState, operation: Restore) -> TableState:
    """Return a table with the columns that it had before. Raises CorruptionError.

    Id counters never go back.
    """
    if not state.created_epoch <= operation.epoch < epoch:
        refuse(epoch, f"restores table {state.name!r} to epoch {operation.epoch}")
    if (layout := operation.partition_layout_id) is not None:
        if layout > len(state.partition_layouts):
            refuse(epoch, f"restores partition layout {layout} of table {state.name!r}")
        state = replace(state, partition_layout_id=layout)
    if operation.table_schema is None:
        return state
    _check_ids(epoch, state, operation.table_schema, range(1, state.next_column_id))
    check_columns(epoch, operation.table_schema)
    return replace(state, schema=operation.table_schema, schema_id=state.schema_id + 1)


def with_layout(epoch: int, state: TableState, operation: SetPartitionLayout) -> TableState:
    """Return a table with another current partition layout. Raises CorruptionError."""
    number, fields = operation.layout_id, operation.fields
    check_fields(epoch, state.name, state.schema, fields)
    layouts = state.partition_layouts
    if number == len(layouts) + 1 and fields and fields not in layouts:
        layouts = (*layouts, fields)
    elif number > len(layouts) or fields != state.partition_layout(number):
        refuse(epoch, f"gives table {state.name!r} a partition layout {number} of other fields")
    return replace(state, partition_layouts=layouts, partition_layout_id=number)


def check_fields(
    epoch: int, table: str, schema: TableSchema, fields: tuple[PartitionField, ...]
) -> None:
    """Refuse a partition layout that the columns of a table cannot have. Raises CorruptionError."""
    try:
        check_layout(fields, schema)
    except (InvalidInputError, NotFoundError) as error:
        refuse(epoch, f"gives table {table!r} an invalid partition layout: {error}")


def _check_ids(epoch: int, state: TableState, schema: TableSchema, fresh: range) -> None:
    """Check that each column id is one of the table or `fresh`, and that key columns exist."""
    after = [field.id for field in walk(schema.fields)]
    new = _field_ids(schema) - _field_ids(state.schema)
    if len(set(after)) < len(after) or not all(each in fresh for each in new):
        refuse(epoch, f"gives an id of table {state.name!r} to a second column")
    columns = {field.id for field in schema.fields}
    needed = {key.column for key in state.sort_key}
    needed.update(field.column for field in state.partition_fields)
    if not columns or not columns >= needed:
        refuse(
            epoch,
            f"drops all columns of table {state.name!r}, or one that it is sorted or"
            " partitioned by",
        )


def _check_widened(epoch: int, state: TableState, schema: TableSchema) -> None:
    """Check that each column keeps what is fixed, or that it has widened, or is a plain new one."""
    before = {field.id: field for field in walk(state.schema.fields)}
    for field in walk(schema.fields):
        kept = before.get(field.id)
        right = field.identity is None if kept is None else _fixed(field) == _fixed_of(kept, field)
        if not right:
            refuse(epoch, f"changes column {field.name!r} of table {state.name!r} wrongly")


def _check_partitions(epoch: int, state: TableState, schema: TableSchema) -> None:
    """Check that no column widens whose rows would then belong to other partitions."""
    before = {field.id: field for field in state.schema.fields}
    placing = [field for layout in state.partition_layouts for field in layout]
    for column in schema.fields:
        kept = before.get(column.id)
        if kept is None or kept.type == column.type:
            continue
        for field in placing:
            if field.column == column.id and not keeps_partitions(
                field.transform, str(kept.type), str(column.type)
            ):
                refuse(
                    epoch,
                    f"widens column {column.name!r} of table {state.name!r}, whose"
                    f" {field.transform} has other values in the wider type",
                )


def _check_kept(epoch: int, state: TableState, schema: TableSchema) -> None:
    """Check that each field keeps the field that it is part of, and its type or a wider one."""
    wrong = misplaced(state.schema.fields, schema.fields)
    if wrong is not None:
        refuse(
            epoch,
            f"gives the id {wrong.id} of a field of table {state.name!r} to field {wrong.name!r},"
            " which has another type or place",
        )


def _fixed(field: SchemaField) -> tuple[object, ...]:
    """Return what a column never changes, apart from the type of its values."""
    numbered = field.identity is not None
    return field.initial, field.generated, field.identity, numbered and field.nullable


def _fixed_of(before: SchemaField, after: SchemaField) -> tuple[object, ...] | None:
    """Return what a column must keep when it gets a type, or None if it cannot get that type."""
    if isinstance(after.type, str) and after.type != before.type:
        numbered = before.identity is not None
        if before.generated or (numbered and after.type not in wider_numbers(before)):
            return None
        before = before.model_copy(update=widened_values(before, after.type))
    return _fixed(before)


def check_columns(epoch: int, schema: TableSchema) -> None:
    """Refuse columns that no table can have. Raises CorruptionError.

    These are wrong void columns, and an initial value, default or generation that its column cannot
    have.
    """
    problem = problem_of(schema) or generated.problem_of(schema)
    if problem is not None:
        refuse(epoch, problem)
    if (problem := void.problem_of(schema)) is not None:
        refuse(epoch, f"states wrong columns. {problem.rstrip('.')}")


def _field_ids(schema: TableSchema) -> set[int]:
    return {field.id for field in walk(schema.fields)}
