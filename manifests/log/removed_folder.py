"""Move what was dropped away in one step, and remove it.

The folder of a database is moved as a whole. The folder of a lone table may also have files of
other programs, which stay: its objects are removed in place, and only its log is moved.
What a killed process has moved is found by its name, and any process may move it back.

Spec: docs/spec/layout.md#dropping
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from colonnade.manifests.errors import ColonnadeError, InvalidInputError, StoreError
from colonnade.manifests.object_names import MANIFEST, is_in_table_folder, is_table_folder
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.store.checks import finished_name
from colonnade.manifests.store.local import LocalStore
from colonnade.manifests.store.object_store import ObjectStore

_MOVED = re.compile(r"_moved-[0-9a-f]{16}-([0-9a-f]{16})", re.ASCII)
"""Folders whose log may not have ended. They are never removed for their name alone."""

_DROPPED = re.compile(r"_dropped-[0-9a-f]{16}", re.ASCII)


def move_away(store: ObjectStore, *, only_dropped: bool = True) -> None:
    """Move the folder of a database away and remove it, with the remains of killed drops beside it.

    With `only_dropped`, a folder whose log has not ended is moved back: another process has
    finished the drop meanwhile and made a new database there. A missing folder is not an error.
    Without it, no process moves the folder back, although its log may not have ended.

    A killed call may leave a folder `_moved-…` or `_dropped-…` beside the old place. The next call
    removes it if its log has ended. Otherwise it stays, and `put_back` moves it back.

    Raises InvalidInputError for a store other than local disk. Raises StoreError that names the
    present place of the folder.
    """
    folder = _folder_of(store)
    moved = _new_name(folder, only_dropped)
    with suppress(FileNotFoundError), _stated(folder, moved):
        _leave(folder, moved, moved, only_dropped)
    _remove_dropped(os.path.dirname(folder))


def remove_lone_table(store: ObjectStore, *, only_dropped: bool = True) -> None:
    """Remove the objects and the log of a lone table, and its folder if nothing else is in it.

    With `only_dropped`, nothing is removed unless the log has ended. Files and folders that do not
    have the name of an object stay. A killed call is finished by the next one, because the log is
    removed last. Raises as `move_away`.
    """
    folder = _folder_of(store)
    with suppress(FileNotFoundError), _stated(folder, folder):
        # The ids of tables and objects are random. So a name that was listed before the look cannot
        # belong to a table that another process makes here after it.
        found = {each: _own_entries(each) for each in _table_folders(folder)}
        if not only_dropped or _is_dropped(folder):
            for table, entries in found.items():
                for entry in entries:
                    _remove(f"{table}/{entry}")
                with suppress(OSError):  # raised if the folder has other files, too
                    os.rmdir(table)
            _move_log(folder, only_dropped)
    with suppress(OSError):  # raised if the folder has other files, too
        os.rmdir(folder)
    _remove_dropped(os.path.dirname(folder))


def put_back(store: ObjectStore) -> bool:
    """Move a live database back that a killed drop has moved away from this place.

    Returns whether there was one. It stays where it is if its place was taken meanwhile. Any
    process may call this at any time, because a log that has ended is never moved back. Cost: a
    listing of the folder above, on local disk only.
    """
    if not isinstance(store, LocalStore):
        return False
    folder, found = store.url, False
    parent, beginning = os.path.dirname(folder), os.path.basename(_moved_name(folder, ""))
    with suppress(OSError):
        names = [name for name in os.listdir(parent) if name.startswith(beginning)]
        for moved in (f"{parent}/{name}" for name in names if _MOVED.fullmatch(name)):
            if _is_live(moved):
                found = _return(moved, folder) or found
    return found


def _move_log(folder: str, only_dropped: bool) -> None:
    """Move the log of a lone table away from its folder, and on if it has ended."""
    log = f"{folder}/{MANIFEST}"
    while os.path.isdir(log):
        moved = _new_name(folder, only_dropped)
        os.mkdir(moved)
        try:
            with _stated(log, f"{moved}/{MANIFEST}"):
                return _leave(log, f"{moved}/{MANIFEST}", moved, only_dropped)
        except FileNotFoundError:
            continue  # another drop has moved the log, or has removed the empty folder
        finally:
            with suppress(OSError):  # raised unless it is empty
                os.rmdir(moved)


def _leave(source: str, target: str, moved: str, only_dropped: bool) -> None:
    """Move a log away, look at it, and move it back or on. `moved` is the folder that has it.

    Without `only_dropped`, the log goes straight to a folder that is removed for its name.
    """
    os.rename(source, target)
    if not only_dropped:
        return
    if not _is_dropped(moved):
        os.rename(target, source)
    else:
        os.rename(moved, f"{os.path.dirname(moved)}/_dropped-{moved[-16:]}")


def _return(moved: str, folder: str) -> bool:
    """Undo the move of a folder, or of the log of a lone table. Returns whether it was done."""
    only_log = os.listdir(moved) == [MANIFEST] and os.path.isdir(folder)
    try:
        # The name of a folder that is not empty cannot be taken.
        if only_log:
            os.rename(f"{moved}/{MANIFEST}", f"{folder}/{MANIFEST}")
            os.rmdir(moved)
        else:
            os.rename(moved, folder)
    except OSError:
        return False
    return True


def _remove_dropped(parent: str) -> None:
    """Remove the folders of dropped databases, including those that killed drops have left."""
    for name in os.listdir(parent):
        found = _MOVED.fullmatch(name)
        if found is None:
            continue
        with suppress(OSError):  # raised unless it is empty
            os.rmdir(f"{parent}/{name}")
        if _is_dropped(f"{parent}/{name}"):
            # It is renamed first, so that the process that moved it never finds half of it.
            with suppress(OSError):
                os.rename(f"{parent}/{name}", f"{parent}/_dropped-{found[1]}")
    for name in filter(_DROPPED.fullmatch, os.listdir(parent)):
        shutil.rmtree(f"{parent}/{name}", ignore_errors=True)


def _remove(path: str) -> None:
    """Remove a file or a folder that another drop may be removing at the same time."""
    while os.path.lexists(path):
        with suppress(FileNotFoundError):
            if _is_folder(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)


def _table_folders(folder: str) -> list[str]:
    """Return the folders in a folder that may be those of tables."""
    names = filter(is_table_folder, os.listdir(folder))
    return [path for path in (f"{folder}/{name}" for name in names) if _is_folder(path)]


def _own_entries(table: str) -> list[str]:
    """Return the names in the folder of a table that objects have, finished or not."""
    try:
        entries = os.listdir(table)
    except FileNotFoundError:
        return []  # another drop has removed it
    return [entry for entry in entries if is_in_table_folder(finished_name(entry) or entry)]


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _is_dropped(folder: str) -> bool:
    try:
        return LogReader(LocalStore(folder)).is_dropped()
    except ColonnadeError:
        return False


def _is_live(folder: str) -> bool:
    """Return whether a folder has a log that has not ended, or whose end cannot be read."""
    return os.path.isdir(f"{folder}/{MANIFEST}") and not _is_dropped(folder)


def _folder_of(store: ObjectStore) -> str:
    if not isinstance(store, LocalStore):
        raise InvalidInputError(
            f"{store.url} cannot be dropped: Colonnade does not write to this store; remove the"
            " files with a tool of the store."
        )
    return store.url


def _new_name(folder: str, only_dropped: bool) -> str:
    """Return a new name to move a folder to."""
    number = secrets.token_hex(8)
    if only_dropped:
        return _moved_name(folder, number)
    return f"{os.path.dirname(folder)}/_dropped-{number}"


def _moved_name(folder: str, number: str) -> str:
    """Return the name that a folder is moved to. Its first digits say where it came from."""
    parent, name = os.path.split(folder)
    place = hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
    return f"{parent}/_moved-{place}-{number}"


@contextmanager
def _stated(folder: str, moved: str) -> Iterator[None]:
    """Turn an OSError into a StoreError that names the present place, unless nothing was found."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        place = moved if os.path.exists(moved) else folder
        raise StoreError(
            f"{folder} could not be removed: {error.strerror}. Its folder is {place} now."
        ) from error
