"""Nested arrays that hold empty ones, made such that Arrow can hand them over and join them.

An array without values has no buffers when it comes through Arrow's C interface, but keeps the
offset of the slice that it is. Arrow follows that offset when it joins arrays, and fails.
"""

from __future__ import annotations

import pyarrow as pa


def sound(array: pa.Array, *, all_fresh: bool = False) -> pa.Array:
    """The same values, with fresh arrays for those that are empty and have an offset, or for all.

    Copies no value.
    """
    if len(array) == 0 and (all_fresh or array.offset):
        return pa.nulls(0, array.type)
    children = _children(array)
    fresh = [sound(child, all_fresh=all_fresh) for child in children]
    if all(new is old for new, old in zip(fresh, children, strict=True)):
        return array
    if pa.types.is_struct(array.type):
        # Its children come without its offset.
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
    """The keys and values of a map, also those before and after a slice, as structs."""
    fields = [array.type.key_field, array.type.item_field]
    return pa.StructArray.from_arrays([array.keys, array.items], fields=fields)


def validity(array: pa.Array) -> pa.Buffer | None:
    """The validity bitmap of an array, beginning at its first value."""
    return array.is_valid().buffers()[1] if array.null_count else None
