"""The wall clock, in ms since 1970 UTC: the only unit of time in the log. And elapsed time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

DAY_MS = 86_400_000
"""If two clocks differ by more than this (in ms), at least one of them is wrong."""


@dataclass(frozen=True, slots=True)
class AgreedTime:
    """The time of a step that decides by time, in ms since 1970 UTC.

    What ends by `earliest_ms` has ended, as far as clocks and the log can tell: a step may destroy
    what had expired then. What begins with the step begins at `present_ms`, which is not earlier.
    Only `manifests.epochs.agreement` makes such a time, so that no step can decide by one clock.
    """

    earliest_ms: int
    present_ms: int

    def not_before(self, head_ms: int) -> AgreedTime:
        """Return this time for rows beside the newest epoch, which readers see at its date.

        A date that is more than a day ahead is wrong, so nothing has ended by it. New rows begin
        not before it, because readers would hide them at once.
        """
        near = head_ms <= self.earliest_ms + DAY_MS
        earliest = max(self.earliest_ms, head_ms) if near else self.earliest_ms
        return AgreedTime(earliest, max(self.present_ms, head_ms))


def now_ms() -> int:
    """Return the time by this machine's clock, in ms since 1970 UTC."""
    return time.time_ns() // 1_000_000


def elapsed_s() -> float:
    """Return seconds since some moment of the past. The clock goes on while the machine sleeps."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


EPOCH_START = datetime(1970, 1, 1, tzinfo=timezone.utc)
MILLISECOND = timedelta(milliseconds=1)


def moment(time_ms: int) -> datetime:
    """Return `time_ms` (ms since 1970 UTC) as a datetime in UTC."""
    return EPOCH_START + time_ms * MILLISECOND


def utc(time_ms: int) -> str:
    """Return `time_ms` (ms since 1970 UTC) as text for people."""
    seconds, ms = divmod(time_ms, 1000)
    try:
        moment = datetime.fromtimestamp(seconds, timezone.utc).replace(tzinfo=None)
        return f"{moment.isoformat(' ')}.{ms:03d}"
    except (OverflowError, ValueError, OSError):
        return f"{time_ms} ms since 1970"
