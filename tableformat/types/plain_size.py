"""Measure how large the largest part of an array becomes once it is in its plain form.

Arrow's plain text and lists have 32-bit offsets, so one array holds less than 2 GiB of text and
less than 2³¹ elements. Large forms, views, dictionaries and runs may represent more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.tableformat.types.arrow_types import is_list
from colonnade.tableformat.types.plain_form import is_view, run_indices
from colonnade.tableformat.types.sound_arrays import pair_structs

# By ids of types: a type is hashed by its text, which is as long as the type is deep.
_OFFSETS = {
    **dict.fromkeys((pa.string().id, pa.binary().id), np.int32),
    **dict.fromkeys((pa.large_string().id, pa.large_binary().id), np.int64),
}
_VIEWS = (pa.string_view().id, pa.binary_view().id)


def largest_part(array: pa.Array) -> int:
    """Return the most bytes of text, or list elements, that any one plain array would hold.

    The result is never too small. It may be too large for dictionaries and runs of nested values,
    and for list views that overlap. Copies no value.

    Raises ValueError for offsets and indices outside of their data. Arrow trusts them, and would
    store unreadable data or crash the process.
    """
    found = array.type
    if not len(array):
        return 0
    if isinstance(found, pa.BaseExtensionType):
        return largest_part(array.storage)
    if found.id in _OFFSETS or found.id in _VIEWS:
        return int(_text_lengths(array).sum())
    if pa.types.is_fixed_size_binary(found):
        return len(array) * int(found.byte_width)
    if pa.types.is_dictionary(found):
        return _repeated(array.dictionary, array.indices)
    if pa.types.is_run_end_encoded(found):
        return _repeated(array.values, run_indices(array))
    if pa.types.is_struct(found):
        return max((largest_part(array.field(i)) for i in range(found.num_fields)), default=0)
    if pa.types.is_map(found) or is_list(found):
        return _largest_of_lists(array)
    return 0


def _largest_of_lists(array: pa.Array) -> int:
    found = array.type
    if pa.types.is_fixed_size_list(found):
        size = int(found.list_size)
        first, count = array.offset * size, len(array) * size
        return max(count, largest_part(array.values.slice(first, count)))
    starts = array.offsets.to_numpy().astype(np.int64)
    sizes = array.sizes.to_numpy().astype(np.int64) if is_view(found) else np.diff(starts)
    first = int(starts.min())
    end = int((starts[: len(sizes)] + sizes).max())
    values = pair_structs(array) if pa.types.is_map(found) else array.values
    if first < 0 or end > len(values) or int(sizes.min()) < 0:
        raise ValueError("the offsets of its lists do not ascend, or lie outside of its elements")
    below = largest_part(values.slice(first, end - first))
    count = int(sizes.sum())
    return max(count, below if count <= end - first else below * len(array))


def _repeated(values: pa.Array, indices: pa.Array) -> int:
    """Return how much `values` take when each row names a value by its index."""
    picked = indices.drop_null().to_numpy()
    if len(picked) and (picked.min() < 0 or picked.max() >= len(values)):
        raise ValueError("an index lies outside of its values")
    if values.type.id in _OFFSETS or values.type.id in _VIEWS:
        return int(_text_lengths(values)[picked].sum())
    return largest_part(values) * len(picked)


def _text_lengths(array: pa.Array) -> NDArray[np.int64]:
    """Return the bytes of each value, including values under a NULL."""
    if not len(array):
        return np.zeros(0, np.int64)
    buffer: Any = array.buffers()[1]
    first, count = array.offset, len(array)
    if array.type.id in _VIEWS:
        # A view takes 16 bytes. The first four bytes are the length.
        lengths = np.frombuffer(buffer, np.int32)[4 * first : 4 * (first + count) : 4]
        return np.maximum(lengths, 0).astype(np.int64)
    offsets = np.frombuffer(buffer, _OFFSETS[array.type.id])[first : first + count + 1]
    data = array.buffers()[2]
    ends_inside = offsets[-1] <= (0 if data is None else data.size)
    if offsets[0] < 0 or not ends_inside or (offsets[1:] < offsets[:-1]).any():
        raise ValueError("the offsets of its text do not ascend, or lie outside of its bytes")
    return np.diff(offsets).astype(np.int64)
