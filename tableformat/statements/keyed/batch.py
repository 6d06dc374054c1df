"""Rows that are to meet the rows of a table by their keys. They may have some of the columns alone.

Spec: docs/spec/keys.md#merging
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.generated import sources_of
from colonnade.manifests.model.identity import identity_columns, spec_of
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.text_policy import text_policy
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.statements.keyed.given import Given, given_columns, open_columns
from colonnade.tableformat.types.arrow_input import record_batches
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.conform import conform_batches
from colonnade.tableformat.write.generated import bind_generations, filled_rows


@dataclass(frozen=True, slots=True)
class KeyedBatch:
    """Rows with all columns of a table, of which `given` are the ids of those that were given.

    The other columns hold their defaults, or NULL. `schema` has the columns of the table, which are
    nullable here unless they were given.
    """

    rows: pa.Table
    schema: TableSchema
    given: Given


def known_columns(table: TableState, data: pa.Table) -> pa.Table:
    """Return rows without the columns that the table does not have."""
    unknown = set(_unknown(table, data))
    return data.select([at for at, name in enumerate(data.column_names) if name not in unknown])


def keyed_batch(table: TableState, data: pa.Table, key: TableSchema) -> KeyedBatch:
    """Conform rows that have at least the key columns, and fill generated columns.

    Raises the errors of `given_columns`. Raises InvalidInputError that names an unknown column, one
    whose type or value does not fit, or a generated column of another value.
    """
    given = given_columns(table, data.column_names)
    if unknown := _unknown(table, data):
        names = (each.name for each in table.schema.fields if each.id not in given)
        others = ", ".join(map(repr, [*names][:20])) or "none"
        raise InvalidInputError(
            f"The rows have column {unknown[0]!r}, which table {table.name!r} does not have (its"
            f" other columns: {others}); correct its name, or leave it out with"
            " ignore_unknown_columns=True."
        )
    columns = open_columns(table.schema, given).fields
    schema = TableSchema(fields=tuple(_with_constant_default(each, given) for each in columns))
    parts = conform_batches(record_batches(data), schema, text_policy(table.properties))
    known = [
        each
        for each in bind_generations(table.name, table.schema)
        if all(source.id in given for source in sources_of(each.field, table.schema))
    ]
    rows = pa.Table.from_batches(list(filled_rows(parts, known)), arrow_schema(schema))
    _check_identities(table, rows, key)
    return KeyedBatch(rows, schema, given)


def _unknown(table: TableState, data: pa.Table) -> list[str]:
    known = {each.name.casefold() for each in table.schema.fields}
    return [name for name in data.column_names if name.casefold() not in known]


def _check_identities(table: TableState, rows: pa.Table, key: TableSchema) -> None:
    for column in identity_columns(table.schema):
        given = rows[column.name]
        if column in key.fields or not spec_of(column).always or given.null_count == len(given):
            continue
        raise InvalidInputError(
            f"Column {column.name!r} of table {table.name!r} is GENERATED ALWAYS AS IDENTITY, and a"
            " row of the table keeps its value; leave the column out, or give NULL."
        )


def _with_constant_default(column: SchemaField, given: Given) -> SchemaField:
    """Return a column without a default that only Spark evaluates, unless rows have its values."""
    default = column.default
    if column.id in given or default is None or default.value is not None:
        return column
    return column.model_copy(update={"default": None})
