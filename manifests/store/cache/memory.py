"""Keep the pieces that were used last in the memory of this process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from colonnade.manifests.store.cache.pieces import Piece


class MemoryPieces:
    """Up to `limit` bytes of pieces, the ones used last. Thread-safe."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = 0
        self._lock = Lock()
        self._pieces: OrderedDict[tuple[str, int], Piece] = OrderedDict()
        self._starts: dict[str, set[int]] = {}

    def find(self, key: str, ranges: Sequence[tuple[int, int]]) -> list[Piece]:
        """Return the pieces of an object that meet (offset, length) ranges."""
        with self._lock:
            found = []
            for start in self._starts.get(key, ()):
                piece = self._pieces[key, start]
                if any(start < offset + length and offset < piece.end for offset, length in ranges):
                    self._pieces.move_to_end((key, start))
                    found.append(piece)
            return found

    def keep(self, key: str, piece: Piece) -> None:
        """Keep a piece, and drop the pieces that were not used for the longest time.

        A piece that is larger than a quarter of the limit is not kept.
        """
        if 4 * len(piece.data) > self._limit:
            return
        with self._lock:
            known = self._pieces.get((key, piece.start))
            if known is not None and known.end >= piece.end:
                return
            self._remove(key, piece.start)
            self._pieces[key, piece.start] = Piece(piece.start, bytes(piece.data))
            self._starts.setdefault(key, set()).add(piece.start)
            self._bytes += len(piece.data)
            while self._bytes > self._limit:
                self._remove(*next(iter(self._pieces)))

    def forget(self, key: str) -> None:
        """Drop all pieces of an object."""
        with self._lock:
            for start in list(self._starts.get(key, ())):
                self._remove(key, start)

    def _remove(self, key: str, start: int) -> None:
        piece = self._pieces.pop((key, start), None)
        if piece is None:
            return
        self._bytes -= len(piece.data)
        starts = self._starts[key]
        starts.discard(start)
        if not starts:
            del self._starts[key]
