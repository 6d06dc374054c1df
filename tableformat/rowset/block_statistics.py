"""Measure bounds and counts of one block, and shorten long values to bounds.

A bound may be too wide, but never too narrow. A shortened string or binary is a valid lower bound.
A shortened upper bound is raised to the next value of that length.
Spec: docs/spec/rowset.md#bounds
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.statistics import (
    Bound,
    decode_bound,
    encode_bound,
    value_after,
)
from colonnade.tableformat.rowset.column import Order
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.decimals import unscaled

INDEX_BOUND_LENGTH = 64
"""The most code points or bytes of a bound in the index and the footer."""

_LONG_BYTES = 1024
"""Values that take more bytes on average are cut before they are compared."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known about some rows of a column.

    `low` and `high` are both set or both None. `exact` says that both occur among the values, or
    that the rows have no value.
    """

    nulls: int
    nans: int = 0
    low: Bound | None = None
    high: Bound | None = None
    exact: bool = True


def measure(array: pa.Array, order: Order, nulls: int) -> Statistics:
    """Measure the statistics of rows from an array that holds every distinct value at least once.

    So the values of a dictionary array are enough to measure its rows. `nulls` is the number of
    NULLs in the rows. Integers are measured where they are encoded, not here.
    """
    if order is Order.NONE:
        return Statistics(nulls, exact=False)
    if order is Order.FLOAT:
        return _measure_floats(array, nulls)
    bounds = pc.min_max(_beginnings(array))
    low, high = (_value(bounds[side], order) for side in ("min", "max"))
    return shorten(Statistics(nulls, 0, low, high), INDEX_BOUND_LENGTH)


def _beginnings(array: pa.Array) -> pa.Array:
    """Return long texts or binary values without what their bounds would lose anyway.

    Arrow copies the least and the greatest value several times. One more code point or byte than a
    bound has says that a value is longer.
    """
    if array.nbytes <= _LONG_BYTES * len(array):
        return array
    kind, end = array.type, INDEX_BOUND_LENGTH + 1
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pc.utf8_slice_codeunits(array, 0, end)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return pc.binary_slice(array, 0, end)
    return array


def _measure_floats(array: pa.Array, nulls: int) -> Statistics:
    values = np.asarray(array.drop_null() if array.null_count else array)
    is_nan = np.isnan(values)
    nans = int(np.count_nonzero(is_nan))
    if nans == len(values):
        return Statistics(nulls, nans)
    # A signaling NaN would become a bound: the minimum of it and a number is NaN for processors.
    values = values[~is_nan] if nans else values
    low, high = (_first_equal(values, bound) for bound in (values.min(), values.max()))
    return Statistics(nulls, nans, low, high)


def _first_equal(values: NDArray[np.floating], bound: np.floating) -> float:
    # NumPy returns 0.0 or -0.0 depending on the processor, but the bytes written must not.
    return float(values[values == 0][0] if bound == 0 else bound)


def _value(scalar: pa.Scalar, order: Order) -> Bound:
    value = scalar.as_py()
    if order is Order.DECIMAL:
        return unscaled(value, scalar.type.scale)
    return int(value) if order is Order.INTEGER else value


def shorten(statistics: Statistics, length: int) -> Statistics:
    """Cut string and binary bounds to `length` code points or bytes.

    Both bounds become None when no value of that length is as large as the upper bound.
    """
    low, high = statistics.low, statistics.high
    if not isinstance(low, str | bytes) or not isinstance(high, str | bytes):
        return statistics
    if len(low) <= length and len(high) <= length:
        return statistics
    above = high if len(high) <= length else value_after(high[:length])
    if above is None:
        return replace(statistics, low=None, high=None, exact=False)
    return replace(statistics, low=low[:length], high=above, exact=False)


def merge(parts: Sequence[Statistics], rows: Sequence[int]) -> Statistics:
    """Return the statistics of the union of parts, given the row count of each part."""
    if len(parts) == 1 and parts[0].low is not None:
        return parts[0]
    nulls, nans = sum(part.nulls for part in parts), sum(part.nans for part in parts)
    bounded = [part for part in parts if part.low is not None]
    for part, count in zip(parts, rows, strict=True):
        if part.low is None and part.nulls + part.nans < count:
            return Statistics(nulls, nans, exact=False)
    exact = all(part.exact for part in parts)
    if not bounded:
        return Statistics(nulls, nans, exact=exact)
    low = min(part.low for part in bounded)  # type: ignore[type-var]
    high = max(part.high for part in bounded)  # type: ignore[type-var]
    return Statistics(nulls, nans, low, high, exact)


def contradiction(said: Statistics, found: Statistics) -> str | None:
    """Return how stated statistics contradict what was found, or None.

    Stated bounds that are too wide are correct. Bounds are compared only when `found` has bounds,
    too.
    """
    if (said.nulls, said.nans) != (found.nulls, found.nans):
        return (
            f"it has {found.nulls} NULL and {found.nans} NaN, but {said.nulls} and {said.nans} are"
            " stated"
        )
    if said.low is None or said.high is None or found.low is None or found.high is None:
        return None
    if found.low < said.low or found.high > said.high:  # type: ignore[operator]
        return "it has values outside of the bounds that are stated"
    if said.exact and found.exact and (said.low, said.high) != (found.low, found.high):
        return "the bounds that are stated as exact do not occur"
    return None


def to_log(statistics: Statistics, prefix: str) -> ColumnStatistics:
    """Convert statistics to the form of the footer and the log. `prefix` is that of the column."""
    low, high = statistics.low, statistics.high
    return ColumnStatistics(
        min=None if low is None else encode_bound(low, prefix),
        max=None if high is None else encode_bound(high, prefix),
        nulls=statistics.nulls,
        nans=statistics.nans,
        exact=statistics.exact,
    )


def from_log(statistics: ColumnStatistics, prefix: str) -> Statistics:
    """Read the statistics that `to_log` wrote, as bounds of a prefix.

    Raises CorruptionError for a malformed bound, and for one of a type that does not widen to the
    types of the prefix.
    """
    known = statistics.min is not None and statistics.max is not None
    return Statistics(
        statistics.nulls,
        statistics.nans,
        decode_bound(statistics.min, prefix) if known else None,  # type: ignore[arg-type]
        decode_bound(statistics.max, prefix) if known else None,  # type: ignore[arg-type]
        statistics.exact,
    )
