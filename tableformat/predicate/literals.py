"""Literals of predicates: typed constants, from Python values and as texts with a prefix.

A literal keeps its written type. `bind` converts it to a storage value of the column that it is
compared with. Dates are days, timestamps are microseconds and times are nanoseconds, as in storage.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any

import numpy as np

from colonnade.manifests.errors import InvalidInputError

MAX_DIGITS = 38
_MANY_DIGITS = 10**MAX_DIGITS
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
_EPOCH_UTC = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
_MICROSECOND = dt.timedelta(microseconds=1)


class Kind(str, Enum):
    """The type of a literal; the value is its tag in JSON."""

    NULL = "null"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    STRING = "string"
    BINARY = "binary"
    DATE = "date"  # days since 1970-01-01
    TIMESTAMP = "timestamp"  # microseconds since 1970-01-01 UTC
    TIMESTAMP_NTZ = "timestamp_ntz"  # microseconds since 1970-01-01, no time zone
    TIME = "time"  # nanoseconds since midnight
    MONTHS = "months"  # year-month interval
    DURATION = "duration"  # day-time interval, microseconds


TIMES = frozenset(
    (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ, Kind.TIME, Kind.MONTHS, Kind.DURATION)
)
"""The kinds whose values are numbers that stand for a time."""

LiteralValue = bool | int | float | Decimal | str | bytes | None

_VALUE_TYPES: dict[Kind, type] = {
    Kind.NULL: type(None),
    Kind.BOOLEAN: bool,
    Kind.DECIMAL: Decimal,
    Kind.DOUBLE: float,
    Kind.STRING: str,
    Kind.BINARY: bytes,
}


@dataclass(frozen=True, slots=True)
class Literal:
    """One constant. `naive` marks a Python datetime without a time zone.

    Raises InvalidInputError for a value that no column can hold: a number of more than 38 digits, a
    decimal that is not finite, or text that is not valid Unicode.
    """

    kind: Kind
    value: LiteralValue
    naive: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if type(self.value) is not _VALUE_TYPES.get(self.kind, int):
            raise InvalidInputError(f"{self.value!r} is not a valid {self.kind.value}.")
        if isinstance(self.value, str):
            _check_text(self.value)
        elif isinstance(self.value, Decimal):
            _check_digits(self.value)
        elif type(self.value) is int and abs(self.value) >= _MANY_DIGITS:
            raise _too_long(Decimal(self.value))

    def __str__(self) -> str:
        return f"{self.kind.value} {self.value!s}" if self.value is not None else "NULL"


NULL = Literal(Kind.NULL, None)


def _check_text(value: str) -> None:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"The text {value!r} has half of a surrogate pair, which no string column can hold."
        ) from error


def _check_digits(value: Decimal) -> None:
    if not value.is_finite():
        raise InvalidInputError(f"The decimal {value} is not a number; use a float instead.")
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    if max(len(digits) + exponent, len(digits), -exponent) > MAX_DIGITS:
        raise _too_long(value)


def _too_long(value: Decimal) -> InvalidInputError:
    return InvalidInputError(f"The number {value} has more than {MAX_DIGITS} digits.")


def make_literal(value: object) -> Literal:
    """Return the literal of a scalar of Python, numpy or Arrow; a `Literal` stays as it is.

    A `datetime` with a time zone becomes a timestamp, and one without a zone a timestamp_ntz. A
    `timedelta` becomes a day-time interval. Raises InvalidInputError for other types, and for a
    scalar of Arrow that Python cannot hold.
    """
    if isinstance(value, np.bool_ | np.integer | np.floating):
        value = value.item()
    elif hasattr(value, "as_py"):
        value = _python_value(value)
    match value:
        case Literal():
            return value
        case None:
            return NULL
        case bool():
            return Literal(Kind.BOOLEAN, value)
        case int():
            return Literal(Kind.INTEGER, int(value))
        case float():
            return Literal(Kind.DOUBLE, float(value))
        case Decimal():
            return Literal(Kind.DECIMAL, value)
        case str():
            return Literal(Kind.STRING, str(value))
        case bytes() | bytearray() | memoryview():
            return Literal(Kind.BINARY, bytes(value))
        case _:
            return _temporal_literal(value)


def _python_value(scalar: Any) -> object:
    try:
        return scalar.as_py()
    except (OverflowError, ValueError) as error:
        raise InvalidInputError(
            f"A value of the Arrow type {scalar.type} is one that Python cannot hold ({error});"
            " state a date or a time of the years 1 to 9999, in whole microseconds."
        ) from error


def _temporal_literal(value: object) -> Literal:
    if isinstance(value, dt.datetime) and value != value:
        raise InvalidInputError("NaT of pandas is no time; use None for NULL.")
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
        raise InvalidInputError(f"The time {value} is finer than microseconds; round it first.")
    match value:
        case dt.datetime() if value.tzinfo is not None:
            return Literal(Kind.TIMESTAMP, (value - _EPOCH_UTC) // _MICROSECOND)
        case dt.datetime():
            utc = value.replace(tzinfo=dt.timezone.utc)
            return Literal(Kind.TIMESTAMP_NTZ, (utc - _EPOCH_UTC) // _MICROSECOND, naive=True)
        case dt.date():
            return Literal(Kind.DATE, value.toordinal() - _EPOCH_DAY)
        case dt.time() if value.tzinfo is None:
            seconds = (value.hour * 60 + value.minute) * 60 + value.second
            return Literal(Kind.TIME, (seconds * 1_000_000 + value.microsecond) * 1_000)
        case dt.timedelta():
            return Literal(Kind.DURATION, value // _MICROSECOND)
    raise InvalidInputError(
        f"A predicate cannot compare with {value!r}: use None, bool, int, float, Decimal, str,"
        " bytes, date, datetime, time without a time zone, or timedelta."
    )


def require_zone(value: object, type_name: str, where: str) -> None:
    """Refuse a Python datetime without a time zone where an instant is wanted.

    It could mean the time of any place. Raises InvalidInputError that names `where`.
    """
    naive = (
        value.naive
        if isinstance(value, Literal)
        else isinstance(value, dt.datetime) and (value.tzinfo is None)
    )
    if naive and type_name == "timestamp":
        raise InvalidInputError(
            f"{where} is a timestamp, and the datetime that is given for it has no time zone; give"
            " it one, such as value.astimezone() for the zone of this machine."
        )


def encode_literal(literal: Literal) -> str:
    """Write a literal exactly, as `<kind>:<text>`."""
    value = literal.value
    if isinstance(value, bytes):
        text = base64.b64encode(value).decode("ascii")
    elif isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, float):
        text = repr(value)
    else:
        text = "" if value is None else str(value)
    return f"{literal.kind.value}:{text}"


def decode_literal(text: str) -> Literal:
    """Read what `encode_literal` wrote. Raises InvalidInputError for anything else."""
    tag, colon, body = text.partition(":")
    try:
        if not colon:
            raise ValueError("no tag")
        kind = Kind(tag)
        return Literal(kind, _decode_value(kind, body))
    except (ValueError, InvalidOperation, binascii.Error) as error:
        raise InvalidInputError(f"The literal {text!r} of a predicate cannot be read.") from error


def _decode_value(kind: Kind, body: str) -> LiteralValue:
    match kind:
        case Kind.NULL if body:
            raise ValueError("NULL has no value")
        case Kind.NULL:
            return None
        case Kind.BOOLEAN:
            return {"true": True, "false": False}.get(body)
        case Kind.DECIMAL:
            return Decimal(body)
        case Kind.DOUBLE:
            return float(body)
        case Kind.STRING:
            return body
        case Kind.BINARY:
            return base64.b64decode(body, validate=True)
        case _:
            return int(body)
