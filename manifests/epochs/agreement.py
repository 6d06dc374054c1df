"""The time that clocks and the log agree on. Every step that destroys or decides by time uses it.

No single clock can move this time past another one that contradicts it. Where the store has no
clock of its own, the dates of the log are the second clock.

Spec: docs/spec/epoch-log.md#agreed-time
"""

from __future__ import annotations

from collections.abc import Mapping

from colonnade.manifests.clock import DAY_MS, AgreedTime, utc
from colonnade.manifests.epochs.dating import Clock, differ
from colonnade.manifests.epochs.epoch_times import witness_ms
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.lifetimes import lifetime_ms
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store.object_store import ObjectStore

IDLE = "clock.idle"
"""The property of a table that says how long the log may be idle before it contradicts a clock."""

IDLE_MS = 14 * DAY_MS


def idle_ms(properties: Mapping[str, str]) -> int:
    """Return how long the log of a table with these properties may be idle, in ms.

    Raises InvalidInputError for a property that is not a time of at least two days.
    """
    text = properties.get(IDLE)
    found = IDLE_MS if text is None else lifetime_ms(text, f"Property {IDLE!r}")
    if found < 2 * DAY_MS:
        raise InvalidInputError(
            f"Property {IDLE!r} must be at least 2 days, not {text!r}, because the epochs of the"
            " last day do not count."
        )
    return found


def first_time(own_ms: int) -> AgreedTime:
    """Return the time of a statement before the first epoch, which no log contradicts yet."""
    return AgreedTime(own_ms, own_ms)


class Agreement:
    """What the clock of this machine, that of a store, and the dates of its log agree on."""

    def __init__(self, store: ObjectStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._witness_ms: int | None = None

    def time(
        self, state: Snapshot, table: TableState | None = None, own_ms: int | None = None
    ) -> AgreedTime:
        """Return the time of a step that destroys or decides by time, for a state of the log.

        The property `clock.idle` of `table` says how long the log may have been idle. `own_ms` is
        the time by this machine's clock, if the step began earlier. Costs and raises as `at`.
        """
        idle = IDLE_MS if table is None else idle_ms(table.properties)
        return self.at(state, self._clock.own_ms() if own_ms is None else own_ms, idle)

    def earliest_ms(self, state: Snapshot) -> int:
        """Return the earliest time of `time`, in ms since 1970 UTC. What ends by then has ended.

        Costs and raises as `at`.
        """
        return self.time(state).earliest_ms

    def statement_time(
        self, state: Snapshot, table: TableState | None = None, own_ms: int | None = None
    ) -> AgreedTime:
        """Return the time of a statement on a state: it decides what has expired for the statement.

        It is the agreed time beside the date of the state (`AgreedTime.not_before`). Costs and
        raises as `at`.
        """
        return self.time(state, table, own_ms).not_before(state.time_ms)

    def at(self, state: Snapshot, own: int, longest_idle_ms: int = IDLE_MS) -> AgreedTime:
        """Return the agreed time on a state, which must be in the log, when a clock says `own`.

        Asks the store for its time at most once an hour. Where the store has no clock of its own,
        also costs a GET for each bit of the number of epochs, at most once for each
        `longest_idle_ms` unless the log was idle for longer. Warns once in a process if the log or
        the store contradicts this machine's clock. Raises CorruptionError, StoreError.
        """
        head, other = state.time_ms, self._clock.store_ms(own)
        if other is None or not self._store.has_clock:
            present = own if other is None or not differ(own, other) else min(own, other)
            return AgreedTime(self._witnessed(state, present, longest_idle_ms), present)
        present = earliest = own
        if differ(own, other):
            # A time beside the head is confirmed by it. Otherwise all machines share the store's.
            only_own = own >= head - DAY_MS > other
            present = own if only_own else other
            earliest = min(other, max(own, head))
            self._clock.warn(
                "The clock of this machine says %s UTC, and the clock of %s says %s: rows expire by"
                " the earlier one. Set the clock that is wrong.",
                utc(own),
                self._store.url,
                utc(other),
            )
        return AgreedTime(earliest, present)

    def _witnessed(self, state: Snapshot, now: int, longest_idle_ms: int) -> int:
        """Return `now`, unless the log has no epoch that makes it likely; then the last that did.

        An epoch of the last day proves nothing: the clock in question may have dated it.
        """
        known = self._witness_ms
        if known is None or not known <= now <= known + longest_idle_ms:
            known = witness_ms(self._store, state, now - DAY_MS, now)
            self._witness_ms = known
        if now <= known + longest_idle_ms:
            return now
        self._clock.warn(
            "The clock of this machine says %s UTC, and the newest epoch of %s that is older than"
            " a day says %s. No other clock tells whether the log was idle for so long, so nothing"
            " expires after that epoch. If the clock is right, set the property %s of the"
            " table to a longer time, or wait until an epoch from now is older than a day.",
            utc(now),
            self._store.url,
            utc(known),
            IDLE,
        )
        return known
