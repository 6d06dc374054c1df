"""Remember which transaction ids no process has tried to commit yet.

If this process made a transaction id, and was never asked to commit it, no process has sent it: a
planner that replaces this one does not know the id. Nor has any process sent an id that the jar has
made for one request, if this is the first time that it sends the request. The outcome of such a
commit is never unknown.
Spec: docs/spec/epoch-log.md
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

_MOST = 10_000
"""At most this many ids are remembered; a forgotten id counts as sent, which is always safe."""


class Unsent:
    """Transaction ids that this process has made for plans, or the jar for one request.

    Thread safe.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._ids: dict[str, None] = {}
        self._again: ContextVar[bool] = ContextVar("again", default=False)

    def add(self, transaction: str) -> None:
        """Remember a new id."""
        with self._lock:
            self._ids[transaction] = None
            if len(self._ids) > _MOST:
                del self._ids[next(iter(self._ids))]

    @contextmanager
    def request(self, *, again: bool) -> Iterator[None]:
        """Run a block for a request, which an earlier planner may have got if it is sent again."""
        token = self._again.set(again)
        try:
            yield
        finally:
            self._again.reset(token)

    def add_sent(self, transaction: str) -> None:
        """Remember an id that the jar has made for this request, unless it is sent again."""
        if not self._again.get():
            self.add(transaction)

    def has(self, transaction: str) -> bool:
        """Whether no process can have sent this id before."""
        with self._lock:
            return transaction in self._ids

    def take(self, transaction: str) -> bool:
        """Whether no process can have sent this id before; from now on it counts as sent."""
        with self._lock:
            return self._ids.pop(transaction, self) is not self


UNSENT = Unsent()
"""The unsent ids of this process."""
