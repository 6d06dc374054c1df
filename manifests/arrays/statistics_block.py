"""Statistics of one column over many RowSets, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import Bounds, bound_array, prefixed_array
from colonnade.manifests.arrays.json_arrays import Integers
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.statistics import (
    Bound,
    encode_bound,
    in_prefix,
    read_bound,
    widest_prefix,
)

PRESENT, HAS_MIN, HAS_MAX, EXACT = 1, 2, 4, 8
ALL_FLAGS = PRESENT | HAS_MIN | HAS_MAX | EXACT
_BOUNDED = PRESENT | HAS_MIN | HAS_MAX

BoundArray = NDArray[np.generic]
"""Bounds as in `bounds.Bounds`; the value is arbitrary for a RowSet without a bound."""


@dataclass(frozen=True, slots=True, eq=False)
class StatisticsBlock:
    """Statistics of one column. Every array has one element for each RowSet.

    `prefix` says what the numbers of the bounds mean (`statistics.py`). `flags` say what a RowSet
    has: statistics, a minimum, a maximum, exact bounds.
    """

    prefix: str
    flags: Integers
    low: BoundArray
    high: BoundArray
    nulls: Integers
    nans: Integers

    @classmethod
    def of(cls, statistics: Sequence[ColumnStatistics | None]) -> StatisticsBlock:
        """Arrange statistics. None is a RowSet without statistics.

        Raises CorruptionError for bounds of types that cannot be compared.
        """
        low = [read_bound(s.min) if s and s.min is not None else None for s in statistics]
        high = [read_bound(s.max) if s and s.max is not None else None for s in statistics]
        prefix = widest_prefix(each[0] for each in (*low, *high) if each is not None)
        return cls(
            prefix,
            np.array([_flags(s) for s in statistics], np.int64),
            _values(low, prefix),
            _values(high, prefix),
            np.array([s.nulls if s else 0 for s in statistics], np.int64),
            np.array([s.nans if s else 0 for s in statistics], np.int64),
        )

    def bounds(self) -> Bounds:
        """Return the bounds for pruning. A count of NULL or NaN is -1 if it is unknown."""
        known = self.flags & _BOUNDED == _BOUNDED
        present = self.flags & PRESENT == PRESENT
        if present.all():
            return Bounds(self.prefix, self.low, self.high, known, self.nulls, self.nans)
        nulls, nans = np.where(present, self.nulls, -1), np.where(present, self.nans, -1)
        return Bounds(self.prefix, self.low, self.high, known, nulls, nans)

    def statistics(self, indexes: Integers) -> list[dict[str, object] | None]:
        """Return the fields of `ColumnStatistics` for the RowSets at these indexes."""
        arrays = (self.flags, self.low, self.high, self.nulls, self.nans)
        rows = zip(*(array[indexes].tolist() for array in arrays), strict=True)
        return [
            {
                "min": encode_bound(low, self.prefix) if flags & HAS_MIN else None,
                "max": encode_bound(high, self.prefix) if flags & HAS_MAX else None,
                "nulls": nulls,
                "nans": nans,
                "exact": bool(flags & EXACT),
            }
            if flags & PRESENT
            else None
            for flags, low, high, nulls, nans in rows
        ]

    def take(self, rows: Integers) -> StatisticsBlock:
        """Return the statistics of the RowSets at these indexes."""
        return StatisticsBlock(
            self.prefix,
            self.flags[rows],
            self.low[rows],
            self.high[rows],
            self.nulls[rows],
            self.nans[rows],
        )

    def summary(self, rows: Integers) -> ColumnStatistics | None:
        """Return the statistics over all RowSets, or None if a RowSet has none.

        `rows` are the row counts of the RowSets. A RowSet without bounds adds only its counts if
        all its values are NULL or NaN. Otherwise its values are unknown, and the summary has no
        bounds.
        """
        if not (self.flags & PRESENT).all():
            return None
        known = self.flags & _BOUNDED == _BOUNDED
        nulls, nans = int(self.nulls.sum()), int(self.nans.sum())
        exact = bool((self.flags & EXACT).all())
        bounded = bool((known | (self.nulls + self.nans >= rows)).all())
        if not bounded or not known.any():
            return ColumnStatistics(nulls=nulls, nans=nans, exact=exact and bounded)
        low, high = min(self.low[known].tolist()), max(self.high[known].tolist())
        least, most = encode_bound(low, self.prefix), encode_bound(high, self.prefix)
        return ColumnStatistics(min=least, max=most, nulls=nulls, nans=nans, exact=exact)


def concat_statistics(
    blocks: Sequence[StatisticsBlock | None], lengths: Sequence[int]
) -> StatisticsBlock:
    """Concatenate statistics of several blocks. None is a block without the column.

    The bounds get the prefix of the widest type that one of the blocks has.
    """
    filled = [
        block or StatisticsBlock.of([None] * length)
        for block, length in zip(blocks, lengths, strict=True)
    ]
    prefix = widest_prefix(b.prefix for b in filled if (b.flags & (HAS_MIN | HAS_MAX)).any())
    return StatisticsBlock(
        prefix,
        np.concatenate([b.flags for b in filled]),
        _concat_bounds([(b.prefix, b.low, b.flags & HAS_MIN) for b in filled], prefix),
        _concat_bounds([(b.prefix, b.high, b.flags & HAS_MAX) for b in filled], prefix),
        np.concatenate([b.nulls for b in filled]),
        np.concatenate([b.nans for b in filled]),
    )


def _concat_bounds(parts: Sequence[tuple[str, BoundArray, Integers]], prefix: str) -> BoundArray:
    """Concatenate bounds in one prefix. A part has a prefix, bounds, and which of them it has."""
    arrays = [prefixed_array(a, p != 0, own, prefix) if p.any() else a for own, a, p in parts]
    present = [p for _, _, p in parts]
    kinds = {a.dtype.kind for a, p in zip(arrays, present, strict=True) if p.any()}
    if len(kinds) == 1 and kinds != {"O"}:
        kind = np.int64 if kinds == {"i"} else np.float64
        return np.concatenate(
            [a if p.any() else np.zeros(len(a), kind) for a, p in zip(arrays, present, strict=True)]
        )
    values: list[Bound | None] = []
    for array, there in zip(arrays, present, strict=True):
        values += [v if t else None for v, t in zip(array.tolist(), there.tolist(), strict=True)]
    return bound_array(values)


def _values(bounds: Sequence[tuple[str, Bound] | None], prefix: str) -> BoundArray:
    return bound_array(
        [None if each is None else in_prefix(each[1], each[0], prefix) for each in bounds]
    )


def _flags(statistics: ColumnStatistics | None) -> int:
    if statistics is None:
        return 0
    return (
        PRESENT
        | (HAS_MIN if statistics.min is not None else 0)
        | (HAS_MAX if statistics.max is not None else 0)
        | (EXACT if statistics.exact else 0)
    )
