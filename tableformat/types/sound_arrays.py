"""Nested arrays that Arrow and DuckDB read right, of the same values.

An array without values has no buffers when it comes through Arrow's C interface, but it keeps the
offset of its slice. Arrow follows that offset when it concatenates arrays, and fails.

DuckDB 1.5 does not add the offset of a struct to that of the structs in it, and reads other rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pyarrow as pa


def sound(array: pa.Array, *, all_fresh: bool = False) -> pa.Array:
    """Return the same values, with new arrays in place of empty ones that have an offset.

    With `all_fresh`, every empty array is replaced. Copies no value.
    """
    if len(array) == 0 and (all_fresh or array.offset):
        return pa.nulls(0, array.type)
    children = _children(array)
    fresh = [sound(child, all_fresh=all_fresh) for child in children]
    if all(new is old for new, old in zip(fresh, children, strict=True)):
        return array
    return _with_children(array, fresh)


def with_whole_structs(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same rows, with no struct at any depth that has an offset. Copies no value."""
    with closing(batches):  # type: ignore[type-var]  # they come from a generator
        for batch in batches:
            yield whole_structs(batch)


def whole_structs(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the same rows, with no struct at any depth that has an offset. Copies no value."""
    if not any(pa.types.is_nested(each) for each in batch.schema.types):
        return batch
    return pa.RecordBatch.from_arrays([*map(_whole, batch.columns)], schema=batch.schema)


def _whole(array: pa.Array) -> pa.Array:
    children = _children(array)
    whole = [*map(_whole, children)]
    is_sliced = pa.types.is_struct(array.type) and array.offset
    if not is_sliced and all(new is old for new, old in zip(whole, children, strict=True)):
        return array
    return _with_children(array, whole)


def _with_children(array: pa.Array, children: list[pa.Array]) -> pa.Array:
    """Return an array with other children, which are as `_children` returns them."""
    if pa.types.is_struct(array.type):
        # `field` already applies the offset of the struct to its children.
        return pa.Array.from_buffers(
            array.type, len(array), [validity(array)], array.null_count, children=children
        )
    own = array.buffers()[:2]
    return pa.Array.from_buffers(
        array.type, len(array), own, array.null_count, array.offset, children=children
    )


def _children(array: pa.Array) -> list[pa.Array]:
    if pa.types.is_struct(array.type):
        return [array.field(i) for i in range(array.type.num_fields)]
    if pa.types.is_map(array.type):
        return [pair_structs(array)]
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        return [array.values]
    return []


def pair_structs(array: pa.Array) -> pa.Array:
    """Return the keys and values of a map as structs, including those outside of its slice."""
    fields = [array.type.key_field, array.type.item_field]
    return pa.StructArray.from_arrays([array.keys, array.items], fields=fields)


def validity(array: pa.Array) -> pa.Buffer | None:
    """Return the validity bitmap of an array, beginning at its first value."""
    return array.is_valid().buffers()[1] if array.null_count else None
