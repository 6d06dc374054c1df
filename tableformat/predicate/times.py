"""Read dates, timestamps and times from text, like Spark's casts from strings.

The session time zone is UTC: text without a zone that becomes a timestamp is a time in UTC.
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo

from colonnade.manifests.errors import InvalidInputError

DAY_US = 86_400_000_000

_DAY = r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?)?"
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d{1,9}))?)?"
)
_ZONE = r" ?(?P<zone>Z|[+-]\d{1,2}(?::?\d{2})?|[A-Za-z][A-Za-z_]*(?:/[A-Za-z0-9_+-]+)*)"
_DATE = re.compile(_DAY, re.ASCII)
_TIME = re.compile(_CLOCK, re.ASCII)
_TIMESTAMP = re.compile(f"{_DAY}(?:[ T]{_CLOCK}(?:{_ZONE})?)?", re.ASCII)
_OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d{2})?", re.ASCII)


def parse_date(text: str) -> int:
    """Return the days since 1970-01-01 of `yyyy[-[m]m[-[d]d]]`. Raises InvalidInputError."""
    match = _DATE.fullmatch(text.strip())
    if not match:
        raise InvalidInputError(f"{text!r} is not a date: write it as '2024-01-31'.")
    return _days(match, text)


def parse_time(text: str) -> int:
    """Return nanoseconds since midnight of `hh:mm[:ss[.fraction]]`. Raises InvalidInputError."""
    match = _TIME.fullmatch(text.strip())
    if not match:
        raise InvalidInputError(f"{text!r} is not a time of day: write it as '23:59:58.5'.")
    return _clock_ns(match, text)


def parse_timestamp(text: str) -> tuple[int, bool]:
    """Return microseconds since 1970-01-01 UTC of a date with an optional time and zone.

    The flag says whether the text names a zone. Digits below a microsecond are cut off, as in
    Spark. Raises InvalidInputError.
    """
    match = _TIMESTAMP.fullmatch(text.strip())
    if not match:
        raise InvalidInputError(
            f"{text!r} is not a timestamp: write it as '2024-01-31 23:59:58.5', followed by a time"
            " zone such as '+02:00' if it has one."
        )
    local = _days(match, text) * DAY_US
    if match["hour"] is not None:
        local += _clock_ns(match, text) // 1_000
    if match["zone"] is None:
        return local, False
    return local - _offset_us(match["zone"], local, text), True


def _days(match: re.Match[str], text: str) -> int:
    try:
        day = dt.date(int(match["year"]), int(match["month"] or 1), int(match["day"] or 1))
    except ValueError as error:
        raise InvalidInputError(f"{text!r} names a day that does not exist.") from error
    return day.toordinal() - dt.date(1970, 1, 1).toordinal()


def _clock_ns(match: re.Match[str], text: str) -> int:
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 59:
        raise InvalidInputError(f"{text!r} names a time of day that does not exist.")
    fraction_ns = int((match["fraction"] or "").ljust(9, "0"))
    return ((hour * 60 + minute) * 60 + second) * 1_000_000_000 + fraction_ns


def _offset_us(zone: str, local_us: int, text: str) -> int:
    if zone in ("Z", "UTC", "GMT"):
        return 0
    if match := _OFFSET.fullmatch(zone):
        minutes = int(match[2]) * 60 + int(match[3] or 0)
        if minutes > 18 * 60 or int(match[3] or 0) > 59:
            raise InvalidInputError(f"{text!r} has a time zone offset beyond 18 hours.")
        return minutes * 60_000_000 * (-1 if match[1] == "-" else 1)
    try:
        tzinfo = zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInputError(f"{text!r} names an unknown time zone {zone!r}.") from error
    local = dt.datetime(1970, 1, 1, tzinfo=tzinfo) + dt.timedelta(microseconds=local_us)
    offset = local.utcoffset()
    assert offset is not None
    return offset // dt.timedelta(microseconds=1)
