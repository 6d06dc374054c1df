"""Make operations of all changes of one call. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.check import check_schema
from colonnade.manifests.model.columns.properties import check_columns_stay, divided
from colonnade.manifests.model.entries import PartitionField
from colonnade.manifests.model.operations import (
    AlterSchema,
    Operation,
    SetLifetimes,
    SetPartitionLayout,
    SetProperties,
)
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.table.alteration.constraints import constraint_operations
from colonnade.tableformat.table.alteration.draft import Alteration, Draft, without
from colonnade.tableformat.table.alteration.primary_key import key_operations
from colonnade.tableformat.table.alteration.ranges import check_ranges
from colonnade.tableformat.table.alteration.sort_key import around_columns
from colonnade.tableformat.table.design.generated import check_sources
from colonnade.tableformat.table.design.lifetimes import (
    check_kept,
    check_lifetimes,
    lifetimes_of,
    parts_of,
)


def plan_alterations(table: TableState, changes: Iterable[Alteration]) -> tuple[Operation, ...]:
    """Return the operations that make these changes, in order; none when nothing changes.

    Raises the errors of `draft_of`.
    """
    return operations_of(draft_of(table, changes))


def draft_of(table: TableState, changes: Iterable[Alteration], now_ms: int = 0) -> Draft:
    """Return the table as these changes alter it, in order, at a time in ms since 1970 UTC.

    Raises NotFoundError for a column or constraint that does not exist. Raises InvalidInputError
    that names the column for an impossible change.
    """
    draft = Draft(table, table.schema, table.next_column_id)
    draft.properties = {**table.stored_properties}
    draft.lifetimes, draft.now_ms = parts_of(table.lifetimes), now_ms
    draft.constraints = dict.fromkeys(table.constraints, table.schema)
    for change in changes:
        if not isinstance(change, Alteration):
            raise InvalidInputError(
                "A change must be one of the alterations of colonnade, such as"
                f" colonnade.DropColumn, not {change!r}."
            )
        change._apply(draft)
    return draft


def operations_of(draft: Draft) -> tuple[Operation, ...]:
    """Return the operations that make a table what its draft is; none when nothing changes.

    A dropped column takes along the properties that are for it. Raises InvalidInputError that names
    the column.
    """
    check_ranges(draft.table, draft.schema)
    _drop_properties(draft)
    dropped, added = constraint_operations(draft)
    ended, begun = key_operations(draft)
    return _with_lifetimes((*dropped, *ended, *_operations(draft), *begun, *added), draft)


def _with_lifetimes(operations: tuple[Operation, ...], draft: Draft) -> tuple[Operation, ...]:
    """Return operations and those that change the lifetimes of the table.

    The present lifetimes end before the columns that they name, and the new ones begin after those
    that they name. Raises InvalidInputError that names the column.
    """
    table, before = draft.table, draft.table.lifetimes
    lives = lifetimes_of(draft.lifetimes, table.name, before, now_ms=draft.now_ms)
    check_kept(lives, table, draft.schema, "dropped")
    layout = table.partition_fields if draft.layout is None else draft.layout
    check_lifetimes(lives, table.name, draft.schema, draft.key, draft.sorted_by, layout)
    if lives == before:
        return operations
    begun = (SetLifetimes(table=table.id, lifetimes=lives),)
    if before is None or not operations:
        return (*operations, *begun)
    ended = SetLifetimes(table=table.id)
    return (ended, *operations, *(begun if lives else ()))


def _operations(draft: Draft) -> tuple[Operation, ...]:
    """Return the operations for all but constraints and the primary key."""
    table, schema, layout = draft.table, draft.schema, draft.layout
    if schema == table.schema:
        return (*draft.operations, *_set_layout(table, layout), *around_columns(draft, ()))
    check_schema(schema)
    check_sources(table.schema, schema)
    altered = AlterSchema(
        table=table.id,
        table_schema=schema,
        schema_id=table.schema_id + 1,
        next_column_id=draft.next_id,
    )
    columns = around_columns(draft, (altered,))
    if layout and not {field.column for field in layout} <= {c.id for c in table.schema.fields}:
        return (*draft.operations, *columns, *_set_layout(table, layout))
    # A column of the former layout may be dropped once that layout is not current any more.
    return (*draft.operations, *_set_layout(table, layout), *columns)


def _drop_properties(draft: Draft) -> None:
    """Remove the properties that are for a column which the changes drop.

    Raises InvalidInputError for a dropped column that another property names.
    """
    _, gone = divided(draft.properties, draft.schema.fields)
    draft.properties = without(draft.properties, gone)
    check_columns_stay(draft.properties, draft.table.schema, draft.schema, "dropped")
    if gone:
        draft.operations.append(SetProperties(table=draft.table.id, remove=tuple(gone)))


def _set_layout(
    table: TableState, layout: tuple[PartitionField, ...] | None
) -> tuple[Operation, ...]:
    """Return the operation that makes a layout current. A former layout keeps its number."""
    if layout is None or layout == table.partition_fields:
        return ()
    earlier = ((), *table.partition_layouts)
    number = earlier.index(layout) if layout in earlier else len(earlier)
    return (SetPartitionLayout(table=table.id, layout_id=number, fields=layout),)
