"""Where a literal lies among the values that a column can store.

Everything that is stored as an integer (numbers, decimals, dates, times, intervals) is compared
with a literal by two integers: the smallest storage value that is at least the literal and the
largest that is at most it. They are equal where the column can hold the literal, and cross where
it falls between two values or outside the type: `3.5`, `3000000000` and one digit more than a
decimal has are all the same case.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import decimal_digits
from colonnade.tableformat.predicate.literals import Kind, Literal
from colonnade.tableformat.predicate.times import DAY_US, parse_date, parse_time, parse_timestamp

_NUMBERS = frozenset((Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE))
_INSTANTS = {Kind.DATE: DAY_US, Kind.TIMESTAMP: 1, Kind.TIMESTAMP_NTZ: 1}  # in microseconds
_BITS = {"byte": 8, "short": 16, "int": 32, "long": 64}


@dataclass(frozen=True, slots=True)
class Domain:
    """How a type is compared: its family, and the integers that it can hold, if it holds such.

    `unit` is the worth of one storage step: a fraction of 1 for numbers, microseconds for dates
    and timestamps.
    """

    family: str
    low: int = 0
    high: int = 0
    unit: Fraction = Fraction(1)


def domain_of(type_name: str) -> Domain | None:
    """How values of a primitive type are compared; None for a type that has no order here."""
    if type_name in _BITS:
        half = 2 ** (_BITS[type_name] - 1)
        return Domain("number", -half, half - 1)
    if digits := decimal_digits(type_name):
        largest = 10 ** digits[0] - 1
        return Domain("number", -largest, largest, Fraction(1, 10 ** digits[1]))
    if type_name.startswith("time("):
        return Domain("time", 0, DAY_US * 1000 - 1)
    if type_name.startswith("interval"):
        months = re.search("year|month", type_name) is not None
        bits, family = (31, "months") if months else (63, "duration")
        return Domain(family, -(2**bits), 2**bits - 1)
    if type_name.startswith(("char(", "varchar(")) or type_name == "string collate UTF8_BINARY":
        return Domain("string")
    return _PLAIN.get(type_name)


_PLAIN = {
    "boolean": Domain("boolean"),
    "float": Domain("float"),
    "double": Domain("float"),
    "string": Domain("string"),
    "binary": Domain("binary"),
    "date": Domain("instant", -(2**31), 2**31 - 1, Fraction(DAY_US)),
    "timestamp": Domain("instant", -(2**63), 2**63 - 1),
    "timestamp_ntz": Domain("instant", -(2**63), 2**63 - 1),
}
_EXACT_KINDS = {
    "boolean": Kind.BOOLEAN,
    "string": Kind.STRING,
    "binary": Kind.BINARY,
    "time": Kind.TIME,
    "months": Kind.MONTHS,
    "duration": Kind.DURATION,
}


def fits(literal: Literal, domain: Domain) -> bool:
    """Whether a literal, not NULL, can be compared with values of a domain."""
    if domain.family in ("number", "float"):
        return literal.kind in _NUMBERS
    if domain.family == "instant":
        return literal.kind in _INSTANTS
    return literal.kind is _EXACT_KINDS[domain.family]


def read_text(literal: Literal, type_name: str) -> Literal:
    """A string literal as the date or time that it is compared with; others as they are.

    Raises InvalidInputError for text that is none, or names a zone beside a timestamp_ntz.
    """
    if literal.kind is not Kind.STRING:
        return literal
    text = str(literal.value)
    if type_name == "date":
        return Literal(Kind.DATE, parse_date(text))
    if type_name.startswith("time("):
        return Literal(Kind.TIME, parse_time(text))
    if type_name == "timestamp":
        return Literal(Kind.TIMESTAMP, parse_timestamp(text)[0])
    if type_name == "timestamp_ntz":
        return Literal(Kind.TIMESTAMP_NTZ, parse_local_timestamp(text))
    return literal


def parse_local_timestamp(text: str) -> int:
    """Microseconds of a timestamp without a zone. Raises InvalidInputError if it names one."""
    value, zoned = parse_timestamp(text)
    if zoned:
        raise InvalidInputError(f"{text!r} names a time zone, which a timestamp_ntz does not have.")
    return value


def locate(literal: Literal, domain: Domain) -> tuple[int, int]:
    """The smallest storage value at or above a literal, and the largest at or below it.

    Both may lie one or more steps outside the domain. A double is compared as Spark does it, after
    the column's value was rounded to a double, so several large values can equal it: then the
    first number is the smaller one. Requires: `fits`, an integer domain, no NaN.
    """
    if literal.kind is Kind.DOUBLE:
        return _locate_double(float(literal.value), domain)  # type: ignore[arg-type]
    exact = Fraction(literal.value) * _INSTANTS.get(literal.kind, 1)  # type: ignore[arg-type]
    steps = exact / domain.unit
    return math.ceil(steps), math.floor(steps)


def _locate_double(value: float, domain: Domain) -> tuple[int, int]:
    numerator, denominator = domain.unit.numerator, domain.unit.denominator

    def first(reached: Callable[[float], bool]) -> int:
        low, high = domain.low, domain.high + 1
        while low < high:
            middle = (low + high) // 2
            if reached(middle * numerator / denominator):
                high = middle
            else:
                low = middle + 1
        return low

    return first(lambda x: x >= value), first(lambda x: x > value) - 1


def as_double(literal: Literal) -> float:
    """A number as a double, negative zero as zero. Requires: a number."""
    value = literal.value
    assert isinstance(value, int | float | Decimal)
    return float(value) + 0.0


def negative(literal: Literal) -> Literal | None:
    """The literal with its sign changed; None for one that has no sign."""
    if literal.kind in _NUMBERS or literal.kind in (Kind.MONTHS, Kind.DURATION):
        value = literal.value
        assert isinstance(value, int | float | Decimal)
        return replace(literal, value=value.copy_negate() if isinstance(value, Decimal) else -value)
    return None


def order(left: Literal, right: Literal) -> int | None:
    """Negative, zero or positive as `left` is less than, equal to or greater than `right`.

    NaN is equal to itself and greater than every number. None if the two cannot be compared.
    Requires: neither is NULL.
    """
    a: Any
    b: Any
    if left.kind in _NUMBERS and right.kind in _NUMBERS:
        double = Kind.DOUBLE in (left.kind, right.kind)
        a, b = (_double_key(left), _double_key(right)) if double else (left.value, right.value)
    elif left.kind in _INSTANTS and right.kind in _INSTANTS:
        a, b = (int(each.value) * _INSTANTS[each.kind] for each in (left, right))  # type: ignore[arg-type]
    elif left.kind is right.kind:
        a, b = left.value, right.value
    else:
        return None
    return int(a > b) - int(a < b)


def _double_key(literal: Literal) -> tuple[bool, float]:
    value = as_double(literal)
    return (True, 0.0) if math.isnan(value) else (False, value)
