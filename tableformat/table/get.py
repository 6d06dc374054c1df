"""Rows of a table by their primary key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.keys.point_read import OpenRowSets
from colonnade.tableformat.predicate.literals import require_zone
from colonnade.tableformat.scan.plan import plan_scan, rowset_filter
from colonnade.tableformat.types.arrow_types import arrow_schema, type_name
from colonnade.tableformat.types.conform import conform

Key = Any
"""The value of the only key column, a tuple of the values of all, or a dict of them by name."""


def get_rows(
    log: Log,
    snapshot: Snapshot,
    table: TableState,
    keys: Sequence[Key],
    columns: Sequence[str] | None,
    opened: OpenRowSets,
) -> pa.Table:
    """Return the rows that have the keys, in the order of the keys.

    `opened` keeps RowSets open for later reads. Keys without a row are left out. A key that is
    given twice returns its row twice. Raises InvalidInputError for a table without a primary key,
    and for a key that the key columns cannot have. Raises NotFoundError for an unknown column,
    CorruptionError, StoreError.
    """
    if not table.primary_key:
        raise InvalidInputError(
            f"Table {table.name!r} has no primary key, by which get finds rows; give it one, or"
            " read rows by scan(where=...)."
        )
    key = TableSchema(fields=key_fields(table.primary_key, table.schema))
    wanted = plan_scan(table, snapshot.epoch, (), columns).output_schema
    if not keys:
        return arrow_schema(wanted).empty_table()
    asked = _key_rows(keys, key, table.name)
    known = KeySet.of(pa.Table.from_batches([asked]), key, repeated=True)
    with log.removals_are_told(snapshot.epoch):
        rowsets = log.read_rowsets(table, rowset_filter(table, known.predicate()))
        found = [*opened.read(log.store, table, rowsets, known, wanted)]
    rows = pa.Table.from_batches([batch for _, batch in found], arrow_schema(wanted))
    row_of_key = np.full(len(keys), -1)
    numbers = np.concatenate([np.zeros(0, np.int64), *(numbers for numbers, _ in found)])
    row_of_key[numbers] = np.arange(len(numbers))
    places = row_of_key[known.find(asked)]
    return rows.take(pa.array(places[places >= 0]))


def as_dict(row: pa.Table, table: str) -> dict[str, Any]:
    """Return a table of one row as values by column.

    Raises InvalidInputError for a date or time outside of Python's range.
    """
    try:
        found: dict[str, Any] = row.to_pylist()[0]
    except (OverflowError, ValueError) as error:
        raise InvalidInputError(
            f"The row of table {table!r} has a value that Python cannot hold ({error}); pass a list"
            " of keys, which returns an Arrow table, or leave out the column."
        ) from error
    return found


def _key_rows(keys: Sequence[Key], key: TableSchema, table: str) -> pa.RecordBatch:
    """Return keys that a user gave as rows of the key columns."""
    values = [_values(each, key, table) for each in keys]
    columns = []
    for at, (field, shown) in enumerate(zip(key.fields, arrow_schema(key), strict=True)):
        given = [each[at] for each in values]
        for value in given:
            require_zone(value, str(field.type), f"Column {field.name!r}")
        try:
            columns.append(pa.array(given, shown.type))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise InvalidInputError(
                f"A key of table {table!r} has a value of column {field.name!r} that is not of type"
                f" {type_name(field.type)}: {error}."
            ) from error
    return conform(pa.RecordBatch.from_arrays(columns, key.names), key)


def _values(given: Key, key: TableSchema, table: str) -> tuple[Any, ...]:
    """Return the values of one key in the order of its columns."""
    if isinstance(given, dict) and set(given) == set(key.names):
        return tuple(given[name] for name in key.names)
    if isinstance(given, tuple) and len(given) == len(key.fields):
        return given
    if len(key.fields) == 1 and not isinstance(given, dict | tuple):
        return (given,)
    raise InvalidInputError(
        f"The primary key of table {table!r} is ({', '.join(key.names)}), so {given!r:.100} is not"
        " a key of it; give a tuple with a value for each column, or a dict."
    )
