"""Literals and names of predicates as SQL, for people; it reads as the same again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from colonnade.tableformat.predicate.literals import Kind, Literal

_SECOND_US = 1_000_000
_FIRST = datetime(1970, 1, 1)


CONSTANTS = {True: "TRUE", False: "FALSE", None: "NULL"}
"""The truth values as SQL."""


def literal_text(literal: Literal) -> str:
    """Return a literal as SQL."""
    write = _WRITERS[literal.kind]
    return write(literal.value)


def name_text(path: Iterable[str]) -> str:
    """Return the name of a column, or of a field of a struct, as SQL."""
    return ".".join(
        name if name.isidentifier() and name.isascii() else f"`{name.replace('`', '``')}`"
        for name in path
    )


def quoted(text: str) -> str:
    """Return a text as a literal of SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _double(value: float) -> str:
    return f"{value!r}D" if math.isfinite(value) else f"CAST('{value}' AS DOUBLE)"


def _time(days: int, time_us: int) -> str:
    """Write days since 1970 and a time of the day. Python knows the years 1 to 9999 alone."""
    years = days // 146_097 * 400  # the calendar repeats itself
    moment = _FIRST + timedelta(days=days % 146_097, microseconds=time_us)
    text = moment.isoformat(sep=" ")[4:]
    return f"{moment.year + years:04d}{text}"


def _date(days: int) -> str:
    return f"DATE '{_time(days, 0)[:-9]}'"


def _instant(micros: int) -> str:
    return _time(*divmod(micros, 86_400 * _SECOND_US))


def _clock(nanos: int) -> str:
    seconds, rest = divmod(nanos, 1_000_000_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"TIME '{hour:02d}:{minute:02d}:{second:02d}.{rest:09d}'"


def _duration(micros: int) -> str:
    seconds, rest = divmod(abs(micros), _SECOND_US)
    return f"INTERVAL '{'-' if micros < 0 else ''}{seconds}.{rest:06d}' SECOND"


_WRITERS: dict[Kind, Callable[[Any], str]] = {
    Kind.NULL: lambda _: "NULL",
    Kind.BOOLEAN: lambda value: CONSTANTS[value],
    Kind.INTEGER: str,
    Kind.DECIMAL: lambda value: f"{value:f}BD",
    Kind.DOUBLE: _double,
    Kind.STRING: quoted,
    Kind.BINARY: lambda value: f"X'{value.hex().upper()}'",
    Kind.DATE: _date,
    Kind.TIMESTAMP: lambda micros: f"TIMESTAMP '{_instant(micros)}Z'",
    Kind.TIMESTAMP_NTZ: lambda micros: f"TIMESTAMP_NTZ '{_instant(micros)}'",
    Kind.TIME: _clock,
    Kind.MONTHS: lambda months: f"INTERVAL '{months}' MONTH",
    Kind.DURATION: _duration,
}
