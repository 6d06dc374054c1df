"""Rows that may have one of some keys, by one column alone: few of many. Pure.

Of a block, most rows have none of the keys. Looking for all keys in every block would cost more
than reading it, so a block is compared only with the values within its own range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import Bounds
from colonnade.tableformat.types.compute import pc

Rows = NDArray[np.int64]

_MANY = 64
"""From this number of values on, they are looked up in a sorted block one by one."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The distinct values of one key column, without NULL.

    `numbers` has them in order where they are whole numbers, as dates and times are, too.
    """

    values: pa.Array
    numbers: NDArray[np.int64] | None

    @classmethod
    def of(cls, values: pa.Array) -> Candidates:
        """Return the values of a column, in any order."""
        numbers = whole_numbers(values)
        return cls(values, None if numbers is None else np.sort(numbers))

    def rows(self, column: pa.Array) -> Rows:
        """Return the rows of a block whose value is one of these, in order."""
        if not len(column) or not len(self.values):
            return np.zeros(0, np.int64)
        if column.null_count:
            there = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
            return np.asarray(there[self.rows(column.drop_null())], np.int64)
        found = whole_numbers(column)
        if self.numbers is None or found is None:
            return _equal_rows(column, self.values)
        return _matching(found, self.numbers)

    def may_match(self, bounds: Bounds) -> NDArray[np.bool_]:
        """Return a mask of the things whose bounds allow one of the values."""
        numbers = self.numbers
        low, high = _as_int64(bounds.low), _as_int64(bounds.high)
        if numbers is None or low is None or high is None or not len(numbers):
            return np.ones(len(bounds.known), np.bool_)
        at = np.searchsorted(numbers, low)
        nearest = np.append(numbers, numbers[-1:])[at]
        inside = (at < len(numbers)) & (nearest <= high)
        return np.asarray(~bounds.known | inside, np.bool_)


def _as_int64(ends: NDArray[np.generic]) -> NDArray[np.int64] | None:
    """Return ends of bounds as 64-bit numbers; None for other values.

    An open end of a region lies beyond all numbers of 64 bits.
    """
    if ends.dtype == np.int64:
        return ends.astype(np.int64, copy=False)
    if not all(isinstance(each, int) for each in ends.tolist()):
        return None
    least, greatest = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    return np.array([min(max(each, least), greatest) for each in ends.tolist()], np.int64)


def _matching(found: NDArray[np.int64], numbers: NDArray[np.int64]) -> Rows:
    low, high = np.searchsorted(numbers, (found.min(), found.max()))
    within = numbers[low : high + 1]
    if not len(within):
        return np.zeros(0, np.int64)
    if len(within) < len(found) // _MANY and _ascends(found):
        first = np.searchsorted(found, within, side="left")
        count = np.searchsorted(found, within, side="right") - first
        starts = np.repeat(first - (np.cumsum(count) - count), count)
        return np.asarray(starts + np.arange(int(count.sum())), np.int64)
    at = np.searchsorted(within, found)
    at[at == len(within)] = 0
    return np.flatnonzero(within[at] == found)


def _ascends(found: NDArray[np.int64]) -> bool:
    return bool((found[1:] >= found[:-1]).all())


def _equal_rows(column: pa.Array, values: pa.Array) -> Rows:
    low, high = pc.min_max(column).values()
    within = values.filter(pc.and_(pc.greater_equal(values, low), pc.less_equal(values, high)))
    mask = pc.is_in(column, within, skip_nulls=True)
    return np.flatnonzero(mask.to_numpy(zero_copy_only=False))


def whole_numbers(column: pa.Array) -> NDArray[np.int64] | None:
    """Return the values as whole numbers, or None for other types. Requires no NULL."""
    kind = column.type
    if pa.types.is_signed_integer(kind):
        return np.asarray(column.to_numpy(zero_copy_only=False), np.int64)
    if pa.types.is_temporal(kind):
        plain = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
        return np.asarray(plain.to_numpy(zero_copy_only=False), np.int64)
    return None
