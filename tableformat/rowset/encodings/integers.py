"""Which types are treated as integers, and arrays of integers as numpy arrays, without copying."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.tableformat.types.compute import pc

Integers = NDArray[Any]
"""A numpy array of some integer type."""

UNSIGNED = ((pa.uint8(), np.uint8), (pa.uint16(), np.uint16), (pa.uint32(), np.uint32))
"""The types of a narrowed stream, narrowest first."""

NATIVE: dict[pa.DataType, type[np.integer[Any]]] = {
    **dict(UNSIGNED),
    pa.int8(): np.int8,
    pa.int16(): np.int16,
    pa.int32(): np.int32,
    pa.int64(): np.int64,
}


def is_stored_as_integer(data_type: pa.DataType) -> bool:
    """Return whether values of a type are integers of at most 64 bits; booleans are not.

    Dates, timestamps, times, intervals and decimals of at most 18 digits are.
    """
    return (
        pa.types.is_integer(data_type)
        or (pa.types.is_temporal(data_type) and not pa.types.is_interval(data_type))
        or (pa.types.is_decimal128(data_type) and data_type.precision <= 18)
    )


def integer_type(data_type: pa.DataType) -> pa.DataType:
    """Return the integer type that values of a type are encoded from; decimals use int64."""
    if pa.types.is_integer(data_type):
        return data_type
    return pa.int32() if pa.types.is_date32(data_type) else pa.int64()


def as_integers(array: pa.Array) -> pa.Array:
    """Return the rows as integers; a value under a NULL is undefined.

    Requires that `is_stored_as_integer(array.type)`.
    """
    if not pa.types.is_decimal(array.type):
        return array.view(integer_type(array.type))
    words = np.frombuffer(array.buffers()[1], np.int64)
    low = words[2 * array.offset : 2 * (array.offset + len(array)) : 2].copy()
    return from_numpy(low, pa.int64(), validity_of(array))


def values_of(array: pa.Array) -> Integers:
    """Return the values of an array; a value under a NULL is undefined."""
    native = NATIVE[array.type]
    return np.frombuffer(array.buffers()[1], native)[array.offset : array.offset + len(array)]


def bounds_of(array: pa.Array) -> tuple[int, int]:
    """Return the least and the greatest value. Requires a value that is not NULL."""
    if array.null_count:
        bounds = pc.min_max(array)
        return bounds["min"].as_py(), bounds["max"].as_py()
    values = values_of(array)
    return int(values.min()), int(values.max())


def validity_of(array: pa.Array) -> pa.Buffer | None:
    """Return the validity bitmap of exactly these rows; None when no row is NULL."""
    if not array.null_count:
        return None
    return array.buffers()[0] if array.offset == 0 else array.is_valid().buffers()[1]


def is_null(array: pa.Array) -> NDArray[np.bool_]:
    """Return which rows are NULL."""
    return array.is_null().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def allocate(count: int, native: type[np.integer[Any]]) -> tuple[pa.Buffer, Integers]:
    """Return memory of Arrow's pool for some integers, and the same memory as a numpy array.

    The pool keeps freed memory for the next block. Memory that numpy allocates goes back to the
    operating system in between, and the next block would meet a page fault for each page.
    """
    buffer = pa.allocate_buffer(count * np.dtype(native).itemsize)
    return buffer, np.frombuffer(buffer, native)


def from_buffer(buffer: pa.Buffer, arrow: pa.DataType, validity: pa.Buffer | None) -> pa.Array:
    """Return an array of an Arrow type over all bytes of a buffer."""
    return pa.Array.from_buffers(arrow, buffer.size * 8 // arrow.bit_width, [validity, buffer])


def from_numpy(values: Integers, arrow: pa.DataType, validity: pa.Buffer | None) -> pa.Array:
    """Return an array of an Arrow type over the bytes of `values`."""
    return from_buffer(pa.py_buffer(values), arrow, validity)
