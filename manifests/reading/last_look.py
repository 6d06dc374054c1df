"""When a process saw a log last: how long it may act on that without another look.

Spec: docs/spec/store.md#trust
"""

from __future__ import annotations

from colonnade.manifests.clock import elapsed_s
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.base import ObjectStore


class LastLook:
    """The last moment at which a log was certainly there, with its newest epoch.

    Commits do not count: the answer to a PUT does not tell whose log it went into. An object can be
    shared between threads.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._trust_s = store.trust_s
        self._seen: tuple[str, int, float] | None = None

    def note(self, head: Snapshot, started: float) -> None:
        """Note that a look, which started at `started` (`elapsed_s`), found this head."""
        self._seen = head.database, head.epoch, started

    def covers(self, state: Snapshot) -> bool:
        """Return whether the log of a state was seen so recently that it counts as unchanged.

        Only what other writers commit may have changed. No block is marked so soon after it was
        filled.
        """
        if self._seen is None or not self._trust_s:
            return False
        database, epoch, started = self._seen
        return (
            database == state.database
            and epoch <= state.epoch
            and elapsed_s() - started < self._trust_s
        )
