"""The types of results, as Spark's ANSI mode has them. Pure.

Numbers widen from `byte` to `double`. A whole number that meets a decimal becomes a decimal of
its digits, and one that meets a `float` a `double`.
"""

from __future__ import annotations

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.schema import INTEGERS, DataType, decimal_digits, type_text
from colonnade.tableformat.predicate.literals import Literal
from colonnade.tableformat.predicate.values.row_value import RowValue, literal_type, plain_type

FLOATS = ("float", "double")

TIMES = ("timestamp", "timestamp_ntz")

MOST_DIGITS = 38
_LEAST_SCALE = 6
_WHOLE_DIGITS = {"byte": 3, "short": 5, "int": 10, "long": 20}


def is_decimal(name: str) -> bool:
    """Return whether a type is a decimal."""
    return name.startswith("decimal(")


def is_number(name: str) -> bool:
    """Return whether a type is one of numbers."""
    return name in INTEGERS or name in FLOATS or is_decimal(name)


def is_interval(name: str) -> bool:
    """Return whether a type is an interval of months or of microseconds."""
    return name.startswith("interval ")


def counts_months(name: str) -> bool:
    """Return whether a type is an interval of years and months."""
    return is_interval(name) and ("year" in name or "month" in name)


def digits_of(name: str, literal: Literal | None = None) -> tuple[int, int]:
    """Return the digits of a whole number or decimal as a decimal, and those after the point.

    A literal has the digits that it is written with.
    """
    if name in INTEGERS:
        if literal is not None:
            return len(str(abs(int(literal.value)))), 0  # type: ignore[arg-type]
        return _WHOLE_DIGITS[name], 0
    found = decimal_digits(literal_type(literal) if literal is not None else name)
    assert found is not None
    return found


def decimal_type(precision: int, scale: int) -> str:
    """Return the type of a result; one of more than 38 digits loses digits after the point."""
    if precision > MOST_DIGITS:
        whole = precision - scale
        scale = max(MOST_DIGITS - whole, min(scale, _LEAST_SCALE))
        precision = MOST_DIGITS
    return f"decimal({precision},{scale})"


def wider(left: str, right: str) -> str | None:
    """Return the type that two numbers are computed in, neither of them a decimal."""
    if left == right:
        return left
    if left in INTEGERS and right in INTEGERS:
        return max(left, right, key=INTEGERS.index)
    return "double"


def common_type(values: list[RowValue], what: str) -> DataType:
    """Return the type of values of which one is chosen. Raises InvalidInputError if none fits."""
    found: DataType = VOID
    for each in values:
        joined = _common(found, each.type)
        if joined is None:
            raise InvalidInputError(
                f"{what} has values of type {type_text(found)} and {type_text(each.type)}; cast one"
                " of them."
            )
        found = joined
    return found


def _plain(data_type: DataType) -> DataType:
    return plain_type(data_type) if isinstance(data_type, str) else data_type


def _common(one: DataType, other: DataType) -> DataType | None:
    one, other = _plain(one), _plain(other)
    if one == other or other == VOID:
        return one
    if one == VOID:
        return other
    if not isinstance(one, str) or not isinstance(other, str):
        return None
    a, b = one, other
    if is_number(a) and is_number(b):
        if a in FLOATS or b in FLOATS or not (is_decimal(a) or is_decimal(b)):
            return wider(a, b)
        (p, s), (q, t) = digits_of(a), digits_of(b)
        precision = max(p - s, q - t) + max(s, t)
        return f"decimal({precision},{max(s, t)})" if precision <= MOST_DIGITS else None
    instants = ("date", *reversed(TIMES))
    if a in instants and b in instants:
        return max(a, b, key=instants.index) if "date" in (a, b) else None
    return None
