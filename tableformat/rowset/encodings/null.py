"""Encode rows that are all NULL, which takes no bytes.

Spec: docs/spec/rowset.md#null
"""

from __future__ import annotations

import pyarrow as pa

from colonnade.tableformat.rowset.encodings.encoding import Encoded

NAME = "null"


def decode(data_type: pa.DataType, rows: int) -> pa.Array:
    """Return `rows` NULLs of a type."""
    return pa.nulls(rows, data_type)


def encode(array: pa.Array) -> Encoded | None:
    """Encode NULLs. Returns None for an array with a value."""
    return Encoded(NAME, None) if array.null_count == len(array) else None
