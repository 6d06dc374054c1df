"""Locate a literal among the values that a column can store.

Numbers, decimals, dates, times and intervals are stored as integers. A literal is compared with
them by two integers: the smallest storage value that is at least the literal, and the largest one
that is at most the literal. Both are equal when the column can hold the literal. The first is
larger when the literal falls between two values, or outside of the type. So `3.5`, `3000000000` and
too many digits for a decimal are one case.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import decimal_digits
from colonnade.manifests.model.statistics import Bound
from colonnade.tableformat.predicate.literals import Kind, Literal
from colonnade.tableformat.predicate.times import DAY_US, parse_date, parse_time, parse_timestamp

_NUMBERS = frozenset((Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE))
_INSTANTS = {Kind.DATE: DAY_US, Kind.TIMESTAMP: 1, Kind.TIMESTAMP_NTZ: 1}  # in microseconds
_BITS = {"byte": 8, "short": 16, "int": 32, "long": 64}


@dataclass(frozen=True, slots=True)
class Domain:
    """How values of a type compare: their family, and the range of the integers that store them.

    `unit` is the size of one storage step: a fraction of 1 for numbers, microseconds for dates and
    timestamps.
    """

    family: str
    low: int = 0
    high: int = 0
    unit: Fraction = Fraction(1)


@lru_cache(maxsize=256)
def domain_of(type_name: str) -> Domain | None:
    """Return how values of a primitive type compare; None for a type without an order."""
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


def stored_literal(value: Bound, type_name: str) -> Literal:
    """Return the literal that equals a storage value of a type that has an order.

    Requires that text of a `char` type has its length.
    """
    if digits := decimal_digits(type_name):
        return Literal(Kind.DECIMAL, Decimal(f"{int(value)}E-{digits[1]}"))
    if type_name in _BITS:
        return Literal(Kind.INTEGER, int(value))
    domain = domain_of(type_name)
    assert domain is not None, "The type has an order."
    if domain.family == "instant":
        return Literal(Kind(type_name), int(value))
    if domain.family == "boolean":
        return Literal(Kind.BOOLEAN, bool(value))
    if domain.family == "float":
        return Literal(Kind.DOUBLE, float(value))
    return Literal(_EXACT_KINDS[domain.family], value)


def fits(literal: Literal, domain: Domain) -> bool:
    """Return whether a literal that is not NULL can be compared with values of a domain."""
    if domain.family in ("number", "float"):
        return literal.kind in _NUMBERS
    if domain.family == "instant":
        return literal.kind in _INSTANTS
    return literal.kind is _EXACT_KINDS[domain.family]


def read_text(literal: Literal, type_name: str) -> Literal:
    """Return a string literal as the date or time of its column; any other literal unchanged.

    Raises InvalidInputError for text that cannot be read, and for a time zone in a timestamp_ntz.
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
    """Return the microseconds of a timestamp without a zone.

    Raises InvalidInputError when the text cannot be read, or names a zone.
    """
    value, zoned = parse_timestamp(text)
    if zoned:
        raise InvalidInputError(f"{text!r} names a time zone, which a timestamp_ntz does not have.")
    return value


def locate(literal: Literal, domain: Domain) -> tuple[int, int]:
    """Return the smallest storage value at or above a literal, and the largest at or below it.

    Both may be outside of the domain. As in Spark, a double is compared with column values that are
    rounded to doubles. So several large values can equal it, and then the first result is the
    smaller one. Requires `fits`, an integer domain, and a literal that is not NaN.
    """
    if literal.kind is Kind.DOUBLE:
        return _locate_double(float(literal.value), domain)  # type: ignore[arg-type]
    assert isinstance(literal.value, int | Decimal)
    numerator, denominator = literal.value.as_integer_ratio()
    # Fractions would find common divisors, at several times the cost.
    above = numerator * _INSTANTS.get(literal.kind, 1) * domain.unit.denominator
    below = denominator * domain.unit.numerator
    return -(-above // below), above // below


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
    """Return a number as a double; negative zero becomes zero. Requires a number."""
    value = literal.value
    assert isinstance(value, int | float | Decimal)
    return float(value) + 0.0


def negative(literal: Literal) -> Literal | None:
    """Return the literal with its sign changed, or None when it has no sign."""
    if literal.kind in _NUMBERS or literal.kind in (Kind.MONTHS, Kind.DURATION):
        value = literal.value
        assert isinstance(value, int | float | Decimal)
        return replace(literal, value=value.copy_negate() if isinstance(value, Decimal) else -value)
    return None


def order(left: Literal, right: Literal) -> int | None:
    """Return a negative number, zero or a positive number: how `left` compares with `right`.

    NaN is equal to itself and greater than every number. Returns None when the two cannot be
    compared. Requires that neither is NULL.
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
