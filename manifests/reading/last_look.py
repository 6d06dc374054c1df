"""When a process saw a log last: how long it may act on that without another look.

Spec: docs/spec/store.md#trust
"""

from __future__ import annotations

from colonnade.manifests.clock import elapsed_s
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.object_store import ObjectStore


class LastLook:
    """The last moment at which a log was certainly there, with its newest epoch.

    Commits do not count: the answer to a PUT does not tell whose log it went into. An object can be
    shared between threads.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._trust_s = store.trust_s
        self._seen: tuple[str, int, float] | None = None
        self._end: tuple[str, int, float] | None = None

    def record(self, head: Snapshot, started: float) -> None:
        """Record that a look, which started at `started` (`elapsed_s`), found this head."""
        self._seen = self._end = head.database, head.epoch, started

    def record_base(self, state: Snapshot, started: float) -> None:
        """Record that a look found the epoch of a state, and perhaps later ones."""
        self._seen = state.database, state.epoch, started

    def covers(self, state: Snapshot) -> bool:
        """Return whether the log of a state was seen so recently that it counts as unchanged.

        Only what other writers commit may have changed. A writer may put its epoch then.
        """
        return self._is_recent(self._seen, state)

    def saw_end(self, state: Snapshot) -> bool:
        """Return whether a free slot after a state, read now, is the end of the log.

        The slot was free at the last look, too. No block is marked so soon after it was filled.
        """
        return self._is_recent(self._end, state)

    def _is_recent(self, look: tuple[str, int, float] | None, state: Snapshot) -> bool:
        if look is None or not self._trust_s:
            return False
        database, epoch, started = look
        return (
            database == state.database
            and epoch <= state.epoch
            and elapsed_s() - started < self._trust_s
        )
