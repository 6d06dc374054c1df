"""Compare two columns row by row. Pure."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.tableformat.types.compute import pc

Mask = NDArray[np.bool_]


def same_values(left: pa.Array, right: pa.Array) -> Mask:
    """Return for each row whether two columns of one type have the same value, or both NULL.

    NaN is the same as NaN, and -0.0 is another value than 0.0. Values inside nested values are
    compared likewise. Cost: a few passes over the values.
    """
    if isinstance(left.type, pa.BaseExtensionType):
        left, right = left.storage, right.storage
    empty, other = (np.asarray(each.is_null()) for each in (left, right))
    if pa.types.is_struct(left.type):
        same: Mask = np.ones(len(left), np.bool_)
        for one, another in zip(left.flatten(), right.flatten(), strict=True):
            same &= same_values(one, another)
    elif pa.types.is_null(left.type):
        return np.ones(len(left), np.bool_)
    elif pa.types.is_list(left.type) or pa.types.is_map(left.type):
        same = _same_lists(left, right, ~(empty | other))
    else:
        same = np.asarray(pc.fill_null(pc.equal(_bits(left), _bits(right)), False))
    return np.where(empty | other, empty & other, same)


def _same_lists(left: pa.Array, right: pa.Array, there: Mask) -> Mask:
    counts, others = (np.asarray(_counts(each).fill_null(0)) for each in (left, right))
    same: Mask = there & (counts == others)
    rows = np.flatnonzero(same)
    places = pa.array(rows)
    parts = zip(_elements(left.take(places)), _elements(right.take(places)), strict=True)
    rows_of = np.repeat(rows, counts[rows])
    for one, another in parts:
        same[rows_of[~same_values(one, another)]] = False
    return same


def _counts(values: pa.Array) -> pa.Array:
    if pa.types.is_map(values.type):
        offsets = np.asarray(values.offsets)
        return pa.array(np.diff(offsets))
    return pc.list_value_length(values)


def _elements(values: pa.Array) -> list[pa.Array]:
    """Return the elements of lists, or the keys and the values of maps, of all rows together.

    Requires that no row is NULL.
    """
    if not pa.types.is_map(values.type):
        return [values.flatten()]
    first, end = values.offsets[0].as_py(), values.offsets[-1].as_py()
    return [each[first:end] for each in (values.keys, values.items)]


def _bits(values: pa.Array) -> pa.Array:
    """Return floating-point numbers as integers of the same bits, with one NaN."""
    if not pa.types.is_floating(values.type):
        return values
    values = pc.if_else(pc.is_nan(values), pa.scalar(float("nan"), values.type), values)
    return values.view(pa.int32() if values.type.bit_width == 32 else pa.int64())
