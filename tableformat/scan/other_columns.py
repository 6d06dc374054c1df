"""Read one epoch of a table with the columns that the table had at another one. Pure.

Spec: docs/spec/types.md#columns-of-another-epoch
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.commit.column_conflicts import column_fits
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.widening import may_overflow
from colonnade.manifests.model.schema import (
    MapType,
    SchemaField,
    TableSchema,
    type_text,
    walk,
)
from colonnade.manifests.state.snapshot import TableState

_UNUSED_ID = 2_147_482_999
"""The largest id that is not reserved. No RowSet has a column of this id, or of one shortly below.

Tables give their columns ids from 1 on.
"""


def with_columns_of(table: TableState, other: TableState, *, in_feed: bool = False) -> TableState:
    """Return a table, as read at one epoch, with the columns of the same table at another one.

    Columns are the same if they have the same id. A column that the table did not have has its
    initial value in each row, or NULL. Raises InvalidInputError if the epochs have different tables
    at this place. Raises it, too, for a type whose values the type at the other epoch cannot hold,
    and for a nested field that was dropped between the epochs. The reader of a change feed looks at
    the values: `in_feed`, a column keeps such a type, also inside it, and any value may be NULL.
    """
    if table.id != other.id:
        raise InvalidInputError(
            f"Table {table.name!r} was another table at the epoch whose columns are asked for; name"
            " an epoch of this table."
        )
    own = {field.id: field for field in table.schema.fields}
    fields = (
        _absent(wanted, table, at)
        if (there := own.get(wanted.id)) is None
        else _as_read(wanted, there, table, in_feed)
        for at, wanted in enumerate(other.schema.fields)
    )
    return replace(table, schema=TableSchema(fields=tuple(fields)))


def remedy_in_feed(epoch: int) -> str:
    """Return what helps if a feed cannot show the rows of an epoch with the columns that it has."""
    # A restore deletes these rows in its own epoch. So it does not help to read a range in parts,
    # unless one part names the schema epoch.
    return f"name `schema_epoch={epoch}`, for the whole range or for a part of it"


def _absent(wanted: SchemaField, table: TableState, position: int) -> SchemaField:
    """Return a column that the table does not have at its epoch."""
    nullable = wanted.nullable or wanted.initial is None
    # No partition has a value of it, and the table need not have static values at all.
    absent = wanted.model_copy(update={"nullable": nullable, "static": None})
    if wanted.id >= table.next_column_id:
        return absent
    # RowSets may still hold the column from before it was dropped. A compaction leaves it out.
    return absent.model_copy(update={"id": _UNUSED_ID - position})


def _as_read(
    wanted: SchemaField, own: SchemaField, table: TableState, in_feed: bool
) -> SchemaField:
    """Return a column of the table as another epoch has it."""
    remedy = remedy_in_feed(table.changed_epoch) if in_feed else "leave the schema epoch out"
    _check_fields(wanted, own, table, remedy)
    for form in (with_nulls(wanted),) if in_feed else (wanted, with_nulls(wanted)):
        if column_fits(own, form):
            return form
    if in_feed:
        return with_nulls(_with_types_of(own, wanted)).model_copy(update={"initial": own.initial})
    old, new = type_text(own.type), type_text(wanted.type)
    why = (
        f"an earlier row may have a date that no timestamp can hold; {remedy}, and cast the column"
        " in the query"
        if may_overflow(own.type, wanted.type)
        else f"{new} does not hold all values of {old}; {remedy}"
    )
    raise InvalidInputError(
        f"Column {own.name!r} of table {table.name!r} is {old} at the epoch that is read, and"
        f" cannot be read as {new}: {why}."
    )


def _check_fields(wanted: SchemaField, own: SchemaField, table: TableState, remedy: str) -> None:
    """Refuse a nested field that RowSets may have from before it was dropped.

    A column that has no fields at its epoch is void, and all its values are NULL.
    """
    if isinstance(own.type, str):
        return
    known = {field.id for field in walk((own,))}
    for field in walk(wanted.children()):
        if field.id not in known and field.id < table.next_column_id:
            raise InvalidInputError(
                f"Field {field.name!r} of column {own.name!r} of table {table.name!r} was dropped"
                f" before the epoch that is read; {remedy}."
            )


def _with_types_of(own: SchemaField, wanted: SchemaField) -> SchemaField:
    """Return a field with the fields inside it that are wanted, and its own types."""
    if isinstance(own.type, str) or isinstance(wanted.type, str):
        return wanted.model_copy(update={"type": own.type})
    inside = {each.id: each for each in own.children()}
    return wanted.with_children(
        _with_types_of(inside.get(each.id, each), each) for each in wanted.children()
    )


def table_with_nulls(table: TableState) -> TableState:
    """Return a table whose columns may be NULL at any depth, as in rows of other epochs."""
    fields = tuple(with_nulls(each) for each in table.schema.fields)
    return replace(table, schema=TableSchema(fields=fields))


def with_nulls(field: SchemaField) -> SchemaField:
    """Return a field that may be NULL at any depth. The keys of a map never are."""
    if field.nullable and isinstance(field.type, str):
        return field
    children = [with_nulls(child) for child in field.children()]
    if isinstance(field.type, MapType):
        children[0] = children[0].model_copy(update={"nullable": False})
    return field.with_children(children).model_copy(update={"nullable": True})
