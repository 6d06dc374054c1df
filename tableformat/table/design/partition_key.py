"""Static columns, the partition key that their values belong to, and their table. Pure.

Spec: docs/spec/static-columns.md
"""

from __future__ import annotations

from collections.abc import Sequence

from colonnade.manifests.commit.statics import check_static_columns
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.primary_key import key_of
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.rowset.column import check_names


def statics_of(table: TableState, shown: str) -> TableState:
    """Return the table of static values of a table, which messages show as `shown`.

    Raises InvalidInputError for a table that never had a static column.
    """
    if table.statics is None:
        raise InvalidInputError(
            f"Table {shown} has no static columns; create it with `static`, or add a column that is"
            " static."
        )
    return table.statics


def with_static_columns(
    schema: TableSchema, static: Sequence[str], partition_key: Sequence[str]
) -> TableSchema:
    """Return columns with those of `static` as static ones, and those of a key NOT NULL.

    Raises NotFoundError for an unknown column, and InvalidInputError for another value.
    """
    statics = [schema.field(name).name for name in check_names(static, "static")]
    twice = next((name for name in statics if statics.count(name) > 1), None)
    if twice is not None:
        raise InvalidInputError(f"Column {twice!r} is named twice in static; name it once.")
    keys = {schema.field(name).name for name in check_names(partition_key, "partition_key")}
    if not statics and not keys:
        return schema
    fields = (
        each.model_copy(update={"static": True})
        if each.name in statics
        else each.model_copy(update={"nullable": False})
        if each.name in keys
        else each
        for each in schema.fields
    )
    return TableSchema(fields=tuple(fields))


def parse_partition_key(
    table: str, schema: TableSchema, columns: Sequence[str], primary_key: Sequence[SchemaField]
) -> tuple[SchemaField, ...]:
    """Return the columns of a partition key: those given, or the first one of the primary key.

    A table without static columns has none. Raises NotFoundError for an unknown column, and
    InvalidInputError that names the table and a column that cannot be static or in the key.
    """
    given = tuple(schema.field(name) for name in check_names(columns, "partition_key"))
    if not static_fields(schema):
        if given:
            raise InvalidInputError(
                f"Table {table!r} has a partition key but no static column; name a column in"
                " `static`, or leave the partition key out."
            )
        return ()
    key = given or tuple(primary_key[:1])
    check_static_columns(table, schema, key_of(key))
    return key
