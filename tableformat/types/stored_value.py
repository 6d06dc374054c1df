"""Values of a column, between their Arrow form, numpy, and the form of a bound. Does no I/O.

In the form of a bound, dates, times and timestamps are numbers of their unit, and decimals are
unscaled. Functions of this module convert values by their bytes. pyarrow's own `array`, `scalar`
and `to_numpy` import pandas if it is installed. That takes longer than a read of a small table.

Spec: docs/spec/types.md#table-of-types
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.model.statistics import Bound
from colonnade.tableformat.types.decimals import unscaled

_KINDS = {
    **{pa.int8(): np.int8, pa.int16(): np.int16, pa.int32(): np.int32, pa.int64(): np.int64},
    **{pa.float32(): np.float32, pa.float64(): np.float64},
    **{pa.uint8(): np.uint8, pa.uint16(): np.uint16, pa.uint32(): np.uint32},
    **{pa.uint64(): np.uint64},
}


def to_numpy(array: pa.Array) -> NDArray[Any]:
    """Return the values of an array of numbers without NULL. Copies nothing."""
    assert not array.null_count
    kind = np.dtype(_KINDS[array.type])
    if not len(array):
        return np.empty(0, kind)
    # A buffer may be longer than its values, and not by whole values.
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def booleans(values: NDArray[np.bool_]) -> pa.BooleanArray:
    """Return booleans of numpy as an array of Arrow."""
    bits = pa.py_buffer(np.packbits(values, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, bits])


def to_array(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    """Return values in the form of bounds as an array of a storage type. None of them is None.

    Raises OverflowError for a number that the type cannot hold, and for 2 GiB of texts or more.
    """
    if pa.types.is_boolean(type_):
        return booleans(np.array(values, np.bool_))
    if type_ in (pa.string(), pa.binary()):
        parts = [each.encode() if isinstance(each, str) else each for each in values]
        ends = np.cumsum([0, *map(len, parts)])
        if ends[-1] >= 2**31:
            raise OverflowError(f"Texts of {ends[-1]} bytes do not fit into one array.")
        buffers = [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(parts))]
        return pa.Array.from_buffers(type_, len(values), buffers)
    if pa.types.is_floating(type_):
        data = np.array(values, _KINDS[type_]).tobytes()
    else:
        width = type_.bit_width // 8
        data = b"".join(int(each).to_bytes(width, "little", signed=True) for each in values)
    return pa.Array.from_buffers(type_, len(values), [None, pa.py_buffer(data)])


def to_scalar(value: Any, type_: pa.DataType) -> pa.Scalar:
    """Return a value as `to_array` does."""
    return to_array([value], type_)[0]


def repeated(value: Bound, data_type: pa.DataType, rows: int) -> pa.Array:
    """Return `rows` copies of a value in the storage type of its column, which is not nested."""
    return pa.repeat(to_scalar(value, data_type), rows)


def stored_value(array: pa.Array) -> Bound:
    """Return the first value of an array in the form of a bound.

    Requires that it is not NULL, and of a storage type that is not nested.
    """
    if pa.types.is_temporal(array.type):
        array = array.view(_integers(array.type))
    found: Any = array[0].as_py()
    if pa.types.is_decimal(array.type):
        found = unscaled(found, array.type.scale)
    value: Bound = int(found) if isinstance(found, bool) else found
    return value


def _integers(data_type: pa.DataType) -> pa.DataType:
    """Return the integers that have the bytes of a type of dates, times or durations."""
    return pa.int32() if data_type.bit_width == 32 else pa.int64()
