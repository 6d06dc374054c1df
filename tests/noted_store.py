"""A store whose writers wait for turns as the test wants, and leave notes for each other."""

from __future__ import annotations

from collections.abc import Callable

from colonnade.manifests.store import MemoryStore
from colonnade.manifests.store.turn import Turn


class NotedStore(MemoryStore):
    """Objects in memory. While `meanwhile` is set, the next writer finds that it has to wait.

    When that writer has left its note, `meanwhile` is called once.
    """

    def __init__(self, now_ms: Callable[[], int] = lambda: 0) -> None:
        super().__init__(now_ms=now_ms)
        self.notes: list[bytes] = []
        self.statements = b""
        self.meanwhile: Callable[[], object] | None = None

    def turn(self, folder: str) -> Turn:
        return NotedTurn(self)


class NotedTurn(Turn):
    """A turn that is free, except while the store has something to do meanwhile."""

    def __init__(self, store: NotedStore) -> None:
        self._store = store

    def take(self, wait_s: float) -> bool:
        return self._store.meanwhile is None and not (wait_s and self._store.statements)

    def may_exist(self, name: str) -> bool:
        return True

    def leave(self, note: bytes) -> bool:
        self._store.notes.append(note)
        act, self._store.meanwhile = self._store.meanwhile, None
        assert act is not None
        act()
        return True

    def collect(self) -> bytes:
        found, self._store.notes = self._store.notes, []
        return b"".join(found)

    def state(self, lines: bytes) -> None:
        self._store.statements += lines

    def stated(self) -> bytes:
        return self._store.statements
