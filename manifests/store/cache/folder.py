"""Keep pieces in files of a folder on local disk, which processes of a machine share.

A file is `<folder>/pieces-1/<2 hex digits>/<30 hex digits>/<start>-<end>`. The digits name the
object, and the numbers are the first byte of the piece and the first byte after it. The file holds
`CLNP`, the CRC-32 of the piece (4 bytes, big-endian), and the piece. A file gets its name when it
is complete, and its date is its last use. A file with a wrong length or checksum counts as absent.
So a killed process, a full disk or a power cut costs nothing but a request to the store. Java reads
and writes the same files.

Guide: docs/cache.md#the-folder
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import re
import secrets
import shutil
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import Lock
from typing import NamedTuple

from colonnade.manifests.own_files import open_own, require_own_folder
from colonnade.manifests.store.cache.pieces import Piece

_log = logging.getLogger(__name__)

VERSION = "pieces-1"
_MAGIC = b"CLNP"
_HEADER = len(_MAGIC) + 4
_NAME = re.compile(r"(\d{1,18})-(\d{1,18})", re.ASCII)
_TOUCH_S = 60.0
"""A use within this time of the last one does not change the date of a file."""

_PAUSE_S = 60.0
"""After a failed write, for how long nothing is written, in seconds."""

_UNFINISHED_S = 3600.0
"""The age in seconds after which an unfinished file counts as left by a killed process."""

_EVICTING = Lock()
"""One thread of this process at a time looks at a whole folder.

