"""Encode strings and binary as their lengths, followed by all their bytes.

Arrow's offsets take 4 bytes a row and ascend, so zstd compresses them badly: they take more than a
quarter of a column of short texts. Lengths take 1, 2 or 4 bytes and compress well.

Spec: docs/spec/rowset.md#lengths
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.tableformat.rowset.encodings.encoding import Encoded
from colonnade.tableformat.rowset.encodings.integers import (
    UNSIGNED,
    allocate,
    from_numpy,
    is_null,
    validity_of,
    values_of,
)

NAME = "lengths"

FROM_ROWS = 256
"""The fewest rows that are encoded so. The nested type costs about 250 bytes, which they save."""


def applies(data_type: pa.DataType) -> bool:
    """Return whether values of a type are byte sequences with 32-bit offsets."""
    return bool(pa.types.is_string(data_type) or pa.types.is_binary(data_type))


def encode(array: pa.Array) -> Encoded | None:
    """Encode an array. Returns None for another type, and for too few rows to gain from it."""
    if not applies(array.type) or len(array) < FROM_ROWS:
        return None
    offsets = _offsets(array)
    lengths = np.diff(offsets)
    if array.null_count and lengths[is_null(array)].any():
        # Arrow allows bytes under a NULL, which belong to no row. `take` drops them.
        return encode(array.take(pa.array(np.arange(len(array)))))
    longest = int(lengths.max())
    arrow, native = next(each for each in UNSIGNED if longest < 2 ** each[0].bit_width)
    elements = from_numpy(lengths.astype(native), arrow, validity_of(array))
    data = array.buffers()[2] or pa.py_buffer(b"")
    data = data.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    ends = pa.py_buffer(np.array([0, data.size], np.int32))
    text = pa.Array.from_buffers(array.type, 1, [None, ends, data])
    lists = pa.ListArray.from_arrays(pa.array([0, len(array)], pa.int32()), elements)
    fields = list(_stream_type(array.type, arrow))
    return Encoded(NAME, pa.StructArray.from_arrays([lists, text], fields=fields))


def stream_types(data_type: pa.DataType) -> tuple[pa.DataType, ...]:
    """Return the types that the stream of a block may have."""
    if not applies(data_type):
        return ()
    return tuple(_stream_type(data_type, arrow) for arrow, _ in UNSIGNED)


def _stream_type(data_type: pa.DataType, element: pa.DataType) -> pa.StructType:
    return pa.struct(
        [
            pa.field(NAME, pa.list_(element), nullable=False),
            pa.field("values", data_type, nullable=False),
        ]
    )


def decode(stream: pa.StructArray, rows: int, limit: int) -> pa.Array:
    """Return the array of `rows` rows that was encoded.

    Requires a stream of one row. Raises ValueError when that row is NULL, when the number of
    lengths is not `rows`, when lengths and bytes disagree, and when the result would exceed `limit`
    bytes.
    """
    lists, text = stream.field(0), stream.field(1)
    if stream.null_count or lists.null_count or text.null_count:
        raise ValueError("its lengths or its values are NULL")
    elements = lists.values
    (first, last), (start, end) = _offsets(lists).tolist(), _offsets(text).tolist()
    if first or start:
        raise ValueError("its lengths or its values do not begin at the first")
    if last != rows or len(elements) != rows:
        raise ValueError(f"it holds {last} lengths where its index states {rows} rows")
    if 4 * rows + end > limit:
        raise ValueError("the decoded values would be larger than the index says")
    lengths = values_of(elements)
    if elements.null_count and lengths[is_null(elements)].any():
        raise ValueError("it has bytes under a NULL")
    if int(lengths.sum(dtype=np.int64)) != end:
        raise ValueError("its lengths do not add up to its bytes")
    offsets, ends = allocate(rows + 1, np.int32)
    ends[0] = 0
    np.cumsum(lengths, out=ends[1:], dtype=np.int32)
    buffers = [validity_of(elements), offsets, text.buffers()[2]]
    return pa.Array.from_buffers(text.type, rows, buffers)


def _offsets(array: pa.Array) -> NDArray[np.int32]:
    """Return where each value begins, and where the last one ends."""
    offsets = np.frombuffer(array.buffers()[1], np.int32)
    return offsets[array.offset : array.offset + len(array) + 1]
