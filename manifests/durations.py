"""Lengths of time as text that people write."""

from __future__ import annotations

import re

_DURATION = re.compile(
    r"(\d{1,6})\s*(s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)", re.ASCII | re.IGNORECASE
)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_duration(text: str) -> int:
    """Return the seconds of a text such as `30s`, `10m`, `5 minutes` or `1 day`.

    Raises ValueError for any other text, and for a number that is not from 1 to 999,999.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None or int(match[1]) == 0:
        raise ValueError(text)
    return int(match[1]) * _SECONDS[match[2][0].lower()]


def duration_text(seconds: int) -> str:
    """Return a time of at least one second as `parse_duration` reads it, in its largest unit."""
    units = (("d", "day"), ("h", "hour"), ("m", "minute"), ("s", "second"))
    unit, name = next(each for each in units if seconds % _SECONDS[each[0]] == 0)
    count = seconds // _SECONDS[unit]
    return f"{count} {name}" if count == 1 else f"{count} {name}s"
