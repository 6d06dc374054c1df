"""The lines that rounds leave in the database, next to its log.

They are for people and their dashboards: no reader of the database looks at them, vacuum leaves
them, and whoever wants to may move or remove them at any time.
Spec: docs/spec/layout.md#journal
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from colonnade.manifests.errors import StoreError
from colonnade.manifests.object_names import JOURNAL, OLDER_JOURNAL
from colonnade.manifests.store import LocalStore, ObjectStore
from colonnade.manifests.store.local_files import write_all

JOURNAL_BYTES = 4 * 2**20
"""A file of more bytes is put aside, in the place of the one before it: years of rounds."""


def write_line(store: ObjectStore, line: object) -> None:
    """Append one JSON document; lines that several processes write at once stay whole.

    Where the store can only be read nothing is written. Raises StoreError.
    """
    if not isinstance(store, LocalStore):
        return
    data = orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
    path = Path(store.locate(JOURNAL))
    try:
        with _locked(path) as file:
            _append(file, data)
            if os.fstat(file).st_size > JOURNAL_BYTES:
                path.replace(store.locate(OLDER_JOURNAL))
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}.") from error


def _append(file: int, data: bytes) -> None:
    """All of a line or nothing: the next one would be taken for the rest of half a line."""
    size = os.fstat(file).st_size
    try:
        write_all(file, data)
    except OSError:
        os.ftruncate(file, size)
        raise


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file of that name, to append to, while no other process writes it or puts it aside."""
    while True:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_at(path, file):
                yield file
                return
        finally:
            os.close(file)


def _is_at(path: Path, file: int) -> bool:
    """Whether a file still has its name: it may have been put aside before it was locked."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False
