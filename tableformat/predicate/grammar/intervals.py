"""Read INTERVAL literals: text and units become months or microseconds."""

from __future__ import annotations

import re
from fractions import Fraction

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.literals import MAX_DIGITS, Kind, Literal

_MONTHS = {"YEAR": 12, "MONTH": 1}
_MICROSECONDS = {
    "WEEK": 604_800_000_000,
    "DAY": 86_400_000_000,
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
    "MILLISECOND": 1_000,
    "MICROSECOND": 1,
}
_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")
_DIGITS = rf"\d{{1,{MAX_DIGITS}}}"
_NUMBER = re.compile(rf"\s*([+-]?)\s*({_DIGITS}(?:\.\d{{1,9}})?)\s*", re.ASCII)
_YEAR_TO_MONTH = re.compile(rf"\s*([+-]?)({_DIGITS})-(\d{{1,2}})\s*", re.ASCII)
_PAIR = re.compile(rf"\s*([+-]?\s*{_DIGITS}(?:\.\d{{1,9}})?)\s+([A-Za-z]+)", re.ASCII)


def parse_interval(text: str, unit: str) -> Literal:
    """Read an interval of one unit, such as `'3' DAY`. Raises InvalidInputError."""
    name = unit.upper().removesuffix("S")
    match = _NUMBER.fullmatch(text)
    if not match or name not in _MONTHS | _MICROSECONDS:
        raise _unreadable(text, unit)
    worth, kind = (
        (_MONTHS[name], Kind.MONTHS) if name in _MONTHS else (_MICROSECONDS[name], Kind.DURATION)
    )
    steps = Fraction(match[2]) * worth
    if steps.denominator != 1 or ("." in match[2] and name != "SECOND"):
        raise _unreadable(text, unit)
    return Literal(kind, -int(steps) if match[1] == "-" else int(steps))


def parse_interval_span(text: str, first: str, last: str) -> Literal:
    """Read an interval of several units: `'1 02:03' DAY TO MINUTE`. Raises InvalidInputError."""
    first, last = first.upper(), last.upper()
    if (first, last) == ("YEAR", "MONTH"):
        match = _YEAR_TO_MONTH.fullmatch(text)
        if not match or int(match[3]) > 11:
            raise _unreadable(text, "YEAR TO MONTH")
        months = int(match[2]) * 12 + int(match[3])
        return Literal(Kind.MONTHS, -months if match[1] == "-" else months)
    if first not in _FIELDS or last not in _FIELDS[_FIELDS.index(first) + 1 :]:
        raise _unreadable(text, f"{first} TO {last}")
    return Literal(Kind.DURATION, _span_microseconds(text, first, last))


def _span_microseconds(text: str, first: str, last: str) -> int:
    fields = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
    number = {"SECOND": rf"({_DIGITS}(?:\.\d{{1,6}})?)"}
    pattern = "".join(
        ("" if field == first else " +" if field == "HOUR" else ":")
        + number.get(field, f"({_DIGITS})")
        for field in fields
    )
    match = re.fullmatch(rf"\s*([+-]?){pattern}\s*", text, re.ASCII)
    limits = {"HOUR": 24, "MINUTE": 60, "SECOND": 60}
    if not match:
        raise _unreadable(text, f"{first} TO {last}")
    values = dict(zip(fields, map(Fraction, match.groups()[1:]), strict=True))
    if any(value >= limits[field] for field, value in values.items() if field != first):
        raise _unreadable(text, f"{first} TO {last}")
    total = sum(value * _MICROSECONDS[field] for field, value in values.items())
    return -int(total) if match[1] == "-" else int(total)


def parse_interval_pairs(text: str) -> Literal:
    """Read an interval whose text names its units, such as `'1 day 2 hours'`.

    Raises InvalidInputError, also when months are mixed with days, which have no common unit.
    """
    pairs = _PAIR.findall(text)
    if not pairs or _PAIR.sub("", text).strip():
        raise _unreadable(text, "")
    total = parse_interval(*pairs[0])
    for number, unit in pairs[1:]:
        total = add_intervals(total, parse_interval(number, unit))
    return total


def add_intervals(left: Literal, right: Literal) -> Literal:
    """Return the sum of two intervals of one kind. Raises InvalidInputError for two kinds."""
    if left.kind is not right.kind or left.kind not in (Kind.MONTHS, Kind.DURATION):
        raise InvalidInputError("A predicate cannot add years or months to days or hours.")
    return Literal(left.kind, int(left.value) + int(right.value))  # type: ignore[arg-type]


def _unreadable(text: str, unit: str) -> InvalidInputError:
    return InvalidInputError(
        f"INTERVAL {text!r} {unit}".rstrip() + " cannot be read: write it as INTERVAL '3' DAY,"
        " INTERVAL '1 02:03:04.5' DAY TO SECOND or INTERVAL '1-2' YEAR TO MONTH."
    )
