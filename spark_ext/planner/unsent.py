"""Which changes have never been sent: what becomes of these is never unknown.

A transaction id that this process has made, and was not asked to commit yet, nobody has sent: a
process that takes its place does not know the id. Spec: docs/spec/epoch-log.md
"""

from __future__ import annotations

from threading import Lock

_MOST = 10_000
"""So many ids are remembered; what is forgotten counts as sent, which is always safe."""


class Unsent:
    """Transaction ids that this process has made for plans. Thread safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._ids: dict[str, None] = {}

    def add(self, transaction: str) -> None:
        """Remember an id that was just made."""
        with self._lock:
            self._ids[transaction] = None
            if len(self._ids) > _MOST:
                del self._ids[next(iter(self._ids))]

    def take(self, transaction: str) -> bool:
        """Whether nobody can have sent this id before; it counts as sent from now on."""
        with self._lock:
            return self._ids.pop(transaction, self) is not self


UNSENT = Unsent()
"""Those of this process."""
