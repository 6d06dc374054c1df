"""Encode integers as their distance from the smallest one, in 1, 2 or 4 bytes.

The module `integers` says which types are treated as integers. Decimals whose range needs more than
4 bytes take 8 bytes instead of 16, with base 0.

Spec: docs/spec/rowset.md#narrowed
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from colonnade.tableformat.rowset.encodings.encoding import Encoded
from colonnade.tableformat.rowset.encodings.integers import (
    NATIVE,
    UNSIGNED,
    Integers,
    allocate,
    from_buffer,
    from_numpy,
    integer_type,
    is_null,
    is_stored_as_integer,
    validity_of,
    values_of,
)

NAME = "narrowed"


def encode(integers: pa.Array, low: int, high: int, data_type: pa.DataType) -> Encoded | None:
    """Encode the result of `as_integers` for a column of `data_type` with these bounds.

    Returns None when the integers already have the narrowest width.
    """
    is_decimal = pa.types.is_decimal(data_type)
    for arrow, native in UNSIGNED:
        if high - low < 2**arrow.bit_width and arrow.bit_width < integers.type.bit_width:
            values = values_of(integers).astype(native)
            # Subtract modulo 2**width, so that no wider type is needed in between.
            np.subtract(values, native(low % 2**arrow.bit_width), out=values)
            return Encoded(NAME, _masked(values, arrow, integers), low)
    if is_decimal:
        return Encoded(NAME, _masked(values_of(integers).copy(), pa.int64(), integers), 0)
    return None


def stream_types(data_type: pa.DataType) -> tuple[pa.DataType, ...]:
    """Return the types that the stream of a narrowed block may have."""
    if not is_stored_as_integer(data_type):
        return ()
    narrow = tuple(arrow for arrow, _ in UNSIGNED)
    return (*narrow, pa.int64()) if pa.types.is_decimal(data_type) else narrow


def decode(stream: pa.Array, base: int | None, data_type: pa.DataType) -> pa.Array:
    """Return the array that was encoded. Raises ValueError without a base."""
    if base is None:
        raise ValueError("its index lacks the base of its values")
    values, validity = values_of(stream), validity_of(stream)
    if pa.types.is_decimal(data_type):
        return from_buffer(_decimal_words(values, base), data_type, validity)
    native = NATIVE[integer_type(data_type)]
    buffer, sums = allocate(len(values), native)
    np.add(values, np.int64(base).astype(native), out=sums, dtype=native, casting="unsafe")
    return from_buffer(buffer, data_type, validity)


def _decimal_words(values: Integers, base: int) -> pa.Buffer:
    """Return 16-byte little-endian two's complement, as pairs of 64-bit words."""
    buffer, words = allocate(2 * len(values), np.int64)
    low, high = words[::2], words[1::2]
    np.add(values, np.int64(base), out=low, dtype=np.int64, casting="unsafe")
    if base >= 0 and values.dtype != np.int64:
        high[:] = 0  # never negative
    else:
        np.right_shift(low, 63, out=high)
    return buffer


def _masked(values: Integers, arrow: pa.DataType, source: pa.Array) -> pa.Array:
    if source.null_count:
        # A value under a NULL is arbitrary. Zeros compress well, and reveal nothing.
        values[is_null(source)] = 0
    return from_numpy(values, arrow, validity_of(source))
