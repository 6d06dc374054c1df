"""Convert Arrow arrays to forms without dictionaries, run-ends and views, at any depth.

Arrow can concatenate and select values in their plain forms only. It refuses some other forms, and
it reads views under an extension type within a list from memory that does not belong to them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from colonnade.tableformat.types.arrow_types import TRANSPARENT_EXTENSIONS, is_list
from colonnade.tableformat.types.sound_arrays import pair_structs, validity

# By ids of types: a type is hashed by its text, which is as long as the type is deep.
_VIEWS = {pa.string_view().id: pa.large_string(), pa.binary_view().id: pa.large_binary()}


def plain_form(array: pa.Array) -> pa.Array:
    """Return the same values in plain form, with no value converted to another type.

    Values under a NULL stay. Copies nothing that is plain already.
    """
    found = array.type
    if _is_plain(found):
        return array
    if isinstance(found, pa.BaseExtensionType):
        return plain_form(array.storage)
    if pa.types.is_dictionary(found):
        return plain_form(array.dictionary).take(array.indices)
    if pa.types.is_run_end_encoded(found):
        return plain_form(array.values).take(run_indices(array))
    if found.id in _VIEWS:
        return array.cast(_VIEWS[found.id])
    if pa.types.is_struct(found):
        children = [plain_form(array.field(i)) for i in range(found.num_fields)]
        fields = [field.with_type(each.type) for field, each in zip(found, children, strict=True)]
        return pa.Array.from_buffers(
            pa.struct(fields), len(array), [validity(array)], array.null_count, children=children
        )
    return _plain_list(array)


@lru_cache(maxsize=4096)
def _is_plain(found: pa.DataType) -> bool:
    if isinstance(found, pa.BaseExtensionType):
        return found.extension_name not in TRANSPARENT_EXTENSIONS
    if pa.types.is_dictionary(found) or pa.types.is_run_end_encoded(found) or found.id in _VIEWS:
        return False
    # The types of children decide only for structs, maps and lists. Unions count as plain.
    has_parts = pa.types.is_struct(found) or pa.types.is_map(found) or is_list(found)
    parts = [found.field(i).type for i in range(found.num_fields)] if has_parts else []
    return all(map(_is_plain, parts))


def _plain_list(array: pa.Array) -> pa.Array:
    """Return a list of any kind, or a map, with plain values and of the same kind."""
    found, rows = array.type, [validity(array)]
    if pa.types.is_fixed_size_list(found):
        size = found.list_size
        values = plain_form(array.values.slice(array.offset * size, len(array) * size))
        target = pa.list_(found.value_field.with_type(values.type), size)
        return pa.Array.from_buffers(target, len(array), rows, array.null_count, children=[values])
    starts = array.offsets.to_numpy()
    sizes = array.sizes.to_numpy() if is_view(found) else 0
    # Take only the values that the rows of this slice refer to.
    first, last = (int(starts.min()), int((starts + sizes).max())) if len(starts) else (0, 0)
    values = pair_structs(array) if pa.types.is_map(found) else array.values
    values = plain_form(values.slice(first, last - first))
    rows.append(pa.py_buffer(starts - first))
    if is_view(found):
        rows.append(pa.py_buffer(sizes))
    if pa.types.is_map(found):
        key, item = (field.type for field in values.type)
        if pa.types.is_null(key):  # Arrow has no map with such keys; a later check refuses them
            key = pa.string()
            values = pa.StructArray.from_arrays(
                [pa.nulls(len(values), key), values.field(1)], ["key", "value"]
            )
        target = pa.map_(key, item)
    else:
        target = _KINDS[found.id](found.value_field.with_type(values.type))
    return pa.Array.from_buffers(target, len(array), rows, array.null_count, children=[values])


_KINDS = {
    make(pa.null()).id: make for make in (pa.list_, pa.large_list, pa.list_view, pa.large_list_view)
}


def is_view(found: pa.DataType) -> bool:
    """Return whether a type is a list view, whose lists have explicit sizes and may overlap."""
    return bool(pa.types.is_list_view(found) or pa.types.is_large_list_view(found))


def run_indices(array: pa.Array) -> pa.Array:
    """Return the index of the value for each row of a run-end encoded array."""
    rows = np.arange(array.offset, array.offset + len(array))
    return pa.array(np.searchsorted(array.run_ends.to_numpy(), rows, side="right"))
