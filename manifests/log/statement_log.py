"""The log as one statement reads it: at one time, which decides what has expired for it.

A statement reads rows of the state that it is evaluated on, and rows of later states at its slot.
Its time stays the same, so it belongs to the statement and to no state:

    begun on epoch 7, at 12:00      evaluated on the rows of epoch 7 that had not expired at 12:00
    slot 10, at 12:05               meets the rows of epochs 8 and 9 as of 12:00

Spec: docs/spec/lifetimes.md#writers
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from colonnade.manifests.arrays.bounds import BoundsFilter
from colonnade.manifests.clock import AgreedTime
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore


@dataclass(frozen=True, slots=True)
class StatementLog:
    """A log as a statement gets it. The statement reads by `view`, which hides what has expired.

    `plain` is the log itself. `time` is the time of the statement; None if nothing expires in its
    table. With `shows_expired`, the statement also sees rows that have expired and are still
    stored. `base` is the state that it is evaluated on; None for one that is not in the log.
    """

    plain: Log
    time: AgreedTime | None
    shows_expired: bool = False
    base: Snapshot | None = None

    @classmethod
    def begin(
        cls, log: Log, base: Snapshot, table: TableState, begun: AgreedTime | None = None
    ) -> StatementLog:
        """Return the log for a statement on a table of a state.

        The statement begins now, unless its plan has `begun` at an earlier time. Costs nothing in
        that case, or if nothing expires in the table. Otherwise costs and raises as
        `Agreement.time`.
        """
        if begun is None and table.lifetimes is not None:
            begun = log.agreement.statement_time(base, table)
        return cls(log, begun, base=base)

    @property
    def store(self) -> ObjectStore:
        """The store of the log."""
        return self.plain.store

    @property
    def limits(self) -> Limits:
        """The limits of the log."""
        return self.plain.limits

    @property
    def now_ms(self) -> int | None:
        """The time by which rows have expired, in ms since 1970 UTC; None if no row has."""
        return None if self.time is None or self.shows_expired else self.time.earliest_ms

    @property
    def present_ms(self) -> int | None:
        """The time from which on new rows live, in ms since 1970 UTC; None if nothing expires."""
        return None if self.time is None else self.time.present_ms

    def showing_expired(self) -> StatementLog:
        """Return the log for a statement that also sees what has expired."""
        return replace(self, shows_expired=True)

    def view(self, table: TableState, may_match: BoundsFilter | None = None) -> View:
        """Return what the statement sees of the RowSets of its table that `may_match` selects.

        Costs and raises as `LiveRowSets.view`.
        """
        assert table.lifetimes is None or self.time is not None, "The statement has no time."
        return self.plain.rowsets.view(table, may_match, self.now_ms)
