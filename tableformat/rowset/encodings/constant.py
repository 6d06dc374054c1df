"""Encode rows that all have one value. The value is the block's exact minimum in the index.

Floats qualify only when all their bit patterns are equal. NaN never qualifies, because no bound can
hold it.

Spec: docs/spec/rowset.md#constant
"""

from __future__ import annotations

import pyarrow as pa

from colonnade.manifests.model.statistics import Bound
from colonnade.tableformat.rowset.encodings import narrowed
from colonnade.tableformat.rowset.encodings.encoded import Encoded

NAME = "constant"


def encode() -> Encoded:
    """Encode rows that all have the block's minimum."""
    return Encoded(NAME, None)


def decode(value: Bound, data_type: pa.DataType, rows: int) -> pa.Array:
    """Return `rows` copies of `value`, which is a bound of a column of that type."""
    return pa.repeat(_scalar(value, data_type), rows)


def _scalar(value: Bound, data_type: pa.DataType) -> pa.Scalar:
    if pa.types.is_decimal(data_type):
        unscaled = int(value).to_bytes(16, "little", signed=True)
        return pa.Array.from_buffers(data_type, 1, [None, pa.py_buffer(unscaled)])[0]
    if narrowed.applies(data_type):
        return (
            pa.array([value], pa.int64()).cast(narrowed.integer_type(data_type)).view(data_type)[0]
        )
    if pa.types.is_boolean(data_type):
        return pa.scalar(bool(value))
    return pa.scalar(value, data_type)
