"""Define the primary key of a table. Pure.

Spec: docs/spec/operations.md#primary-keys
"""

from __future__ import annotations

from collections.abc import Sequence

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.primary_key import has_order
from colonnade.manifests.model.schema import SchemaField, TableSchema, type_text
from colonnade.tableformat.rowset.column import check_names


def parse_primary_key(schema: TableSchema, columns: Sequence[str]) -> tuple[SchemaField, ...]:
    """Resolve the columns of a primary key. Raises NotFoundError for an unknown column.

    Raises InvalidInputError for a column that is named twice, or whose type has no order.
    """
    fields = tuple(schema.field(name) for name in check_names(columns, "primary_key"))
    for at, field in enumerate(fields):
        if field in fields[:at]:
            raise InvalidInputError(
                f"Column {field.name!r} is in the primary key twice; name it once."
            )
        if not has_order(field):
            raise InvalidInputError(
                f"Column {field.name!r} of type {type_text(field.type)} cannot be in the primary"
                " key, because the type has no order; choose other columns."
            )
    return fields


def with_key_columns(schema: TableSchema, columns: Sequence[str]) -> TableSchema:
    """Return the columns of a new table with those of its primary key as NOT NULL."""
    key = parse_primary_key(schema, columns)
    if not key:
        return schema
    fields = (
        each.model_copy(update={"nullable": False}) if each in key else each
        for each in schema.fields
    )
    return TableSchema(fields=tuple(fields))


def sorted_by(key: Sequence[SchemaField]) -> tuple[SortField, ...]:
    """Return the sort key of a table that is sorted by its primary key."""
    return tuple(SortField(column=field.id) for field in key)
