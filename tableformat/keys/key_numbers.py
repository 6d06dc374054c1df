"""Numbers for the keys of some rows: equal keys have equal numbers. Pure."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.keys.key_set import refuse_null
from colonnade.tableformat.rowset.key_codes import comparable
from colonnade.tableformat.types.compute import pc


def key_numbers(rows: pa.Table, schema: TableSchema) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of each row's key, and the first row of each key.

    Keys are numbered in the order in which they first occur. `schema` has the key columns. Raises
    InvalidInputError that names a column which is NULL or NaN in a row.
    """
    codes: NDArray[np.int64] | None = None
    for field in schema.fields:
        check_values(field, rows[field.name])
        column = comparable(rows[field.name].combine_chunks())
        places = _codes(column)
        if codes is not None:
            # Codes count the distinct values so far, so the product is small.
            places = _codes(pa.array(codes * (int(places.max(initial=0)) + 1) + places))
        codes = places
    assert codes is not None  # a key has a column
    # A key is new where its number is above those of all earlier rows.
    return codes, np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1))


def rows_by_number(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows in the order of their numbers, and rows of one number in their own order.

    Requires numbers from 0 on without gaps.
    """
    if len(numbers) != int(numbers.max(initial=-1)) + 1:
        return np.argsort(numbers, kind="stable")
    order = np.empty(len(numbers), np.int64)  # each number once, which needs no sort
    order[numbers] = np.arange(len(numbers))
    return order


def check_values(field: SchemaField, values: pa.Array | pa.ChunkedArray) -> None:
    """Refuse values that no key has. Raises InvalidInputError that names the column."""
    refuse_null(field, values)
    if pa.types.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py():
        raise InvalidInputError(
            f"Column {field.name!r} is a key and is NaN in a row; give every row a number."
        )


def _codes(values: pa.Array) -> NDArray[np.int64]:
    """Return numbers of the distinct values, in the order of their first occurrence."""
    return np.asarray(pc.dictionary_encode(values).indices.to_numpy(), np.int64)
