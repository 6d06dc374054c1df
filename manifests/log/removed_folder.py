"""Move the folder of a dropped database away in one step, and remove it.

Spec: docs/spec/layout.md#dropping
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from contextlib import suppress

from colonnade.manifests.errors import ColonnadeError, InvalidInputError, StoreError
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.store.base import ObjectStore
from colonnade.manifests.store.local import LocalStore

_MOVED = re.compile(r"_moved-([0-9a-f]{16})", re.ASCII)
"""Folders whose log may not have ended. They are never removed for their name alone."""

_DROPPED = re.compile(r"_dropped-[0-9a-f]{16}", re.ASCII)


def move_away(store: ObjectStore, *, only_dropped: bool = True) -> None:
    """Move the folder of a database away and remove it, with the remains of killed drops beside it.

    With `only_dropped`, a folder whose log has not ended is moved back: another process has
    finished the drop meanwhile and made a new database there. Does nothing if the folder does not
    exist. Raises InvalidInputError for a store other than local disk. Raises StoreError that names
    the present place of the folder, beside the old one. A folder `_moved-…` stays, and the next
    drop removes a folder `_dropped-…`.
    """
    if not isinstance(store, LocalStore):
        raise InvalidInputError(
            f"{store.url} cannot be dropped: only databases on local disk can be."
        )
    parent = os.path.dirname(store.url)
    number = secrets.token_hex(8)
    moved, dropped = f"{parent}/_moved-{number}", f"{parent}/_dropped-{number}"
    try:
        os.rename(store.url, moved)
        if only_dropped and not _is_dropped(moved):
            os.rename(moved, store.url)
            return
        os.rename(moved, dropped)
    except FileNotFoundError:
        return
    except OSError as error:
        place = moved if os.path.exists(moved) else store.url
        raise StoreError(
            f"{store.url} could not be removed: {error.strerror}. Its folder is {place} now."
        ) from error
    _remove_dropped(parent)


def _remove_dropped(parent: str) -> None:
    """Remove the folders of dropped databases, including those that killed drops have left."""
    for name in os.listdir(parent):
        found = _MOVED.fullmatch(name)
        if found and _is_dropped(f"{parent}/{name}"):
            # It is renamed first, so that the process that moved it never finds half of it.
            with suppress(OSError):
                os.rename(f"{parent}/{name}", f"{parent}/_dropped-{found[1]}")
    for name in filter(_DROPPED.fullmatch, os.listdir(parent)):
        shutil.rmtree(f"{parent}/{name}", ignore_errors=True)


def _is_dropped(folder: str) -> bool:
    try:
        return LogReader(LocalStore(folder)).is_dropped()
    except ColonnadeError:
        return False
