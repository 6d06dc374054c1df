"""Repairs what Spark 4.1 sends as empty nested arrays.

Where every list or map of a batch is empty, the child array has no values, and Spark's Java writer
leaves its one offset uninitialised. Arrow follows that offset when it checks, joins or stores the
array, so the array is replaced by a fresh empty one before anything looks at it.
"""

from __future__ import annotations

import pyarrow as pa

from tableformat.arrow_types import map_entries


def with_sound_arrays(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows without uninitialised offsets; sound columns are not copied.

    Requires: a batch fresh from its stream, so that no array in it is a slice.
    """
    columns = batch.columns
    sound = [_sound(column) for column in columns]
    if all(new is old for new, old in zip(sound, columns, strict=True)):
        return batch
    return pa.RecordBatch.from_arrays(sound, schema=batch.schema)


def _sound(array: pa.Array) -> pa.Array:
    if len(array) == 0:
        return pa.nulls(0, array.type)
    children = _children(array)
    sound = [_sound(child) for child in children]
    if all(new is old for new, old in zip(sound, children, strict=True)):
        return array
    # A struct has a validity bitmap, lists and maps have their offsets beside it.
    own = array.buffers()[: 1 if pa.types.is_struct(array.type) else 2]
    return pa.Array.from_buffers(array.type, len(array), own, children=sound)


def _children(array: pa.Array) -> list[pa.Array]:
    if pa.types.is_struct(array.type):
        return [array.field(i) for i in range(array.type.num_fields)]
    if pa.types.is_map(array.type):
        return [map_entries(array).values]
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        return [array.values]
    return []
