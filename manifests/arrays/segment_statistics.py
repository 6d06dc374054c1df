"""Statistics of one column in an entry segment: as arrays, and back. Pure.

Spec: docs/spec/checkpoint.md#segments
"""

from __future__ import annotations

import numpy as np

from colonnade.manifests.arrays.bounds import bound_array
from colonnade.manifests.arrays.json_arrays import (
    FloatArray,
    Integers,
    StoredBounds,
    TextArray,
    decode_between,
    decode_floats,
    decode_integers,
    encode_floats,
    encode_integers,
)
from colonnade.manifests.arrays.statistics_block import (
    ALL_FLAGS,
    HAS_MAX,
    HAS_MIN,
    BoundArray,
    StatisticsBlock,
)
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.map_ref import IntegerArray
from colonnade.manifests.model.schema import Model, SchemaField
from colonnade.manifests.model.statistics import (
    BINARY,
    REAL,
    TEXT,
    WHOLE,
    bound_prefix,
    decode_bound,
    encode_bound,
    is_prefix,
    prefix_widens,
)

COUNT_LIMITS = (0, 2**53 - 1)
"""The smallest and the greatest count that a segment may state."""


class StatisticsArrays(Model):
    """Statistics of one column. `flags`: 1 present, 2 has `min`, 4 has `max`, 8 exact.

    `prefix` is the prefix of all bounds; `i` by default.
    """

    prefix: str | None = None
    flags: IntegerArray
    min: StoredBounds
    max: StoredBounds
    nulls: IntegerArray
    nans: IntegerArray


def encode_statistics(block: StatisticsBlock) -> StatisticsArrays:
    """Write the statistics of a column. Requires: at least one RowSet."""
    return StatisticsArrays(
        prefix=None if block.prefix == WHOLE else block.prefix,
        flags=encode_integers(block.flags),
        min=_encode_bounds(block.low, block.flags & HAS_MIN, block.prefix),
        max=_encode_bounds(block.high, block.flags & HAS_MAX, block.prefix),
        nulls=encode_integers(block.nulls),
        nans=encode_integers(block.nans),
    )


def decode_statistics(
    arrays: StatisticsArrays, count: int, column: SchemaField | None, name: str
) -> StatisticsBlock:
    """Read the statistics of `count` RowSets. None is a column that was dropped.

    Raises CorruptionError that begins with `name`, also for bounds that do not fit the column.
    """
    flags = decode_between(arrays.flags, (0, ALL_FLAGS), count, name)
    prefix = arrays.prefix or WHOLE
    if (flags & (HAS_MIN | HAS_MAX)).any() and not (
        is_prefix(prefix) and (column is None or prefix_widens(prefix, bound_prefix(column.type)))
    ):
        raise CorruptionError(f"{name} is malformed: its bounds do not fit a column of this type.")
    return StatisticsBlock(
        prefix,
        flags,
        _decode_bounds(arrays.min, flags & HAS_MIN, prefix, name),
        _decode_bounds(arrays.max, flags & HAS_MAX, prefix, name),
        decode_between(arrays.nulls, COUNT_LIMITS, count, name),
        decode_between(arrays.nans, COUNT_LIMITS, count, name),
    )


def _encode_bounds(
    bounds: BoundArray, present: Integers, prefix: str
) -> IntegerArray | FloatArray | TextArray:
    if bounds.dtype.kind == "i":
        return encode_integers(bounds.astype(np.int64))
    if bounds.dtype.kind == "f":
        return encode_floats(bounds.astype(np.float64))
    pairs = zip(bounds.tolist(), present.tolist(), strict=True)
    return TextArray(values=tuple(encode_bound(v, prefix) if there else None for v, there in pairs))


def _decode_bounds(array: StoredBounds, present: Integers, prefix: str, name: str) -> BoundArray:
    if isinstance(array, TextArray):
        there = [value is not None for value in array.values]
        if there != (present != 0).tolist():
            raise CorruptionError(f"{name} is malformed: its bounds do not match its flags.")
        try:
            bounds = [None if v is None else decode_bound(v, prefix) for v in array.values]
        except CorruptionError as error:
            raise CorruptionError(f"{name} is malformed: {error.message}") from error
        return bound_array(bounds)
    is_real = isinstance(array, FloatArray)
    if present.any() and (prefix in (TEXT, BINARY) or is_real != (prefix == REAL)):
        raise CorruptionError(f"{name} is malformed: its bounds do not fit their prefix.")
    if isinstance(array, IntegerArray):
        return decode_integers(array, len(present), name)
    return decode_floats(array, len(present), name)
