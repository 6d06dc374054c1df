"""The journal of maintenance: each round adds one line, next to the log of the database.

On local disk, the lines are in one file. No other store can append, so each line is an object
there.

The journal is for people and their dashboards. Readers of the database ignore it, vacuum keeps it,
and users may move or remove it at any time.
Spec: docs/spec/layout.md#journal
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import orjson

from colonnade.manifests.errors import StoreError
from colonnade.manifests.object_names import JOURNAL, OLDER_JOURNAL, ROUNDS, round_name
from colonnade.manifests.store import LocalStore, ObjectStore
from colonnade.manifests.store.local.files import write_all

JOURNAL_BYTES = 4 * 2**20
"""A longer journal is renamed, and replaces the previous renamed one. It holds years of rounds."""

_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""The journal is in the database, which users may share. So another user's file is not an error."""

ROUNDS_KEPT = 1000
"""The rounds that are kept as objects. One listing shows as many."""


def write_line(store: ObjectStore, line: object, begun: datetime) -> None:
    """Add one JSON document to the journal; lines of concurrent processes stay whole.

    `begun` is when the round began. Where lines are objects, the newest `ROUNDS_KEPT` are kept,
    which costs a PUT, a listing of them, and a DELETE. Raises StoreError if the line cannot be
    written; InvalidInputError if the store is read-only.
    """
    data = orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
    if not isinstance(store, LocalStore):
        store.put(round_name(begun, secrets.token_hex(4)), data, sync=True)
        names = sorted((info.name for info in store.list(ROUNDS)), reverse=True)
        store.remove_many(names[ROUNDS_KEPT:])
        return
    path = Path(store.locate(JOURNAL))
    try:
        with _locked(path) as file:
            _append(file, data)
            if os.fstat(file).st_size > JOURNAL_BYTES:
                path.replace(store.locate(OLDER_JOURNAL))
    except OSError as error:
        raise StoreError(f"{path} could not be written: {error.strerror}.") from error


def _append(file: int, data: bytes) -> None:
    """Append the whole line or nothing: the next line would be read as the rest of half a line."""
    size = os.fstat(file).st_size
    try:
        write_all(file, data)
    except OSError:
        os.ftruncate(file, size)
        raise


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Open the file to append to; no other process writes or renames it meanwhile."""
    while True:
        file = os.open(path, _APPEND, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_at(path, file):
                yield file
                return
        finally:
            os.close(file)


def _is_at(path: Path, file: int) -> bool:
    """Whether the open file is still at `path`; another process may have renamed it."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(file))
    except FileNotFoundError:
        return False
