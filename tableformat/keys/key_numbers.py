"""Numbers for the keys of some rows: equal keys have equal numbers. Pure."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.keys.key_set import refuse_null
from colonnade.tableformat.rowset.key_codes import comparable


def key_numbers(rows: pa.Table, schema: TableSchema) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of each row's key, and the first row of each key.

    Keys are numbered in the order in which they first occur. `schema` has the key columns. Raises
    InvalidInputError that names a column which is NULL or NaN in a row.
    """
    codes = np.zeros(rows.num_rows, np.int64)
    for field in schema.fields:
        check_values(field, rows[field.name])
        column = comparable(rows[field.name].combine_chunks())
        places = _codes(column)
        # Codes count the distinct values so far, so the product is small.
        codes = _codes(pa.array(codes * (int(places.max(initial=0)) + 1) + places))
    return codes, np.asarray(np.unique(codes, return_index=True)[1], np.int64)


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
