"""Store the column itself. The bit patterns of NaN and -0.0 survive.

Spec: docs/spec/rowset.md#plain
"""

from __future__ import annotations

import pyarrow as pa

from colonnade.tableformat.rowset.encodings.encoding import Encoded

NAME = "plain"


def encode(array: pa.Array) -> Encoded:
    """Store an array unchanged."""
    return Encoded(NAME, array)


def stream_types(data_type: pa.DataType) -> tuple[pa.DataType, ...]:
    """Return the types that the stream of a plain block may have."""
    return (data_type,)


def decode(stream: pa.Array) -> pa.Array:
    """Return the array that was encoded."""
    return stream
