"""Primary keys as users give them, as rows of the key columns. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.key_set import key_schema
from colonnade.tableformat.predicate.literals import require_zone
from colonnade.tableformat.types.arrow_types import arrow_schema, type_name
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.types.input.arrow_input import has_rows
from colonnade.tableformat.types.input.python_rows import columns_table

Key = Any
"""The value of the only key column, a tuple of the values of all, or a dict of them by name."""


def are_keys(data: Any) -> bool:
    """Return whether data has keys, and not rows. Keys that are dicts are rows, too.

    Keys are a list, a set, a range, or an array or a series of any library.
    """
    if isinstance(data, list):
        return not any(map(has_rows, data))
    return isinstance(data, set | frozenset | range) or _is_array(data)


def _is_array(data: Any) -> bool:
    """Return whether data is an array of values. A frame may have a column named dtype."""
    if isinstance(data, pa.Array | pa.ChunkedArray):
        return not pa.types.is_struct(data.type)
    return hasattr(type(data), "dtype")


def key_rows(keys: Collection[Key], table: TableState) -> pa.Table:
    """Return keys that a user gave as a table of the key columns.

    `keys` are as in `are_keys`. A table without a primary key has no key columns. Raises the errors
    of `key_batch` and `columns_table`.
    """
    key = key_schema(table)
    if not len(keys) or not table.primary_key:
        return arrow_schema(key).empty_table()
    if _is_array(keys) and len(key.fields) == 1:
        return columns_table({key.names[0]: keys}, arrow_schema(key))
    return pa.Table.from_batches([key_batch(list(keys), key, table.name)])


def key_batch(keys: Sequence[Key], key: TableSchema, table: str) -> pa.RecordBatch:
    """Return keys that a user gave as rows of the key columns, in their order.

    `table` is the name for errors. Raises InvalidInputError for a key that the columns cannot have.
    """
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
