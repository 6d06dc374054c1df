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
from colonnade.tableformat.keys.policy import KeyPolicy
from colonnade.tableformat.types.arrow_input import record_batches
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.conform import conform_batches
from colonnade.tableformat.types.left_out import left_out
from colonnade.tableformat.write.generated import bind_generations, filled_rows


@dataclass(frozen=True, slots=True)
class KeyedBatch:
    """Rows with all columns of a table, of which `given` are the ids of those that were given.

    The other columns hold their defaults, or NULL. `schema` has the columns of the table, which are
    nullable here unless they were given.
    """

    rows: pa.Table
    schema: TableSchema
    given: frozenset[int]


def keyed_batch(
    table: TableState, data: pa.Table, key: TableSchema, policy: KeyPolicy
) -> KeyedBatch:
    """Conform rows that have at least the key columns, and fill generated columns.

    Raises InvalidInputError that names a column: a key column or a sequence column that is missing,
    an unknown column, a type or value that does not fit, a generated column of another value.
    """
    names = {name.casefold() for name in data.column_names}
    columns = table.schema.fields
    given = frozenset(each.id for each in columns if each.name.casefold() in names)
    _check_given(table, key, policy, given)
    schema = TableSchema(fields=tuple(_open(each, given) for each in columns))
    parts = conform_batches(record_batches(data), schema, text_policy(table.properties))
    known = [
        each
        for each in bind_generations(table.name, table.schema)
        if all(source.id in given for source in sources_of(each.field, table.schema))
    ]
    rows = pa.Table.from_batches(list(filled_rows(parts, known)), arrow_schema(schema))
    _check_identities(table, rows, key)
    return KeyedBatch(rows, schema, given)


def check_new_rows(table: TableState, batch: KeyedBatch, key: str) -> None:
    """Refuse rows with new keys that lack a value. `key` names one of the keys.

    Raises InvalidInputError that names a NOT NULL column without a default, or a column with a
    default that only Spark evaluates.
    """
    for column in table.schema.fields:
        if column.id in batch.given or column.generated is not None:
            continue
        if not column.may_be_left_out:
            raise InvalidInputError(
                f"Column {column.name!r} of table {table.name!r} is NOT NULL and has no default,"
                f" but the rows leave it out, and the key {key} is new; give the column values."
            )
        left_out(column, 0)


def _check_given(
    table: TableState, key: TableSchema, policy: KeyPolicy, given: frozenset[int]
) -> None:
    by_id = {each.id: each for each in table.schema.fields}
    for column in key.fields:
        if column.id not in given:
            raise InvalidInputError(
                f"The rows lack column {column.name!r} of the primary key of table"
                f" {table.name!r}; give every row a key."
            )
    for number in sorted(given):
        sequence = policy.sequences.get(number)
        if sequence is not None and sequence not in given:
            raise InvalidInputError(
                f"The rows have column {by_id[number].name!r} of table {table.name!r} without its"
                f" sequence {by_id[sequence].name!r}, so nothing says how new they are; give both"
                " columns."
            )
        missing = [s for s in sources_of(by_id[number], table.schema) if s.id not in given]
        if missing:
            raise InvalidInputError(
                f"The rows have the generated column {by_id[number].name!r} of table"
                f" {table.name!r} without column {missing[0].name!r}, which it is computed from;"
                " leave the generated column out."
            )


def _check_identities(table: TableState, rows: pa.Table, key: TableSchema) -> None:
    for column in identity_columns(table.schema):
        given = rows[column.name]
        if column in key.fields or not spec_of(column).always or given.null_count == len(given):
            continue
        raise InvalidInputError(
            f"Column {column.name!r} of table {table.name!r} is GENERATED ALWAYS AS IDENTITY, and a"
            " row of the table keeps its value; leave the column out, or give NULL."
        )


def _open(column: SchemaField, given: frozenset[int]) -> SchemaField:
    if column.identity is not None:
        return column.model_copy(update={"nullable": True})
    if column.id in given:
        return column
    default = column.default
    constant = default if default is not None and default.value is not None else None
    return column.model_copy(update={"nullable": True, "default": constant})
