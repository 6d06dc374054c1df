"""The wall clock, in the only unit that the log knows."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Milliseconds since 1970 UTC by this machine's clock."""
    return time.time_ns() // 1_000_000
