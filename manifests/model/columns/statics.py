"""Static columns: one value for all rows of a table that share a partition key. Pure.

The values are rows of a second table of the same database, the table of static values. Its primary
key is the partition key, and its id and name follow from those of the table that it belongs to.
Spec: docs/spec/static-columns.md
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from colonnade.manifests.ids import TableId
from colonnade.manifests.model.primary_key import PrimaryKey, has_order, key_fields
from colonnade.manifests.model.schema import SchemaField, TableSchema, type_text, walk

SUFFIX = ".statics"
"""What the name of a table of static values has behind the name of the table."""

FOLLOWED = ("retention.", "compaction.", "isolation")
"""How the properties of a table begin that its table of static values has, too."""

_ALONE = {"comment": None, "metadata": None, "initial": None, "default": None}
_ALONE |= {"identity": None, "generated": None, "static": None}


def statics_id(table: TableId) -> TableId:
    """Return the id of the table of static values of a table."""
    return TableId(sha256(f"static values of {table}".encode()).hexdigest()[:16])


def with_own_statics(table: str) -> tuple[TableId, TableId]:
    """Return the ids of a table and of its table of static values, which may not exist."""
    return (TableId(table), statics_id(TableId(table)))


def followed_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of a table that its table of static values has, too."""
    return {name: text for name, text in properties.items() if name.startswith(FOLLOWED)}


def static_fields(schema: TableSchema) -> tuple[SchemaField, ...]:
    """Return the static columns of a table, in order."""
    return tuple(field for field in schema.fields if field.static)


def stored_schema(schema: TableSchema) -> TableSchema:
    """Return the columns that the RowSets of a table store: all that are not static."""
    if not any(field.static for field in schema.fields):
        return schema
    return TableSchema(fields=tuple(field for field in schema.fields if not field.static))


def statics_schema(schema: TableSchema, key: PrimaryKey) -> TableSchema:
    """Return the columns of the table of static values: partition key, then static columns.

    They have the ids of the table's columns. Requires: the schema has the columns of the key.
    """
    fields = (*key_fields(key, schema), *static_fields(schema))
    return TableSchema(fields=tuple(field.model_copy(update=_ALONE) for field in fields))


def problem_of(schema: TableSchema, key: PrimaryKey) -> str | None:
    """Return what is wrong with the static columns of a table and its partition key, or None."""
    statics = static_fields(schema)
    inner = next((f for each in schema.fields for f in walk(each.children()) if f.static), None)
    if inner is not None:
        return f"field {inner.name!r} is static, but only whole columns can be"
    if statics and not key:
        return f"column {statics[0].name!r} is static, but the table has no partition key"
    first = {field.id: field for field in schema.fields}
    for at, number in enumerate(key):
        column = first.get(number)
        if column is None:
            return f"the partition key has a column {number}, which the table does not have"
        if number in key[:at]:
            return f"column {column.name!r} is in the partition key twice"
        if column.static:
            return f"column {column.name!r} of the partition key is static"
        if not has_order(column):
            return (
                f"column {column.name!r} of type {type_text(column.type)} has no order and cannot"
                " be in the partition key"
            )
        if column.nullable:
            return f"column {column.name!r} of the partition key is nullable"
    for column in statics:
        if not column.nullable:
            return f"static column {column.name!r} is NOT NULL, but a partition may have no value"
        for given, what in (
            (column.default or column.initial, "a default"),
            (column.identity, "identity values"),
            (column.generated, "an expression that generates it"),
        ):
            if given is not None:
                return f"static column {column.name!r} has {what}, which only rows can have"
    return None
