"""Repair nested arrays that contain empty ones, so that Arrow can export and concatenate them.

An array without values has no buffers when it comes through Arrow's C interface, but it keeps the
offset of its slice. Arrow follows that offset when it concatenates arrays, and fails.
"""

from __future__ import annotations

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
    if pa.types.is_struct(array.type):
        # `field` already applies the offset of the struct to its children.
        return pa.Array.from_buffers(
            array.type, len(array), [validity(array)], array.null_count, children=fresh
        )
    own = array.buffers()[:2]
    return pa.Array.from_buffers(
        array.type, len(array), own, array.null_count, array.offset, children=fresh
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
