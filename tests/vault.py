"""A store in memory that only opens for those who give its secret option."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from colonnade.manifests import store as stores
from colonnade.manifests.errors import AlreadyExistsError
from colonnade.manifests.store import FsspecReadStore, ObjectWriter, PutOutcome
from colonnade.manifests.store.base import Data
from colonnade.manifests.store.checks import check_name

SECRET = "HUNTER2"
OPTIONS = {"secret": SECRET}


class VaultFiles(MemoryFileSystem):  # type: ignore[misc]
    """A protocol that refuses to connect without its secret."""

    protocol = "vault"
    cachable = False

    def __init__(self, secret: str = "", **options: Any) -> None:
        super().__init__(**options)
        if secret != SECRET:
            raise PermissionError(f"{secret} is not the secret")

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, str) and path.startswith("vault://"):
            path = path.replace("vault://", "memory://", 1)
        return super()._strip_protocol(path)


class VaultStore(FsspecReadStore):
    """Writes, too. For one process."""

    read_only = False

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        check_name(name)
        if self._files.exists(self._path(name)):
            return PutOutcome.EXISTS
        self._files.pipe_file(self._path(name), bytes(data))
        return PutOutcome.CREATED

    def put(self, name: str, data: Data, *, sync: bool) -> None:
        self._files.pipe_file(self._path(name), bytes(data))

    def create(self, name: str, *, sync: bool) -> ObjectWriter:
        return _Writer(self, name)

    def delete(self, name: str) -> None:
        if self._files.exists(self._path(name)):
            self._files.rm_file(self._path(name))

    def remove_folder(self, name: str) -> None:
        check_name(name)

    def require_writable(self) -> None:  # type: ignore[override]
        """It can be written to."""


class _Writer(ObjectWriter):
    def __init__(self, store: VaultStore, name: str) -> None:
        self._store, self._name = store, name
        self._data: bytearray | None = bytearray()

    def write(self, data: Data) -> None:
        assert self._data is not None
        self._data += data

    def close(self) -> None:
        data, self._data = self._data, None
        if data is not None and self._store.put_if_absent(self._name, bytes(data)) is not (
            PutOutcome.CREATED
        ):
            raise AlreadyExistsError(f"{self._name} exists already.")

    def abort(self) -> None:
        self._data = None


@contextmanager
def open_vault(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryFileSystem]:
    """Let `vault://` URLs be read and written during the block; yields their files."""
    fsspec.register_implementation("vault", VaultFiles, clobber=True)
    monkeypatch.setattr(stores, "FsspecReadStore", VaultStore)
    files = VaultFiles(SECRET)
    try:
        yield files
    finally:
        files.store.clear()
        files.pseudo_dirs[:] = [""]
