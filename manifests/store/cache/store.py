"""A store whose immutable objects are kept near the reader.

Guide: docs/cache.md
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.object_names import is_immutable
from colonnade.manifests.store.address import StoreAddress
from colonnade.manifests.store.base import Data, ObjectInfo, ObjectWriter, PutOutcome
from colonnade.manifests.store.cache.folder import FolderPieces
from colonnade.manifests.store.cache.options import cache_of
from colonnade.manifests.store.cache.pieces import Piece, assemble, divide, missing
from colonnade.manifests.store.checks import check_name, check_ranges
from colonnade.manifests.store.object_store import ObjectStore
from colonnade.manifests.store.turn import Turn

T = TypeVar("T")

_FIRST = ((0, 1),)
"""A range that a piece of a whole object meets."""


def with_cache(store: ObjectStore) -> ObjectStore:
    """Return the store behind the cache that its storage options ask for, or the store itself.

    Raises InvalidInputError for malformed options of the cache.
    """
    cache = cache_of(store.address.storage_options, store.url)
    return store if cache is None else CachedStore(store, cache)


class CachedStore(ObjectStore):
    """Reads immutable objects through a cache, and passes every other call on to `inner`.

    Objects are kept when they are read, not when they are written. Epochs, marks and hints are
    never kept: a vacuum removes epochs, and a place may get another database. A kept
    object may outlive the object in the store. No live epoch names it then.
    """

    def __init__(self, inner: ObjectStore, cache: FolderPieces) -> None:
        self._inner = inner
        self._cache = cache
        self.url = inner.url
        self.read_only = inner.read_only
        self.keeps_logs = inner.keeps_logs
        self.files_are_cheap = inner.files_are_cheap
        self.tries, self.pause = inner.tries, inner.pause
        self.parallel, self.trust_s = inner.parallel, inner.trust_s
        self.has_clock = inner.has_clock

    def __reduce__(self) -> tuple[Callable[..., ObjectStore], tuple[ObjectStore]]:
        return with_cache, (self._inner,)

    @property
    def address(self) -> StoreAddress:
        return self._inner.address

    @property
    def uncached(self) -> ObjectStore:
        return self._inner

    def forget(self, name: str) -> None:
        for key in (self._key(name), self._whole_key(name)):
            self._cache.forget(key)

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        check_name(name)
        if not is_immutable(name):
            return self._inner.get(name, limit=limit)
        key = self._whole_key(name)
        for piece in self._cache.find(key, _FIRST):
            if limit is None or len(piece.data) <= limit:
                return bytes(piece.data)
        data = self._inner.get(name, limit=limit)
        self._cache.keep(key, Piece(0, data))
        return data

    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        check_name(name)
        check_ranges(ranges)
        if not is_immutable(name):
            return self._inner.get_ranges(name, ranges)
        key = self._key(name)
        pieces = self._cache.find(key, ranges)
        gaps = missing(ranges, [(piece.start, piece.end) for piece in pieces])
        if gaps:
            for (offset, _), data in zip(gaps, self._inner.get_ranges(name, gaps), strict=True):
                for piece in divide(offset, data):
                    self._cache.keep(key, piece)
                    pieces.append(piece)
        pieces.sort(key=lambda piece: piece.start)
        known = max((piece.end for piece in pieces), default=0)
        beyond = [(offset, 0) for offset, length in ranges if not length and offset > known]
        if beyond:
            # Only the store knows whether the object is long enough for these.
            self._inner.get_ranges(name, beyond)
        return [assemble(offset, length, pieces) for offset, length in ranges]

    def read_many(
        self, names: Sequence[str], *, limit: int | None = None
    ) -> Sequence[bytes | ColonnadeError]:
        if any(map(is_immutable, names)):
            return super().read_many(names, limit=limit)
        return self._inner.read_many(names, limit=limit)

    def later(self, work: Callable[[], None]) -> None:
        self._inner.later(work)

    def together(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        return self._inner.together(calls)

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        return self._inner.put_if_absent(name, data)

    def put(self, name: str, data: Data, *, sync: bool) -> None:
        self._inner.put(name, data, sync=sync)

    def create(self, name: str, *, sync: bool) -> ObjectWriter:
        return self._inner.create(name, sync=sync)

    def close_all(self, writers: Sequence[ObjectWriter]) -> None:
        self._inner.close_all(writers)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        return self._inner.list(prefix)

    def delete(self, name: str) -> None:
        self._inner.delete(name)

    def remove_many(self, names: Sequence[str]) -> dict[str, ColonnadeError]:
        return self._inner.remove_many(names)

    def remove_folder(self, name: str) -> None:
        self._inner.remove_folder(name)

    def modified_ms(self, name: str) -> int | None:
        return self._inner.modified_ms(name)

    def date_of_write(self, name: str) -> int | None:
        return self._inner.date_of_write(name)

    def list_unfinished(self) -> Iterator[ObjectInfo]:
        return self._inner.list_unfinished()

    def list_all(self, measured: Callable[[str], bool]) -> Iterator[ObjectInfo]:
        return self._inner.list_all(measured)

    def delete_unfinished(self, name: str) -> None:
        self._inner.delete_unfinished(name)

    def turn(self, folder: str) -> Turn:
        return self._inner.turn(folder)

    def require_writable(self) -> None:
        self._inner.require_writable()

    def require_folder(self) -> None:
        self._inner.require_folder()

    def locate(self, name: str) -> str:
        return self._inner.locate(name)

    def _key(self, name: str) -> str:
        return _digest(f"{_scheme(self.url)}/{name}")

    def _whole_key(self, name: str) -> str:
        return _digest(f"{_scheme(self.url)}/{name}?whole")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


_scheme = partial(re.compile("s3a:", re.IGNORECASE).sub, "s3:", count=1)
