"""A draft of a store: what is written to it stays in memory, so that a dry run runs the real code.

Spec: docs/spec/store.md#memory
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from colonnade.manifests.clock import now_ms
from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.object_names import epoch_name, needs_log
from colonnade.manifests.store.address import StoreAddress
from colonnade.manifests.store.base import Data, ObjectInfo
from colonnade.manifests.store.checks import no_log
from colonnade.manifests.store.memory import MemoryStore
from colonnade.manifests.store.object_store import ObjectStore


class DraftStore(MemoryStore):
    """The objects of `inner`, beside those that were written or deleted here.

    `inner` gets no call that writes, so it may be read-only. An object that was touched here is
    read from memory. Every other object is read from `inner` as it is now. Writers of `inner` know
    nothing of a draft. `now_ms` is the clock of the draft, because some stores tell their own time
    only when they write.
    """

    def __init__(self, inner: ObjectStore, now_ms: Callable[[], int] = now_ms) -> None:
        super().__init__(inner.url, now_ms)
        self._inner = inner
        self.has_clock = inner.has_clock
        self.parallel = inner.parallel
        self._touched: set[str] = set()

    @property
    def address(self) -> StoreAddress:
        return self._inner.address

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        if name in self._touched:
            return super().get(name, limit=limit)
        return self._inner.get(name, limit=limit)

    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        if name in self._touched:
            return super().get_ranges(name, ranges)
        return self._inner.get_ranges(name, ranges)

    def put(self, name: str, data: Data, *, sync: bool) -> None:
        super().put(name, data, sync=sync)
        self._touched.add(name)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        # An object that is put meanwhile must be found at one of its two places.
        touched = self._touched.copy()
        own = {info.name: info for info in super().list(prefix)}
        covered = touched | own.keys()
        others = (info for info in self._inner.list(prefix) if info.name not in covered)
        return chain(own.values(), others)

    def delete(self, name: str) -> None:
        super().delete(name)
        self._touched.add(name)

    def modified_ms(self, name: str) -> int | None:
        if name in self._touched:
            return super().modified_ms(name)
        return self._inner.modified_ms(name)

    def require_folder(self) -> None:
        self._inner.require_folder()

    def locate(self, name: str) -> str:
        return self._inner.locate(name)

    def _check_log(self, name: str) -> None:
        if needs_log(name) and not self._exists(epoch_name(0)):
            raise no_log(self.url)

    def _add(self, name: str, data: bytes) -> bool:
        if self._exists(name):
            return False
        self._touched.add(name)
        return super()._add(name, data)

    def _exists(self, name: str) -> bool:
        if name in self._touched:
            return name in self._objects
        try:
            self._inner.get(name, limit=1)
        except NotFoundError:
            return False
        except CorruptionError:
            return True  # It is larger than the limit.
        return True
