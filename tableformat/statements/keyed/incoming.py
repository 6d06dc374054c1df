"""Incoming rows of a statement that merges by the primary key, and the columns that they have.

The rows are a batch in memory, or they are in RowSets that tasks have written. Of a table with the
columns `id`, `at`, `driver` and `fare`, whose driver has the sequence `at`, rows may have

    id, fare             the other columns of a row of the table stay
    id, at, driver       so do they here; a row with a new key has the default fare, or NULL
    id, driver           an error: nothing says how new the driver is
    fare                 an error: the rows have no key

Spec: docs/spec/keys.md#merging
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.columns.generated import sources_of
from colonnade.manifests.model.columns.identity import identity_columns, spec_of
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import TableState, as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.key_parts import KeyPart, key_parts
from colonnade.tableformat.keys.key_set import key_schema
from colonnade.tableformat.keys.policy import KeyPolicy, policy_of
from colonnade.tableformat.scan.selection import read_numbered
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.chosen_rows import chosen_table_rows
from colonnade.tableformat.types.input.arrow_input import record_batches
from colonnade.tableformat.write.constraints import can_evaluate
from colonnade.tableformat.write.expiry import expiry_of
from colonnade.tableformat.write.job import WriteJob, target_of
from colonnade.tableformat.write.pipeline import partial_rows
from colonnade.tableformat.write.settings import WriteSettings

ColumnIds = frozenset[int]

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IncomingRows:
    """Incoming rows with all columns of a table, of which they have values in `columns` alone.

    The other columns hold their defaults, or NULL. `schema` has the columns of the table, which are
    nullable here unless the rows have values in them. `policy` says how they merge.
    `parts` are the keys of the rows. `read` returns rows of a part, by ascending numbers. `written`
    are the RowSets that have the rows already; a batch in memory has none.
    """

    schema: TableSchema
    columns: ColumnIds
    policy: KeyPolicy
    parts: Sequence[KeyPart]
    read: Callable[[KeyPart, Integers], pa.Table]
    written: Sequence[RowSetEntry] = ()


def batch_rows(
    log: StatementLog, table: TableState, data: pa.Table, settings: WriteSettings | None = None
) -> IncomingRows:
    """Return rows in memory, which have at least the columns of the primary key.

    Raises the errors of `incoming_columns`. Raises InvalidInputError that names an unknown column,
    one whose type or value does not fit, or a generated column of another value.
    """
    expiry = expiry_of(table, settings, log.present_ms)
    expires = () if expiry is None else (expiry.column.name,)
    columns = incoming_columns(table, (*data.column_names, *expires))
    _refuse_unknown(table, data, columns)
    schema = _without_open_defaults(open_columns(table.schema, columns), columns)
    steps = partial_rows(target_of(table, log.limits), schema, columns, expiry)
    rows = pa.Table.from_batches(steps.to_match(record_batches(data)), arrow_schema(schema))
    key = key_schema(table)
    _refuse_identities(table, rows, key)
    places = np.zeros(rows.num_rows, np.int64), np.arange(rows.num_rows)
    part = KeyPart.of(key, rows.select(key.names), places)

    def read(part: KeyPart, numbers: Integers) -> pa.Table:
        if len(numbers) == rows.num_rows:
            return rows
        return chosen_table_rows(rows, part.places[1][numbers])

    return IncomingRows(schema, columns, policy_of(table), [part], read)


def written_rows(
    store: ObjectStore,
    table: TableState,
    written: Sequence[RowSetEntry],
    columns: ColumnIds | None = None,
) -> IncomingRows:
    """Return the rows of RowSets that tasks have written, with values in `columns` (None: all).

    Reads the key columns, and holds the keys of all rows. Raises InvalidInputError for NaN in a key
    column, CorruptionError, StoreError.
    """
    # Tasks have drawn values of identity columns, which only new rows take.
    columns = all_columns(table) if columns is None else columns & all_columns(table)
    schema = open_columns(table.schema, columns)
    view = View.stored(table, map(as_written, written))

    def read(part: KeyPart, numbers: Integers) -> pa.Table:
        rowsets, rows = part.places[0][numbers], part.places[1][numbers]
        batches = [
            batch
            for at in np.unique(rowsets).tolist()
            for _, batch in read_numbered(
                store, view, view.rowsets[at], rows[rowsets == at], schema
            )
        ]
        return pa.Table.from_batches(batches, arrow_schema(schema))

    parts = list(key_parts(store, view, key_schema(table)))
    return IncomingRows(schema, columns, policy_of(table), parts, read, written)


def known_columns(table: TableState, data: pa.Table) -> pa.Table:
    """Return rows without the columns that the table does not have."""
    unknown = set(_unknown(table, data))
    return data.select([at for at, name in enumerate(data.column_names) if name not in unknown])


def incoming_columns(table: TableState, names: Iterable[str]) -> ColumnIds:
    """Return the columns that rows with these names have, in any case. Other names have no effect.

    Raises InvalidInputError that names a column of the primary key or a sequence that is missing,
    or a generated column without the columns that it is computed from.
    """
    found = {name.casefold() for name in names}
    columns = frozenset(each.id for each in table.schema.fields if each.name.casefold() in found)
    _check_columns(table, columns)
    return columns


def all_columns(table: TableState) -> ColumnIds:
    """Return the columns that a row needs for being whole: all that the table does not compute."""
    key = key_fields(table.primary_key, table.schema)
    plain = (f for f in table.schema.fields if f.generated is None and f.identity is None)
    return frozenset(each.id for each in (*plain, *key))


def open_columns(schema: TableSchema, columns: Collection[int]) -> TableSchema:
    """Return columns as incoming rows may have them: nullable, unless the rows have values."""
    return TableSchema(
        fields=tuple(
            each
            if each.id in columns and each.identity is None
            else each.model_copy(update={"nullable": True})
            for each in schema.fields
        )
    )


def checks_merged_rows(table: TableState, columns: ColumnIds) -> bool:
    """Return whether the constraints of a table are checked on merged rows alone.

    Where a new row replaces a whole row, the row itself is checked. Constraints that only Spark
    evaluates are checked on the incoming rows.
    """
    schema = table.schema
    if not table.constraints or not can_evaluate(table.constraints, schema):
        return False
    return not (all_columns(table) <= columns and policy_of(table).replaces(schema.fields))


def merging_job(job: WriteJob, table: TableState, columns: ColumnIds) -> WriteJob:
    """Return a job of added rows as one whose rows merge with those of the table by their keys.

    Its tasks may write rows that have values in some `columns` alone.
    """
    constraints = () if checks_merged_rows(table, columns) else job.target.constraints
    target = job.target.model_copy(
        update={"table_schema": open_columns(table.schema, columns), "constraints": constraints}
    )
    settings = job.settings.model_copy(update={"on_duplicate": "merge"})
    changed = {"target": target, "settings": settings, "incoming_columns": tuple(sorted(columns))}
    return job.model_copy(update=changed)


def left_out_columns(table: TableState, columns: ColumnIds) -> tuple[SchemaField, ...]:
    """Return the columns that new rows get a default in, or NULL."""
    fields = table.schema.fields
    return tuple(each for each in fields if each.id not in columns and each.generated is None)


def require_values(table: TableState, columns: ColumnIds, key: str) -> None:
    """Refuse rows with new keys that lack a value. `key` names one of the keys.

    Raises InvalidInputError that names a column that is NOT NULL and has no default.
    """
    for column in left_out_columns(table, columns):
        if not column.may_be_left_out:
            raise InvalidInputError(
                f"Column {column.name!r} of table {table.name!r} is NOT NULL and has no default,"
                f" but the rows leave it out, and the key {key} is new; give the column values."
            )


def _check_columns(table: TableState, columns: ColumnIds) -> None:
    by_id = {each.id: each for each in table.schema.fields}
    for column in key_fields(table.primary_key, table.schema):
        if column.id not in columns:
            raise InvalidInputError(
                f"The rows lack column {column.name!r} of the primary key of table"
                f" {table.name!r}; give every row a key."
            )
    sequences = policy_of(table).sequences
    for number in sorted(columns):
        sequence = sequences.get(number)
        if sequence is not None and sequence not in columns:
            raise InvalidInputError(
                f"The rows have column {by_id[number].name!r} of table {table.name!r} without its"
                f" sequence {by_id[sequence].name!r}, so nothing says how new they are; give both"
                " columns."
            )
        missing = [s for s in sources_of(by_id[number], table.schema) if s.id not in columns]
        if missing:
            raise InvalidInputError(
                f"The rows have the generated column {by_id[number].name!r} of table"
                f" {table.name!r} without column {missing[0].name!r}, which it is computed from;"
                " leave the generated column out."
            )


def _refuse_unknown(table: TableState, data: pa.Table, columns: ColumnIds) -> None:
    if unknown := _unknown(table, data):
        names = (each.name for each in table.schema.fields if each.id not in columns)
        others = ", ".join(map(repr, [*names][:20])) or "none"
        raise InvalidInputError(
            f"The rows have column {unknown[0]!r}, which table {table.name!r} does not have (its"
            f" other columns: {others}); correct its name, or leave it out with"
            " ignore_unknown_columns=True."
        )


def _unknown(table: TableState, data: pa.Table) -> list[str]:
    known = {each.name.casefold() for each in table.schema.fields}
    return [name for name in data.column_names if name.casefold() not in known]


def _without_open_defaults(schema: TableSchema, columns: ColumnIds) -> TableSchema:
    """Return columns without defaults that only Spark evaluates, unless rows have values."""
    return TableSchema(
        fields=tuple(
            each
            if each.id in columns or each.default is None or each.default.value is not None
            else each.model_copy(update={"default": None})
            for each in schema.fields
        )
    )


def _refuse_identities(table: TableState, rows: pa.Table, key: TableSchema) -> None:
    for column in identity_columns(table.schema):
        values = rows[column.name]
        if column in key.fields or not spec_of(column).always or values.null_count == len(values):
            continue
        raise InvalidInputError(
            f"Column {column.name!r} of table {table.name!r} is GENERATED ALWAYS AS IDENTITY, and a"
            " row of the table keeps its value; leave the column out, or give NULL."
        )
