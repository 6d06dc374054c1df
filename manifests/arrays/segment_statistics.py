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
from colonnade.manifests.model.schema import Model
from colonnade.manifests.model.statistics import BoundKinds, decode_bound, encode_bound

COUNT_LIMITS = (0, 2**53 - 1)
"""The smallest and the greatest count that a segment may state."""


class StatisticsVectors(Model):
    """Statistics of one column. `flags`: 1 present, 2 has `min`, 4 has `max`, 8 exact."""

    flags: IntegerVector
    min: BoundVector
    max: BoundVector
    nulls: IntegerVector
    nans: IntegerVector


def encode_statistics(block: StatisticsBlock) -> StatisticsVectors:
    """Write the statistics of a column. Requires: at least one RowSet."""
    return StatisticsVectors(
        flags=encode_integers(block.flags),
        min=_encode_bounds(block.low, block.flags & HAS_MIN),
        max=_encode_bounds(block.high, block.flags & HAS_MAX),
        nulls=encode_integers(block.nulls),
        nans=encode_integers(block.nans),
    )


def decode_statistics(
    vectors: StatisticsVectors, count: int, kinds: BoundKinds, name: str
) -> StatisticsBlock:
    """Read the statistics of `count` RowSets. Bounds have to be of one of the classes in `kinds`.

    Raises CorruptionError that begins with `name`.
    """
    flags = decode_between(vectors.flags, (0, ALL_FLAGS), count, name)
    return StatisticsBlock(
        flags,
        _decode_bounds(vectors.min, flags & HAS_MIN, kinds, name),
        _decode_bounds(vectors.max, flags & HAS_MAX, kinds, name),
        decode_between(vectors.nulls, COUNT_LIMITS, count, name),
        decode_between(vectors.nans, COUNT_LIMITS, count, name),
    )


def _encode_bounds(
    bounds: BoundArray, present: Integers
) -> IntegerVector | FloatVector | TaggedVector:
    if bounds.dtype.kind == "i":
        return encode_integers(bounds.astype(np.int64))
    if bounds.dtype.kind == "f":
        return encode_floats(bounds.astype(np.float64))
    pairs = zip(bounds.tolist(), present.tolist(), strict=True)
    return TaggedVector(values=tuple(encode_bound(v) if there else None for v, there in pairs))


def _decode_bounds(
    vector: BoundVector, present: Integers, kinds: BoundKinds, name: str
) -> BoundArray:
    if isinstance(vector, TaggedVector):
        there = [value is not None for value in vector.values]
        if there != (present != 0).tolist():
            raise CorruptionError(f"{name} is malformed: its bounds do not match its flags.")
        try:
            bounds = [None if v is None else decode_bound(v, kinds) for v in vector.values]
        except CorruptionError as error:
            raise CorruptionError(f"{name} is malformed: {error.message}") from error
        return bound_array(bounds)
    if present.any() and (int if isinstance(vector, IntegerVector) else float) not in kinds:
        raise CorruptionError(f"{name} is malformed: its bounds do not fit a column of this type.")
    if isinstance(vector, IntegerVector):
        return decode_integers(vector, len(present), name)
    return decode_floats(vector, len(present), name)
