"""The clocks of this machine and of a store, and how they date epochs.

Spec: docs/spec/epoch-log.md#time
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from colonnade.manifests.clock import DAY_MS, now_ms, utc
from colonnade.manifests.object_names import HINT
from colonnade.manifests.store.object_store import ObjectStore

_HOUR_MS = 3_600_000
_log = logging.getLogger(__name__)
_said: set[str] = set()


@dataclass(frozen=True, slots=True)
class Date:
    """The date of a new epoch, and its writer's clock if the date is far ahead of that.

    Both are in ms since 1970 UTC.
    """

    time_ms: int
    clock_ms: int | None = None


class Clock:
    """The time by this machine's clock, compared with a store's clock.

    Asks the store at most once for each hour of `own_ms`.
    """

    def __init__(self, store: ObjectStore, own_ms: Callable[[], int] = now_ms) -> None:
        self.own_ms = own_ms
        self._store = store
        self._asked: tuple[int, int | None] | None = None

    def date(self, head_ms: int) -> Date:
        """Return the date of the epoch after one that is dated `head_ms`. It is always later.

        Costs nothing if this machine's clock is within a day of `head_ms`. Otherwise the log was
        idle, or one of the two is wrong, and the store's clock is asked. If the two clocks differ,
        the earlier one counts that is at most a day before `head_ms`. Warns once in a process if
        clocks contradict each other, and if the log is ahead.
        """
        clock = self.own_ms()
        if differ(clock, head_ms):
            other = self.store_ms(clock)
            if other is not None and differ(clock, other):
                own = clock
                fitting = [each for each in (own, other) if each > head_ms - DAY_MS]
                clock = min(fitting or (own, other))
                self.warn(
                    "The clock of this machine says %s UTC, and the clock of %s says %s: epochs are"
                    " dated by the latter if it fits the log. Set the clock that is wrong.",
                    utc(own),
                    self._store.url,
                    utc(other),
                )
        time_ms = max(clock, head_ms + 1)
        if time_ms > clock + DAY_MS:
            self.warn(
                "The newest epoch of %s is dated %s UTC, more than a day ahead of the time. Later"
                " epochs are dated right after it, and record the time beside their date.",
                self._store.url,
                utc(head_ms),
            )
            return Date(time_ms, max(0, clock))
        return Date(time_ms)

    def store_ms(self, own: int) -> int | None:
        """Return the store's time when this machine's is `own`; None if the store cannot tell.

        May write a temporary object.
        """
        if self._asked is None or abs(own - self._asked[0]) > _HOUR_MS:
            other = self._store.date_of_write(HINT)
            self._asked = own, None if other is None else other - own
        ahead = self._asked[1]
        return None if ahead is None else own + ahead

    def warn(self, message: str, *values: str) -> None:
        """Warn of a clock once in a process for each store."""
        if f"{message} {self._store.url}" not in _said:
            _said.add(f"{message} {self._store.url}")
            _log.warning(message, *values)


def differ(one: int, other: int) -> bool:
    """Return whether two times of one moment are so far apart that one of them is wrong."""
    return abs(one - other) > DAY_MS
