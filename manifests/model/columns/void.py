"""Columns of the type `void`, in which each row is NULL until the column gets a type. Pure.

No RowSet has such a column, so readers give its rows NULL as for any column that a RowSet lacks.
Spec: docs/spec/types.md#void
"""

from __future__ import annotations

from colonnade.manifests.model.schema import SchemaField, TableSchema

VOID = "void"


def stored_columns(schema: TableSchema) -> tuple[int, ...]:
    """Return the positions of the columns that RowSets have: all but void ones."""
    return tuple(at for at, field in enumerate(schema.fields) if field.type != VOID)


def problem_of(schema: TableSchema) -> str | None:
    """Return a sentence on what is wrong with the void columns of a schema, or None.

    A void column is whole and nullable, and gets no values from the table. A table also has a
    column of another type.
    """
    for column in schema.fields:
        if inside := _inside(column, column.name):
            return (
                f"Field {inside!r} is void, and only whole columns can be; give it the type that"
                " its values will have."
            )
        if column.type != VOID:
            continue
        if not column.nullable:
            return f"Column {column.name!r} is void, so all its rows are NULL; leave out NOT NULL."
        if any((column.initial, column.default, column.identity, column.generated)):
            return (
                f"Column {column.name!r} is void, so it cannot have a default, or be generated or"
                " an identity column; give it a type first."
            )
    if not stored_columns(schema):
        return "All columns of the table are void, and RowSets would store none; add another one."
    return None


def _inside(parent: SchemaField, path: str) -> str | None:
    """Return the path of the first void field inside a column."""
    for child in parent.children():
        below = f"{path}.{child.name}"
        if child.type == VOID:
            return below
        if found := _inside(child, below):
            return found
    return None
