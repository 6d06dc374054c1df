"""Compare arrays as Spark compares their values.

NaN is equal to itself and greater than every number. Negative zero equals zero. Text and binary are
ordered by their bytes. A comparison with NULL is NULL.
"""

from __future__ import annotations

import pyarrow as pa

from colonnade.tableformat.predicate.expressions import Operator
from colonnade.tableformat.types.compute import pc

COMPARE = {
    Operator.EQUAL: "equal",
    Operator.NOT_EQUAL: "not_equal",
    Operator.LESS: "less",
    Operator.LESS_EQUAL: "less_equal",
    Operator.GREATER: "greater",
    Operator.GREATER_EQUAL: "greater_equal",
}
"""The function of Arrow that compares, by its name."""


def compare_arrays(left: pa.Array, operator: Operator, right: pa.Array) -> pa.BooleanArray:
    """Compare two arrays of types that have an order with each other. `<=>` is not among them."""
    left, right = _common_type(left, right)
    if not pa.types.is_float64(left.type):
        return pc.call_function(COMPARE[operator], [left, right])
    match operator:
        case Operator.EQUAL:
            return _equal_doubles(left, right)
        case Operator.NOT_EQUAL:
            return pc.invert(_equal_doubles(left, right))
        case Operator.LESS:
            return _less_doubles(left, right)
        case Operator.GREATER_EQUAL:
            return pc.invert(_less_doubles(left, right))
        case Operator.GREATER:
            return _less_doubles(right, left)
        case _:
            return pc.invert(_less_doubles(right, left))


def _equal_doubles(left: pa.Array, right: pa.Array) -> pa.BooleanArray:
    return pc.or_(pc.equal(left, right), pc.and_(pc.is_nan(left), pc.is_nan(right)))


def _less_doubles(left: pa.Array, right: pa.Array) -> pa.BooleanArray:
    return pc.or_(pc.less(left, right), pc.and_(pc.is_nan(right), pc.invert(pc.is_nan(left))))


def _common_type(left: pa.Array, right: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return both arrays in the type of their comparison in Spark; decimals keep all digits."""
    a, b = left.type, right.type
    if pa.types.is_floating(a) or pa.types.is_floating(b):
        return _as_doubles(left), _as_doubles(right)
    if pa.types.is_decimal(a) or pa.types.is_decimal(b):
        scale = max(t.scale if pa.types.is_decimal(t) else 0 for t in (a, b))
        exact = pa.decimal256(76, scale)
        return left.cast(exact), right.cast(exact)
    if pa.types.is_date32(a) and pa.types.is_date32(b):
        return left, right
    if pa.types.is_temporal(a) and not pa.types.is_time(a) and not pa.types.is_duration(a):
        instant = pa.timestamp("us", "UTC")
        return _as_instants(left, instant), _as_instants(right, instant)
    if pa.types.is_integer(a) and a != b:
        return left.cast(pa.int64()), right.cast(pa.int64())
    return left, right


def _as_doubles(array: pa.Array) -> pa.Array:
    # Arrow does not round a decimal to the nearest double, but it rounds its text correctly.
    exact = array.cast(pa.string()) if pa.types.is_decimal(array.type) else array
    return exact.cast(pa.float64(), safe=False)


def _as_instants(array: pa.Array, instant: pa.DataType) -> pa.Array:
    local = array.cast(pa.timestamp("us")) if pa.types.is_date32(array.type) else array
    return local.view(pa.int64()).view(instant)
