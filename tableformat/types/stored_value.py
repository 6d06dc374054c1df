"""One value of a column, between its Arrow form and the form of a bound. Does no I/O.

Spec: docs/spec/types.md#table-of-types
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from colonnade.manifests.model.statistics import Bound
from colonnade.tableformat.types.decimals import unscaled


def repeated(value: Bound, data_type: pa.DataType, rows: int) -> pa.Array:
    """Return `rows` copies of a value in the storage type of its column, which is not nested."""
    return pa.repeat(_scalar(value, data_type), rows)


def _scalar(value: Bound, data_type: pa.DataType) -> pa.Scalar:
    if pa.types.is_decimal(data_type):
        words = int(value).to_bytes(16, "little", signed=True)
        return pa.Array.from_buffers(data_type, 1, [None, pa.py_buffer(words)])[0]
    if pa.types.is_temporal(data_type):
        return pa.array([value], _integers(data_type)).view(data_type)[0]
    if pa.types.is_boolean(data_type):
        return pa.scalar(bool(value))
    return pa.scalar(value, data_type)


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
