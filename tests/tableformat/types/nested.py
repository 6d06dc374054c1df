"""Arrow arrays inside structs and maps."""

from __future__ import annotations

import pyarrow as pa


def struct_of(array: pa.Array) -> pa.Array:
    return pa.StructArray.from_arrays([array, pa.nulls(len(array), pa.int8())], ["text", "n"])


def map_of(array: pa.Array) -> pa.Array:
    ends = pa.array(range(len(array) + 1), pa.int32())
    return pa.MapArray.from_arrays(ends, pa.array([7] * len(array)), array)
