"""The wall clock, in the only unit that the log knows."""

from __future__ import annotations

import time
from datetime import datetime, timezone

DAY_MS = 86_400_000
"""Clocks that differ by more than this are not both right."""


def now_ms() -> int:
    """Milliseconds since 1970 UTC by this machine's clock."""
    return time.time_ns() // 1_000_000


def utc(time_ms: int) -> str:
    """A time as people read it."""
    seconds, ms = divmod(time_ms, 1000)
    try:
        moment = datetime.fromtimestamp(seconds, timezone.utc).replace(tzinfo=None)
        return f"{moment.isoformat(' ')}.{ms:03d}"
    except (OverflowError, ValueError, OSError):
        return f"{time_ms} ms since 1970"
