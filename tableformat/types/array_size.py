"""Measure how many bytes the rows of an Arrow array take, including nested arrays and slices."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from colonnade.tableformat.types.sound_arrays import pair_structs


def array_bytes(array: pa.Array) -> int:
    """Return the bytes that the buffers of exactly these rows take, without padding.

    Arrow's own `nbytes` omits the bitmaps that say which structs are NULL; this counts them. Costs
    a few microseconds for each struct in the type; reads no value.
    """
    size: int = array.nbytes
    return size + _struct_validity(array) if _has_structs(array.type) else size


def _struct_validity(array: pa.Array) -> int:
    """Return the bytes of the bitmaps that say which structs are NULL, at every depth."""
    found = array.type
    if not _has_structs(found) or not len(array):
        return 0
    if pa.types.is_struct(found):
        own = (len(array) + 7) // 8 if array.null_count else 0
        return own + sum(_struct_validity(array.field(i)) for i in range(found.num_fields))
    offsets = array.offsets
    first, last = offsets[0].as_py(), offsets[-1].as_py()
    values = pair_structs(array) if pa.types.is_map(found) else array.values
    return _struct_validity(values.slice(first, last - first))


@lru_cache(maxsize=4096)
def _has_structs(found: pa.DataType) -> bool:
    if pa.types.is_struct(found):
        return True
    if not pa.types.is_nested(found):
        return False
    return any(_has_structs(found.field(i).type) for i in range(found.num_fields))
