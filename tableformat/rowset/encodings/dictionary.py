"""Encode repeated values once, with an index of 8, 16 or 32 bits for each row.

The index of a NULL row is NULL. Floats with different bits are different values.

Spec: docs/spec/rowset.md#dictionary
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.tableformat.rowset.encodings.encoding import Encoded
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.stored_value import to_numpy

NAME = "dictionary"

SAMPLE_ROWS = 4096
"""The number of first rows that are examined before the whole block is."""

KEPT_SHARE = 0.8
"""A dictionary is kept if it takes at most this share of the bytes that it replaces."""

OVERHEAD_BYTES = 256
"""The cost of one more message in the stream."""

DISTINCT_TEXTS = 0.9
DISTINCT_NUMBERS = 0.5
DISTINCT_SHORTS = 128 / SAMPLE_ROWS
"""A dictionary is tried if at most this share of the sampled values is distinct.

Shorts are numbers that take two bytes. An index of eight bits distinguishes 128 values, and a wider
one does not beat them.
"""

_INDEX_TYPES = (pa.int8(), pa.int16(), pa.int32())
_BITS = {pa.float32(): pa.int32(), pa.float64(): pa.int64()}


def encode(array: pa.Array, distinct_share: float, rival_bytes: int) -> Encoded | None:
    """Encode an array. Returns None unless the result takes clearly less than `rival_bytes`.

    Gives up early when the share of distinct values among the first rows is above `distinct_share`.
    """
    if rival_bytes < OVERHEAD_BYTES:
        return None
    bits = array.view(_BITS[array.type]) if array.type in _BITS else array
    if len(bits) > 2 * SAMPLE_ROWS:
        sample = bits.slice(0, SAMPLE_ROWS)
        if len(sample.unique()) > distinct_share * SAMPLE_ROWS:
            return None
    encoded = bits.dictionary_encode()
    values, indices = encoded.dictionary, encoded.indices
    width = 8 if len(values) <= 2**7 else 16 if len(values) <= 2**15 else 32
    size = values.nbytes + len(bits) * width // 8 + OVERHEAD_BYTES
    if size > KEPT_SHARE * rival_bytes:
        return None
    if width < 32:
        indices = indices.cast(_INDEX_TYPES[width // 16], safe=False)
    if values.type != array.type:
        values = values.view(array.type)
    return Encoded(NAME, pa.DictionaryArray.from_arrays(indices, values, safe=False))


def stream_types(data_type: pa.DataType) -> tuple[pa.DataType, ...]:
    """Return the types that the stream of a dictionary block may have."""
    return tuple(pa.dictionary(index, data_type) for index in _INDEX_TYPES)


def decode(stream: pa.DictionaryArray, limit: int) -> pa.Array:
    """Return the array that was encoded.

    Raises ValueError when an index is outside of the dictionary, and when the result would exceed
    `limit` bytes.
    """
    values, indices = stream.dictionary, stream.indices
    if indices.null_count < len(indices):
        used = to_numpy(indices.drop_null() if indices.null_count else indices)
        if used.min() < 0 or used.max() >= len(values):
            raise ValueError("an index points outside the dictionary")
        _check_size(values, used, limit)
    return pc.take(values, indices, boundscheck=False)


def _check_size(values: pa.Array, used: NDArray[np.signedinteger[Any]], limit: int) -> None:
    """Check the decoded size before allocating it, since a few bytes can decode to very many."""
    if not (pa.types.is_string(values.type) or pa.types.is_binary(values.type)):
        return
    offsets = np.frombuffer(values.buffers()[1], np.int32)[
        values.offset : values.offset + len(values) + 1
    ]
    lengths = np.diff(offsets)
    # The bound by the longest value is nearly always enough, and cheap.
    if int(lengths.max()) * len(used) > limit and int(lengths.astype(np.int64)[used].sum()) > limit:
        raise ValueError("the decoded values would be larger than the index says")
