"""The column itself. Bit patterns of NaN and -0.0 survive.

Spec: docs/spec/rowset.md#plain
"""

from __future__ import annotations

import pyarrow as pa

from colonnade.tableformat.rowset.encodings.encoded import Encoded

NAME = "plain"


def encode(array: pa.Array) -> Encoded:
    """Keep an array as it is."""
    return Encoded(NAME, array)


def stream_types(data_type: pa.DataType) -> tuple[pa.DataType, ...]:
    """The types that the stream of a plain block may have."""
    return (data_type,)


def decode(stream: pa.Array) -> pa.Array:
    """The array that was encoded."""
    return stream
