"""A store in memory, for tests and throw-away tables: the whole contract without a disk.

Spec: docs/spec/store.md#memory
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

from colonnade.manifests.clock import now_ms
from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from colonnade.manifests.object_names import epoch_name, needs_log
from colonnade.manifests.store.base import Data, ObjectInfo, ObjectWriter, PutOutcome
from colonnade.manifests.store.checks import (
    check_body,
    check_name,
    check_prefix,
    check_ranges,
    no_log,
    too_large,
    truncated,
)
from colonnade.manifests.store.memory_turns import MemoryTurns
from colonnade.manifests.store.object_store import ObjectStore
from colonnade.manifests.store.turn import Turn

_OWN_CLOCK = now_ms


class MemoryStore(ObjectStore):
    """Objects in a dictionary, which ends with the process. `sync` has no effect.

    `now_ms` is the clock that dates the objects, by default this machine's own.
    """

    read_only = False
    files_are_cheap = True

    def __init__(self, url: str = "memory:", now_ms: Callable[[], int] = now_ms) -> None:
        self.url = url
        self._now_ms, self.has_clock = now_ms, now_ms is not _OWN_CLOCK
        self._lock = threading.Lock()
        self._turns = MemoryTurns()
        self._objects: dict[str, tuple[bytes, int]] = {}

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        data = self._data(name)
        if limit is not None and len(data) > limit:
            raise too_large(self.locate(name), str(len(data)), limit)
        return data

    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        check_ranges(ranges)
        data = self._data(name)
        for offset, length in ranges:
            if offset + length > len(data):
                raise truncated(self.locate(name), len(data), offset, length)
        return [data[offset : offset + length] for offset, length in ranges]

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        check_body(name, data)
        self._check_log(name)
        created = self._add(name, bytes(data))
        self._turns.seen(name, created=created)
        return PutOutcome.CREATED if created else PutOutcome.EXISTS

    def put(self, name: str, data: Data, *, sync: bool) -> None:
        check_body(name, data)
        self._check_log(name)
        with self._lock:
            self._objects[name] = bytes(data), self._now_ms()

    def create(self, name: str, *, sync: bool) -> ObjectWriter:
        check_name(name)
        if name in self._objects:
            raise AlreadyExistsError(f"{self.locate(name)} exists already.")
        return _MemoryWriter(self, name)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        check_prefix(prefix)
        with self._lock:
            objects = tuple(self._objects.items())
        return (
            ObjectInfo(name, len(data), modified_ms)
            for name, (data, modified_ms) in objects
            if name.startswith(prefix)
        )

    def delete(self, name: str) -> None:
        check_name(name)
        with self._lock:
            self._objects.pop(name, None)

    def modified_ms(self, name: str) -> int | None:
        self._data(name)
        return self._objects[name][1]

    def date_of_write(self, name: str) -> int | None:
        check_name(name)
        return self._now_ms()

    def remove_folder(self, name: str) -> None:
        check_name(name)

    def turn(self, folder: str) -> Turn:
        return self._turns.begin(folder)

    def _check_log(self, name: str) -> None:
        if needs_log(name) and epoch_name(0) not in self._objects:
            raise no_log(self.url)

    def _data(self, name: str) -> bytes:
        check_name(name)
        try:
            return self._objects[name][0]
        except KeyError as error:
            raise NotFoundError(f"{self.locate(name)} does not exist.") from error

    def _add(self, name: str, data: bytes) -> bool:
        with self._lock:
            if name in self._objects:
                return False
            self._objects[name] = data, self._now_ms()
            return True


class _MemoryWriter(ObjectWriter):
    def __init__(self, store: MemoryStore, name: str) -> None:
        self._store = store
        self._name = name
        self._data: bytearray | None = bytearray()

    def write(self, data: Data) -> None:
        if self._data is None:
            raise InvalidInputError(f"{self._store.locate(self._name)} is no longer being written.")
        self._data += data

    def close(self) -> None:
        if self._data is None:
            return
        data, self._data = bytes(self._data), None
        if not self._store._add(self._name, data):
            raise AlreadyExistsError(f"{self._store.locate(self._name)} exists already.")

    def abort(self) -> None:
        self._data = None
