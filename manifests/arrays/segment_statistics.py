"""Statistics of one column in an entry segment: as vectors, and back. Pure.

Spec: docs/spec/checkpoint.md#segments
"""

from __future__ import annotations

import numpy as np

from colonnade.manifests.arrays.bounds import bound_array
from colonnade.manifests.arrays.statistics_block import (
    ALL_FLAGS,
    HAS_MAX,
    HAS_MIN,
    BoundArray,
    StatisticsBlock,
)
from colonnade.manifests.arrays.vectors import (
    BoundVector,
    FloatVector,
    Integers,
    TaggedVector,
    decode_between,
    decode_floats,
    decode_integers,
    encode_floats,
    encode_integers,
)
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.map_ref import IntegerVector
from colonnade.manifests.model.schema import Model, SchemaField
from colonnade.manifests.model.statistics import (
    BINARY,
    REAL,
    TEXT,
    WHOLE,
    bound_tag,
    decode_bound,
    encode_bound,
    is_tag,
    tag_widens,
)

COUNT_LIMITS = (0, 2**53 - 1)
"""The smallest and the greatest count that a segment may state."""


class StatisticsVectors(Model):
    """Statistics of one column. `flags`: 1 present, 2 has `min`, 4 has `max`, 8 exact.

    `tag` is the tag of all bounds; `i` by default.
    """

    tag: str | None = None
    flags: IntegerVector
    min: BoundVector
    max: BoundVector
    nulls: IntegerVector
    nans: IntegerVector


def encode_statistics(block: StatisticsBlock) -> StatisticsVectors:
    """Write the statistics of a column. Requires: at least one RowSet."""
    return StatisticsVectors(
        tag=None if block.tag == WHOLE else block.tag,
        flags=encode_integers(block.flags),
        min=_encode_bounds(block.low, block.flags & HAS_MIN, block.tag),
        max=_encode_bounds(block.high, block.flags & HAS_MAX, block.tag),
        nulls=encode_integers(block.nulls),
        nans=encode_integers(block.nans),
    )


def decode_statistics(
    vectors: StatisticsVectors, count: int, column: SchemaField | None, name: str
) -> StatisticsBlock:
    """Read the statistics of `count` RowSets. None is a column that was dropped.

    Raises CorruptionError that begins with `name`, also for bounds that do not fit the column.
    """
    flags = decode_between(vectors.flags, (0, ALL_FLAGS), count, name)
    tag = vectors.tag or WHOLE
    if (flags & (HAS_MIN | HAS_MAX)).any() and not (
        is_tag(tag) and (column is None or tag_widens(tag, bound_tag(column.type)))
    ):
        raise CorruptionError(f"{name} is malformed: its bounds do not fit a column of this type.")
    return StatisticsBlock(
        tag,
        flags,
        _decode_bounds(vectors.min, flags & HAS_MIN, tag, name),
        _decode_bounds(vectors.max, flags & HAS_MAX, tag, name),
        decode_between(vectors.nulls, COUNT_LIMITS, count, name),
        decode_between(vectors.nans, COUNT_LIMITS, count, name),
    )


def _encode_bounds(
    bounds: BoundArray, present: Integers, tag: str
) -> IntegerVector | FloatVector | TaggedVector:
    if bounds.dtype.kind == "i":
        return encode_integers(bounds.astype(np.int64))
    if bounds.dtype.kind == "f":
        return encode_floats(bounds.astype(np.float64))
    pairs = zip(bounds.tolist(), present.tolist(), strict=True)
    return TaggedVector(values=tuple(encode_bound(v, tag) if there else None for v, there in pairs))


def _decode_bounds(vector: BoundVector, present: Integers, tag: str, name: str) -> BoundArray:
    if isinstance(vector, TaggedVector):
        there = [value is not None for value in vector.values]
        if there != (present != 0).tolist():
            raise CorruptionError(f"{name} is malformed: its bounds do not match its flags.")
        try:
            bounds = [None if v is None else decode_bound(v, tag) for v in vector.values]
        except CorruptionError as error:
            raise CorruptionError(f"{name} is malformed: {error.message}") from error
        return bound_array(bounds)
    is_real = isinstance(vector, FloatVector)
    if present.any() and (tag in (TEXT, BINARY) or is_real != (tag == REAL)):
        raise CorruptionError(f"{name} is malformed: its bounds do not fit their tag.")
    if isinstance(vector, IntegerVector):
        return decode_integers(vector, len(present), name)
    return decode_floats(vector, len(present), name)
