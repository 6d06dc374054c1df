"""Convert Arrow arrays of integers to numpy arrays and back, without copying."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

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
