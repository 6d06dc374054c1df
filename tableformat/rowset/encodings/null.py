"""Encode rows that are all NULL, which takes no bytes.

Spec: docs/spec/rowset.md#null
"""

from __future__ import annotations

import pyarrow as pa

from colonnade.tableformat.rowset.encodings.encoded import Encoded

NAME = "null"


def encode() -> Encoded:
    """Encode any number of NULLs."""
    return Encoded(NAME, None)


def decode(data_type: pa.DataType, rows: int) -> pa.Array:
    """Return `rows` NULLs of a type."""
    return pa.nulls(rows, data_type)
