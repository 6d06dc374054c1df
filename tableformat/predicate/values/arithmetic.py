"""`+`, `-`, `*`, `/`, `%`, `div`, the sign, and `abs` of numbers, as Spark's ANSI mode has them.

A result that its type cannot hold is an error, and so is a division by zero. The result of `/` is
a double, or a decimal if no side is a float.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.schema import INTEGERS
from colonnade.tableformat.predicate.values.casts import cast
from colonnade.tableformat.predicate.values.decimal_arrays import (
    SAFE_DIGITS,
    Integers,
    as_objects,
    decimals_of,
    divided,
    integers_of,
    rescaled,
    truncated,
)
from colonnade.tableformat.predicate.values.row_value import (
    RowValue,
    arrow_of,
    computed,
    exact,
    unsupported,
    valid_mask,
)
from colonnade.tableformat.predicate.values.types import (
    FLOATS,
    MOST_DIGITS,
    decimal_type,
    digits_of,
    is_decimal,
    is_number,
    wider,
)
from colonnade.tableformat.types.compute import pc

_CHECKED = {"+": "add_checked", "-": "subtract_checked", "*": "multiply_checked"}
_PLAIN = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
_DIVISIONS = ("/", "%", "div")
_LONGEST_PRODUCT = 39
"""The digits to which Spark rounds products and quotients before it rounds them to their type."""


def arithmetic(operator: str, left: RowValue, right: RowValue) -> RowValue:
    """Return the result of `+`, `-`, `*`, `/`, `%` or `div` on two numbers.

    Raises InvalidInputError for values that are not numbers.
    """
    left, right = _typed(left, right), _typed(right, left)
    for side in (left, right):
        if not is_number(side.text):
            raise unsupported(f"{operator} on {side.text}")
    a, b = left.text, right.text
    if a in FLOATS or b in FLOATS:
        return _of_floats(operator, left, right)
    if is_decimal(a) or is_decimal(b):
        return _of_decimals(operator, left, right)
    if operator == "/":
        return _of_floats(operator, left, right)
    kind = "long" if operator == "div" else wider(a, b)
    assert kind is not None
    return _computed(operator, kind, cast(left, kind), cast(right, kind), _WHOLE[operator])


def _computed(
    operator: str,
    kind: str,
    left: RowValue,
    right: RowValue,
    apply: Callable[..., pa.Array],
    *,
    may_fail: bool = True,
) -> RowValue:
    """Return a result, for which Spark asks for the divisor first."""
    if operator not in _DIVISIONS:
        return computed(kind, (left, right), apply, may_fail=may_fail)
    return computed(kind, (right, left), lambda y, x: apply(x, y), may_fail=may_fail)


def _typed(value: RowValue, other: RowValue) -> RowValue:
    """Return NULL in the type of the other side."""
    return cast(value, other.text) if value.type == VOID and other.type != VOID else value


def _of_floats(operator: str, left: RowValue, right: RowValue) -> RowValue:
    if operator == "div":
        raise unsupported("div on float and double")
    a, b = left.text, right.text
    kind = "float" if a == b == "float" and operator != "/" else "double"
    left, right = cast(left, kind), cast(right, kind)
    if operator == "%":
        return _computed(operator, kind, left, right, _float_remainder)
    function = getattr(pc, _PLAIN[operator])

    def apply(one: pa.Array, other: pa.Array) -> pa.Array:
        if operator == "/":
            _refuse_zero(one, other)
        return function(one, other)

    return _computed(operator, kind, left, right, apply, may_fail=operator == "/")


def _float_remainder(one: pa.Array, other: pa.Array) -> pa.Array:
    _refuse_zero(one, other)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.fmod(
            *(each.fill_null(1).to_numpy(zero_copy_only=False) for each in (one, other))
        )
    return pa.array(found, one.type, mask=~valid_mask(one, other))


def _whole_remainder(one: pa.Array, other: pa.Array) -> pa.Array:
    _refuse_zero(one, other)
    a, b = (each.fill_null(1).to_numpy(zero_copy_only=False) for each in (one, other))
    with np.errstate(divide="ignore"):  # Only NULL is divided by a zero that is left.
        found = np.fmod(a, b)
    return pa.array(found, one.type, mask=~valid_mask(one, other))


def _whole_quotient(one: pa.Array, other: pa.Array) -> pa.Array:
    _refuse_zero(one, other)
    return exact(pc.divide_checked, one, other)


def _whole(operator: str) -> Callable[..., pa.Array]:
    return lambda one, other: exact(getattr(pc, _CHECKED[operator]), one, other)


_WHOLE: dict[str, Callable[..., pa.Array]] = {
    **{each: _whole(each) for each in _CHECKED},
    "%": _whole_remainder,
    "div": _whole_quotient,
}


def _refuse_zero(one: pa.Array, other: pa.Array) -> None:
    zero = pc.and_(one.is_valid(), pc.equal(other, pa.scalar(0, other.type)))
    if pc.any(zero).as_py():
        raise InvalidInputError("A number is divided by zero.")


def _of_decimals(operator: str, left: RowValue, right: RowValue) -> RowValue:
    one, other = digits_of(left.text, left.literal), digits_of(right.text, right.literal)
    kind = _decimal_result(operator, one, other)
    compute = _DECIMAL[operator]
    rounds = one[0] + other[0] + 1 > MOST_DIGITS

    def apply(a: pa.Array, b: pa.Array) -> pa.Array:
        if operator in _DIVISIONS:
            _refuse_zero(a, b)
        valid = valid_mask(a, b)
        x, y = integers_of(a), integers_of(b)
        if max(one[0], other[0]) + max(one[1], other[1]) + 1 > SAFE_DIGITS or operator in "/*":
            x, y = as_objects(x), as_objects(y)
        numbers = compute(x, one[1], np.where(valid, y, 1), other[1], digits_of(kind)[1])
        if operator == "div":
            return exact(pa.array, numbers, pa.int64(), mask=~valid)
        return decimals_of(numbers, valid, *digits_of(kind))

    may_fail = rounds or operator in _DIVISIONS
    return _computed(operator, kind, _exactly(left), _exactly(right), apply, may_fail=may_fail)


def _exactly(value: RowValue) -> RowValue:
    return cast(value, "long") if value.text in INTEGERS else value


def _decimal_result(operator: str, one: tuple[int, int], other: tuple[int, int]) -> str:
    (p, s), (q, t) = one, other
    match operator:
        case "+" | "-":
            return decimal_type(max(p - s, q - t) + max(s, t) + 1, max(s, t))
        case "*":
            return decimal_type(p + q + 1, s + t)
        case "/":
            scale = max(6, s + q + 1)
            return decimal_type(p - s + t + scale, scale)
        case "%":
            return decimal_type(min(p - s, q - t) + max(s, t), max(s, t))
    return "long"


def _sum(x: Integers, s: int, y: Integers, t: int, scale: int) -> Integers:
    most = max(s, t)
    return rescaled(rescaled(x, most - s) + rescaled(y, most - t), scale - most)


def _difference(x: Integers, s: int, y: Integers, t: int, scale: int) -> Integers:
    return _sum(x, s, -y, t, scale)


def _product(x: Integers, s: int, y: Integers, t: int, scale: int) -> Integers:
    found = x * y
    places = np.array([len(str(abs(each))) - _LONGEST_PRODUCT for each in found], object)
    long = places > 0
    if long.any():
        steps = np.array([10**each for each in places[long]], object)
        found[long] = divided(found[long], steps) * steps
    return rescaled(found, scale - s - t)


def _quotient(x: Integers, s: int, y: Integers, t: int, scale: int) -> Integers:
    numerators = np.sign(y) * x * 10 ** (_LONGEST_PRODUCT - s + t)
    return rescaled(divided(numerators, np.abs(y)), scale - _LONGEST_PRODUCT)


def _remainder(x: Integers, s: int, y: Integers, t: int, scale: int) -> Integers:
    most = max(s, t)
    x, y = rescaled(x, most - s), rescaled(y, most - t)
    return rescaled(x - truncated(x, y) * y, scale - most)


def _whole_part(x: Integers, s: int, y: Integers, t: int, _: int) -> Integers:
    most = max(s, t)
    return truncated(rescaled(x, most - s), rescaled(y, most - t))


_DECIMAL: dict[str, Callable[[Integers, int, Integers, int, int], Integers]] = {
    "+": _sum,
    "-": _difference,
    "*": _product,
    "/": _quotient,
    "%": _remainder,
    "div": _whole_part,
}


def negated(value: RowValue) -> RowValue:
    """Return a number with the other sign. Raises InvalidInputError for other values."""
    return _signed("-", value, pc.negate_checked)


def absolute(value: RowValue) -> RowValue:
    """Return a number without its sign. Raises InvalidInputError for other values."""
    return _signed("abs", value, pc.abs_checked)


def _signed(name: str, value: RowValue, function: Callable[..., pa.Array]) -> RowValue:
    if not is_number(value.text):
        raise unsupported(f"{name} of {value.text}")
    target = arrow_of(value.text)

    def apply(array: pa.Array) -> pa.Array:
        if pa.types.is_decimal(array.type):
            numbers = integers_of(array)
            numbers = np.abs(numbers) if name == "abs" else -numbers
            return decimals_of(numbers, valid_mask(array), *digits_of(value.text))
        return exact(function, array).cast(target)

    return computed(value.text, (value,), apply, may_fail=value.text in INTEGERS)
