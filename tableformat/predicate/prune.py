"""Decide by bounds where a predicate may be true, for each RowSet, entry segment or block.

Bounds may be wider than the values, and unknown bounds allow any value. So pruning may keep too
much, but it never drops a match.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import Bounds, BoundsTable
from colonnade.manifests.model.statistics import bound_prefix
from colonnade.tableformat.predicate.bound import (
    BoundAnd,
    BoundColumn,
    BoundCompare,
    BoundCompareColumns,
    BoundConstant,
    BoundIn,
    BoundIsNan,
    BoundIsNull,
    BoundLike,
    BoundNode,
    BoundOr,
    BoundPredicate,
    BoundStartsWith,
    BoundTruth,
    StorageValue,
)
from colonnade.tableformat.predicate.expressions import TRUE_FOR_NAN, Operator

Mask = NDArray[np.bool_]
Values = NDArray[Any]  # numbers, or objects that numpy compares one by one
Test = Callable[[Values, Values], Mask]

MOST_MEMBERS = 256
"""A condition on more values than this reads no Bloom filter. Jobs tell the JVM this number.

With more values, one of them nearly always matches by mistake.
"""


def prune(predicate: BoundPredicate, table: BoundsTable) -> Mask:
    """Return True for each entry of `table` that may hold a row that meets the predicate.

    The work is vectorised, but text and large decimals cost a Python comparison for each entry.
    """
    return _may_hold(predicate.root, table)


def _may_hold(node: BoundNode, table: BoundsTable) -> Mask:
    match node:
        case BoundConstant(value):
            return np.full(len(table.rows), value is True)
        case BoundTruth():
            return np.ones(len(table.rows), dtype=bool)
        case BoundAnd(parts):
            return reduce(np.logical_and, (_may_hold(part, table) for part in parts))
        case BoundOr(parts):
            return reduce(np.logical_or, (_may_hold(part, table) for part in parts))
        case BoundIsNull(column, negated):
            return _may_be_null(column, table, negated)
        case BoundIsNan(column, negated):
            return _may_be_nan(column, table, negated)
        case BoundCompareColumns(left, _, right):
            return _may_be_null(left, table, True) & _may_be_null(right, table, True)
        case BoundCompare(column, operator, value):
            nan_too = _is_float(column) and operator in TRUE_FOR_NAN
            may = _by_bounds(column, table, _compare_test(operator, value), nan_too)
            equal = operator is Operator.EQUAL
            return _by_members(column, table, may, (value,)) if equal else may
        case BoundIn(column, values, negated):
            if negated:
                return _by_bounds(column, table, _outside_test(values), _is_float(column))
            may = _by_bounds(column, table, _member_test(values))
            return _by_members(column, table, may, values)
        case BoundStartsWith(column, prefix, negated):
            test = _other_prefix_test(prefix) if negated else _prefix_test(prefix)
            return _by_bounds(column, table, test)
        case BoundLike(column, _, prefix, negated):
            return _by_bounds(column, table, _anything if negated else _prefix_test(prefix))


def _is_float(column: BoundColumn) -> bool:
    return column.type in ("float", "double")


def _bounds(column: BoundColumn, table: BoundsTable) -> Bounds | None:
    # The statistics of a struct column do not describe its fields.
    if len(column.path) > 1:
        return None
    return table.of(column.id, bound_prefix(column.type))


def _may_be_null(column: BoundColumn, table: BoundsTable, negated: bool) -> Mask:
    bounds = _bounds(column, table)
    if bounds is None:
        return np.ones(len(table.rows), dtype=bool)
    # An unknown count is -1, which differs from zero and is below every row count.
    return bounds.nulls < table.rows if negated else bounds.nulls != 0


def _may_be_nan(column: BoundColumn, table: BoundsTable, negated: bool) -> Mask:
    bounds = _bounds(column, table)
    if bounds is None:
        return np.ones(len(table.rows), dtype=bool)
    return _has_values(bounds, table) if negated else bounds.nans != 0


def _has_values(bounds: Bounds, table: BoundsTable) -> Mask:
    """Return where there may be a value that is neither NULL nor NaN."""
    return _mask(np.maximum(bounds.nulls, 0) + np.maximum(bounds.nans, 0) < table.rows)


def _by_bounds(column: BoundColumn, table: BoundsTable, test: Test, nan_too: bool = False) -> Mask:
    """Return where a value between the bounds may pass a test, or a NaN if `nan_too`."""
    bounds = _bounds(column, table)
    if bounds is None:
        return np.ones(len(table.rows), dtype=bool)
    may = ~bounds.known
    # Where bounds are unknown the arrays hold arbitrary values, so only known ones are compared. If
    # none is known, even the type of the arrays is arbitrary.
    if bounds.known.any():
        may[bounds.known] = test(*_alike(bounds.low[bounds.known], bounds.high[bounds.known]))
    may &= _has_values(bounds, table)
    return may | (bounds.nans != 0) if nan_too else may


def _by_members(
    column: BoundColumn, table: BoundsTable, may: Mask, values: tuple[StorageValue, ...]
) -> Mask:
    """Return where one of some values may be, asking filters where the bounds allow it."""
    members = table.members.get(column.id) if len(column.path) == 1 else None
    if members is None or len(values) > MOST_MEMBERS or not may.any():
        return may
    things = np.flatnonzero(may)
    found = np.zeros_like(may)
    found[things] = members(things, values)
    return found


def _alike(low: Values, high: Values) -> tuple[Values, Values]:
    """Return both bounds in arrays of one type: only one may have decimals beyond 64 bits."""
    if low.dtype == high.dtype:
        return low, high
    return low.astype(object), high.astype(object)


def _compare_test(operator: Operator, value: StorageValue) -> Test:
    compare = _COMPARE[operator]

    def test(low: Values, high: Values) -> Mask:
        # numpy would drop trailing NUL characters from a text that is not in an array.
        boxed = np.array(value, dtype=object if low.dtype == object else None)
        return _mask(compare(low, high, boxed))

    return test


_COMPARE: dict[Operator, Callable[[Values, Values, Values], Values]] = {
    Operator.EQUAL: lambda low, high, value: (low <= value) & (high >= value),
    Operator.NOT_EQUAL: lambda low, high, value: (low != value) | (high != value),
    Operator.LESS: lambda low, high, value: low < value,
    Operator.LESS_EQUAL: lambda low, high, value: low <= value,
    Operator.GREATER: lambda low, high, value: high > value,
    Operator.GREATER_EQUAL: lambda low, high, value: high >= value,
}


def _mask(values: object) -> Mask:
    return np.asarray(values, dtype=bool)


def _member_test(values: tuple[Any, ...]) -> Test:
    def one(low: Any, high: Any) -> bool:
        index = bisect_left(values, low)
        return index < len(values) and values[index] <= high

    def test(low: Values, high: Values) -> Mask:
        if low.dtype == object:
            return _each(one)(low, high)
        members = _members(values, low.dtype)
        index = np.searchsorted(members, low)
        nearest = np.append(members, members[-1:])[index] if len(members) else low
        return (index < len(members)) & _mask(nearest <= high)

    return test


def _outside_test(values: tuple[Any, ...]) -> Test:
    members = frozenset(values)

    def test(low: Values, high: Values) -> Mask:
        if low.dtype == object:
            return _each(lambda a, b: a != b or a not in members)(low, high)
        return _mask((low != high) | ~np.isin(low, _members(values, low.dtype)))

    return test


def _members(values: tuple[Any, ...], dtype: np.dtype[Any]) -> Values:
    """Return the values that fit an array of numbers; decimals may be too large for it."""
    held = [v for v in values if dtype.kind != "i" or -(2**63) <= v < 2**63]
    return np.array(held, dtype=dtype)


def _prefix_test(prefix: str) -> Test:
    def one(low: str, high: str) -> bool:
        return low[: len(prefix)] <= prefix <= high

    return _each(one)


def _other_prefix_test(prefix: str) -> Test:
    # Every text between two texts with the same prefix has that prefix, too.
    return _each(lambda low, high: not (low.startswith(prefix) and high.startswith(prefix)))


def _each(one: Callable[..., bool]) -> Test:
    def test(low: Values, high: Values) -> Mask:
        pairs = zip(low.tolist(), high.tolist(), strict=True)
        return np.fromiter((one(*pair) for pair in pairs), dtype=bool, count=len(low))

    return test


def _anything(low: Values, high: Values) -> Mask:
    return np.ones(len(low), dtype=bool)
