"""Evaluate a predicate on rows, as Spark does.

NaN is equal to itself and greater than every number. Negative zero equals zero. Text and binary are
ordered by their bytes. A comparison with NULL is NULL.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
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
    StorageValue,
)
from colonnade.tableformat.predicate.expressions import TRUE_FOR_NAN, Operator
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.decimals import from_unscaled

_COMPARE = {
    Operator.EQUAL: "equal",
    Operator.NOT_EQUAL: "not_equal",
    Operator.LESS: "less",
    Operator.LESS_EQUAL: "less_equal",
    Operator.GREATER: "greater",
    Operator.GREATER_EQUAL: "greater_equal",
}
"""The function of Arrow that compares, by its name."""


def evaluate(predicate: BoundPredicate, batch: pa.RecordBatch) -> pa.BooleanArray:
    """Return TRUE, FALSE or NULL for every row.

    Requires a batch with the columns of the predicate, with the names and types of
    `arrow_types.arrow_schema`. Raises InvalidInputError for a missing column.
    """
    return _evaluate(predicate.root, batch)


def _evaluate(node: BoundNode, batch: pa.RecordBatch) -> pa.BooleanArray:
    match node:
        case BoundConstant(value):
            return pa.repeat(pa.scalar(value, pa.bool_()), batch.num_rows)
        case BoundAnd(parts):
            return reduce(pc.and_kleene, (_evaluate(part, batch) for part in parts))
        case BoundOr(parts):
            return reduce(pc.or_kleene, (_evaluate(part, batch) for part in parts))
        case BoundIsNull(column, negated):
            return (pc.is_valid if negated else pc.is_null)(_array(column, batch))
        case BoundCompare(column, operator, value):
            return _compare(_array(column, batch), operator, value)
        case BoundCompareColumns(left, operator, right):
            return _compare_columns(_array(left, batch), operator, _array(right, batch))
        case BoundIsNan(column, negated):
            found = pc.is_nan(_array(column, batch))
        case BoundIn(column, values, negated):
            found = _is_in(_array(column, batch), values)
        case BoundStartsWith(column, prefix, negated):
            found = pc.starts_with(_array(column, batch), pattern=prefix)
        case BoundLike(column, regex, _, negated):
            found = pc.match_substring_regex(_array(column, batch), pattern=regex)
    return pc.invert(found) if negated else found


def _array(column: BoundColumn, batch: pa.RecordBatch) -> pa.Array:
    """Return the values of a column. A float becomes a double, because Spark compares doubles."""
    index = batch.schema.get_field_index(column.path[0])
    if index < 0:
        raise InvalidInputError(f"Column {column.path[0]!r} of the predicate is not in the batch.")
    array = batch.column(index)
    if len(column.path) > 1:
        array = pc.struct_field(array, list(column.path[1:]))
    return array.cast(pa.float64()) if pa.types.is_float32(array.type) else array


def _arrow_value(value: StorageValue, type_: pa.DataType) -> Any:
    return from_unscaled(int(value), type_.scale) if pa.types.is_decimal(type_) else value


def _compare(array: pa.Array, operator: Operator, value: StorageValue) -> pa.BooleanArray:
    scalar = pa.scalar(_arrow_value(value, array.type), array.type)
    result = pc.call_function(_COMPARE[operator], [array, scalar])
    if pa.types.is_float64(array.type) and operator in TRUE_FOR_NAN:
        return pc.or_(result, pc.is_nan(array))
    return result


def _is_in(array: pa.Array, values: tuple[StorageValue, ...]) -> pa.BooleanArray:
    members = [_arrow_value(value, array.type) for value in values]
    if 0.0 in values and pa.types.is_float64(array.type):
        # `is_in` compares hashes, which differ for 0.0 and -0.0, though they are equal.
        members.append(-0.0)
    found = pc.is_in(array, value_set=pa.array(members, array.type))
    return pc.if_else(pc.is_valid(array), found, pa.scalar(None, pa.bool_()))


def _compare_columns(left: pa.Array, operator: Operator, right: pa.Array) -> pa.BooleanArray:
    left, right = _common_type(left, right)
    if not pa.types.is_float64(left.type):
        return pc.call_function(_COMPARE[operator], [left, right])
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
    if pa.types.is_float64(a) or pa.types.is_float64(b):
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
    return left, right


def _as_doubles(array: pa.Array) -> pa.Array:
    # Arrow does not round a decimal to the nearest double, but it rounds its text correctly.
    exact = array.cast(pa.string()) if pa.types.is_decimal(array.type) else array
    return exact.cast(pa.float64(), safe=False)


def _as_instants(array: pa.Array, instant: pa.DataType) -> pa.Array:
    local = array.cast(pa.timestamp("us")) if pa.types.is_date32(array.type) else array
    return local.view(pa.int64()).view(instant)
