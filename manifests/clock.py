"""The wall clock, in ms since 1970 UTC: the only unit of time in the log. And elapsed time."""

from __future__ import annotations

import time
from datetime import datetime, timezone

DAY_MS = 86_400_000
"""If two clocks differ by more than this (in ms), at least one of them is wrong."""


def now_ms() -> int:
    """Return the time by this machine's clock, in ms since 1970 UTC."""
    return time.time_ns() // 1_000_000


def elapsed_s() -> float:
    """Return seconds since some moment of the past. The clock goes on while the machine sleeps."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


def utc(time_ms: int) -> str:
    """Return `time_ms` (ms since 1970 UTC) as text for people."""
    seconds, ms = divmod(time_ms, 1000)
    try:
        moment = datetime.fromtimestamp(seconds, timezone.utc).replace(tzinfo=None)
        return f"{moment.isoformat(' ')}.{ms:03d}"
    except (OverflowError, ValueError, OSError):
        return f"{time_ms} ms since 1970"
