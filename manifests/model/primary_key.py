"""The primary key of a table: columns whose values no two live rows share. Pure.

The log names each column by its id.
Spec: docs/spec/operations.md#primary-keys
"""

from __future__ import annotations

from collections.abc import Sequence

from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.schema import SchemaField, TableSchema, type_text

PrimaryKey = tuple[int, ...]
"""The columns of a key, in its order, each by its id; empty without a key."""


def has_order(column: SchemaField) -> bool:
    """Return whether the values of a column have an order, which its bytes decide."""
    unordered = column.type in ("variant", VOID) or " collate " in str(column.type)
    return not (column.children() or unordered)


def key_fields(key: PrimaryKey, schema: TableSchema) -> tuple[SchemaField, ...]:
    """Return the present columns of a key, in its order. Requires: the schema has all of them."""
    if not key:
        return ()
    first = {field.id: field for field in schema.fields}
    return tuple(first[each] for each in key)


def key_of(fields: Sequence[SchemaField]) -> PrimaryKey:
    """Return a key as the log states it."""
    return tuple(field.id for field in fields)


def problem_of(key: PrimaryKey, schema: TableSchema) -> str | None:
    """Return what is wrong with the key of a table that has these columns, or None."""
    first = {field.id: field for field in schema.fields}
    for at, number in enumerate(key):
        column = first.get(number)
        if column is None:
            return f"the primary key has a column {number}, which the table does not have"
        if number in key[:at]:
            return f"column {column.name!r} is in the primary key twice"
        if not has_order(column):
            return (
                f"column {column.name!r} of type {type_text(column.type)} has no order and cannot"
                " be in the primary key"
            )
        if column.nullable:
            return f"column {column.name!r} of the primary key is nullable"
    return None
