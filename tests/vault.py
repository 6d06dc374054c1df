"""A file system in memory that only opens for those who give its secret option."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from colonnade.manifests.store.fsspec_files import classes

SECRET = "HUNTER2"
OPTIONS = {"secret": SECRET}


class VaultFiles(MemoryFileSystem):  # type: ignore[misc]
    """A protocol that refuses to connect without its secret. It writes, for one process."""

    protocol = "vault"
    cachable = False
    _lock = threading.Lock()

    def __init__(self, secret: str = "", **options: Any) -> None:
        super().__init__(**options)
        if secret != SECRET:
            raise PermissionError(f"{secret} is not the secret")

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, str) and path.startswith("vault://"):
            path = path.replace("vault://", "memory://", 1)
        return super()._strip_protocol(path)

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
        with self._lock:
            super().pipe_file(path, value, mode=mode, **kwargs)


WRITES = classes.WritingClass(
    "fsspec", "VaultFiles", "2024.6.0", marked=lambda token: {}, mark_of=lambda files, path: None
)


@contextmanager
def open_vault(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryFileSystem]:
    """Let `vault://` URLs be read and written during the block; yields their files."""
    fsspec.register_implementation("vault", VaultFiles, clobber=True)
    monkeypatch.setitem(classes._CLASSES, (__name__, "VaultFiles"), WRITES)
    files = VaultFiles(SECRET)
    try:
        yield files
    finally:
        files.store.clear()
        files.pseudo_dirs[:] = [""]
