"""Files on local disk below an open folder: write them whole, name them, list them.

Spec: docs/spec/store.md#local-disk
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeAlias

from colonnade.manifests.store.base import Data, ObjectInfo
from colonnade.manifests.store.checks import is_name

Test: TypeAlias = Callable[[str], bool]
"""Says whether something is done with the file of a name."""

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
"""The flags for opening folders, and for making new files."""

NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP}
"""Errors of a file system that has no hard links."""


def temp_name(leaf: str) -> str:
    """Return a new temporary name for an object whose name in its folder will be `leaf`."""
    return f".tmp-{secrets.token_hex(8)}-{leaf}"


def write_temp(folder: int, leaf: str, data: Data, sync: bool) -> str:
    """Write a complete temporary file and return its name. If that fails, no file is left."""
    temp = temp_name(leaf)
    file = os.open(temp, WRITE, 0o666, dir_fd=folder)
    try:
        try:
            write_all(file, data)
            if sync:
                os.fsync(file)
        finally:
            os.close(file)
    except BaseException:
        discard(folder, temp)
        raise
    return temp


def write_all(file: int, data: Data) -> None:
    """Write all bytes of `data`."""
    rest = memoryview(data).cast("B")
    while rest:  # a short write means a limit or a full disk; the next call raises the reason
        rest = rest[os.write(file, rest) :]


def is_there(folder: int, leaf: str) -> bool:
    """Return whether a name in a folder is in use."""
    try:
        os.stat(leaf, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def link(folder: int, temp: str, leaf: str) -> None:
    """Give a complete file its final name. Raises FileExistsError if the name is in use."""
    try:
        os.link(temp, leaf, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        raise OSError(
            error.errno,
            "this file system has no hard links, without which a commit on local disk is not safe;"
            " keep the database on another one",
        ) from error


def discard(folder: int, temp: str) -> None:
    """Remove an unfinished object. Never raises OSError."""
    # If the removal fails, an unfinished object stays behind, and vacuum finds it.
    with suppress(OSError):
        os.unlink(temp, dir_fd=folder)


def make_path(path: str) -> None:
    """Make a folder and its missing parents, durably."""
    parent = os.path.dirname(path)
    if not os.path.isdir(parent):
        make_path(parent)
    try:
        os.mkdir(path)
    except FileExistsError:
        return
    folder = os.open(parent, FOLDER)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def walk_folder(
    folder: int, path: str, prefix: str, listed: Test, measured: Test
) -> Iterator[ObjectInfo]:
    """Yield the files of an open folder whose names begin with `prefix` and are `listed`.

    `path` is the name of the folder, with a `/` at its end. Other files than `measured` ones have
    the size 0 and no time.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            name = path + entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    if is_name(name) and f"{name}/".startswith(prefix[: len(name) + 1]):
                        below = os.open(entry.name, FOLDER | os.O_NOFOLLOW, dir_fd=folder)
                        try:
                            yield from walk_folder(below, f"{name}/", prefix, listed, measured)
                        finally:
                            os.close(below)
                elif (
                    name.startswith(prefix)
                    and listed(name)
                    and entry.is_file(follow_symlinks=False)
                ):
                    if measured(name):
                        status = entry.stat(follow_symlinks=False)
                        yield ObjectInfo(name, status.st_size, status.st_mtime_ns // 1_000_000)
                    else:
                        yield ObjectInfo(name, 0, None)
            except FileNotFoundError:
                continue  # it was removed meanwhile