A process drops its POSIX lock of a file when any of its threads closes the file.
"""


def _free_after_fork() -> None:
    # The thread that held the lock does not run in the new process.
    global _EVICTING
    _EVICTING = Lock()


os.register_at_fork(after_in_child=_free_after_fork)


class _File(NamedTuple):
    used: float
    path: str
    size: int


class FolderPieces:
    """Pieces in files below `folder`, up to about `limit` bytes; the ones used last stay.

    Thread-safe, and safe for any number of processes. The folder may pass the limit by a sixteenth
    for each process that writes to it. No method raises for a disk that fails, or for a folder that
    other users can change: it logs one warning a minute, and the store is asked instead.
    """

    def __init__(self, folder: str, limit: int) -> None:
        self._place = folder
        self._root = os.path.join(folder, VERSION)
        self._limit = limit
        self._lock = Lock()
        self._unchecked = limit  # The first write looks at the whole folder.
        self._resume = 0.0

    def check(self) -> None:
        """Warn, as a failed write does, if the folder cannot be used. Makes nothing."""
        place = self._place
        while not os.path.lexists(place):
            place = os.path.dirname(place)
        if not os.path.isdir(place):
            self._fail(NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)))
        elif not os.access(place, os.W_OK | os.X_OK):
            self._fail(PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
        else:
            self._is_own()

    def find(self, key: str, ranges: Sequence[tuple[int, int]]) -> list[Piece]:
        """Return the sound pieces of an object that meet (offset, length) ranges."""
        folder = self._folder(key)
        if not self._is_own():
            return []
        try:
            names = os.listdir(folder)
        except OSError:
            return []
        found = []
        for name in names:
            match = _NAME.fullmatch(name)
            if match is None:
                continue
            start, end = int(match[1]), int(match[2])
            if start < end and any(
                start < offset + length and offset < end for offset, length in ranges
            ):
                data = _load(os.path.join(folder, name), end - start)
                if data is not None:
                    found.append(Piece(start, data))
        return found

    def keep(self, key: str, piece: Piece) -> None:
        """Write a piece, and remove the oldest ones if the folder has become too large."""
        size = len(piece.data) + _HEADER
        if 4 * size > self._limit or time.monotonic() < self._resume:
            return
        folder = self._folder(key)
        path = os.path.join(folder, f".tmp-{secrets.token_hex(8)}")
        try:
            for own in (self._place, self._root):
                _make(own)
                require_own_folder(own)
            _make(folder)
            try:
                with open(open_own(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
                    file.write(_header(piece.data))
                    file.write(piece.data)
                os.rename(path, os.path.join(folder, f"{piece.start}-{piece.end}"))
            except BaseException:
                with suppress(OSError):
                    os.unlink(path)
                raise
        except FileNotFoundError:
            return  # Another process has just removed the folder, because it was empty.
        except OSError as error:
            self._fail(error)
            return
        self._count(size)

    def forget(self, key: str) -> None:
        """Remove all pieces of an object."""
        if self._is_own():
            shutil.rmtree(self._folder(key), ignore_errors=True)

    def _is_own(self) -> bool:
        """Return whether the folder is there, and no other user can change it. Warns if one can."""
        try:
            require_own_folder(self._place)
            require_own_folder(self._root)
        except FileNotFoundError:
            return False
        except OSError as error:
            self._fail(error)
            return False
        return True

    def _folder(self, key: str) -> str:
        return os.path.join(self._root, key[:2], key[2:])

    def _fail(self, error: OSError) -> None:
        """Stop writing for a while. Of threads that fail at once, only the first one warns."""
        with self._lock:
            if time.monotonic() < self._resume:
                return
            self._resume = time.monotonic() + _PAUSE_S
        _log.warning(
            "The cache in %s cannot be used (%s); objects are read from their store.",
            self._place,
            error.strerror,
        )

    def _count(self, size: int) -> None:
        with self._lock:
            self._unchecked += size
            if self._unchecked * 16 < self._limit:
                return
            self._unchecked = 0
        try:
            self._evict()
        except FileNotFoundError:
            return  # Another process has just removed the folder.
        except OSError as error:
            self._fail(error)

    def _evict(self) -> None:
        """Remove the files used least recently until nine tenths of the limit are left."""
        # One process at a time looks at the whole folder. Java has no other kind of lock.
        path = os.path.join(self._root, "lock")
        with _EVICTING, open(open_own(path, os.O_WRONLY | os.O_CREAT), "wb") as lock:
            try:
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            files = sorted(self._files())
            left = sum(file.size for file in files)
            if left <= self._limit:
                return
            for file in files:
                if left * 10 <= self._limit * 9:
                    break
                with suppress(OSError):
                    os.unlink(file.path)
                left -= file.size
                with suppress(OSError):
                    os.rmdir(os.path.dirname(file.path))

    def _files(self) -> Iterator[_File]:
        """Yield all pieces, and remove unfinished files of killed processes."""
        old = time.time() - _UNFINISHED_S
        for folder, _, names in os.walk(self._root):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    status = os.lstat(path)
                except OSError:
                    continue
                if _NAME.fullmatch(name):
                    yield _File(status.st_mtime, path, status.st_size)
                elif name.startswith(".tmp-") and status.st_mtime < old:
                    with suppress(OSError):
                        os.unlink(path)


def _make(folder: str) -> None:
    """Make a folder, and the folders above it that are absent, for this user alone."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        _make(os.path.dirname(folder))
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)


def _load(path: str, length: int) -> bytes | None:
    """Return the bytes of a piece, or None if its file is absent or not sound."""
    try:
        with open(open_own(path, os.O_RDONLY), "rb") as file:
            status = os.fstat(file.fileno())
            data = file.read() if status.st_size == length + _HEADER else b""
            if time.time() - status.st_mtime > _TOUCH_S:
                # A folder that this process may only read keeps the older date.
                with suppress(OSError):
                    os.utime(file.fileno())
    except FileNotFoundError:
        return None
    except OSError:
        data = b""
    body = memoryview(data)[_HEADER:]
    sound = len(body) == length and data[:_HEADER] == _header(body)
    if not sound:
        with suppress(OSError):
            os.unlink(path)
        return None
    return bytes(body)


def _header(data: bytes | memoryview) -> bytes:
    return _MAGIC + zlib.crc32(data).to_bytes(4, "big")
