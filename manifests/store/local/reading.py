"""Objects on local disk that are open for reading, and bytes out of them.

Spec: docs/spec/store.md#local-disk
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from colonnade.manifests.errors import NotFoundError, StoreError
from colonnade.manifests.store.checks import check_name, truncated
from colonnade.manifests.store.local.first_epoch import FirstEpoch
from colonnade.manifests.store.local.folders import LocalFolders, failed

# For folders on the way to an object. With O_PATH, search permission is enough.
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
# O_NONBLOCK: opening a stray named pipe must fail its check below instead of hanging.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class OpenObject(NamedTuple):
    """An object's file descriptor, its size in bytes, and when it was last written."""

    location: str
    file: int
    size: int
    modified_ns: int

    def read(self, offset: int, length: int) -> bytes:
        """Return a range of the bytes. Raises: CorruptionError if the object ends before."""
        data = os.pread(self.file, length, offset)
        while len(data) < length:  # one call reads at most 2 GiB
            more = os.pread(self.file, length - len(data), offset + len(data))
            if not more:
                raise truncated(self.location, offset + len(data), offset, length)
            data += more
        return data

    def read_into(self, buffer: memoryview, offset: int) -> None:
        """Fill a buffer from an offset on. Raises: CorruptionError if the object ends before."""
        done = 0
        while done < len(buffer):  # one call reads at most 2 GiB
            count = os.preadv(self.file, [buffer[done:]], offset + done)
            if not count:
                raise truncated(self.location, self.size, offset, len(buffer))
            done += count


@contextmanager
def opened(folders: LocalFolders, name: str, first_epoch: FirstEpoch) -> Iterator[OpenObject]:
    """Open an object for a block. `first_epoch` records which log an epoch is of.

    Raises: InvalidInputError; NotFoundError; StoreError, also for an OSError of the block.
    """
    check_name(name)
    location = folders.locate(name)
    try:
        folder, leaf = folders.enter(name, flags=_PASS)
        try:
            file = os.open(leaf, _READ, dir_fd=folder)
            first_epoch.record(folder, name)
        finally:
            os.close(folder)
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise StoreError(f"{location} is not a regular file; move it away.")
            yield OpenObject(location, file, status.st_size, status.st_mtime_ns)
        finally:
            os.close(file)
    except FileNotFoundError as error:
        raise NotFoundError(f"{location} does not exist.") from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            # The name may come from a table's name, which may be longer than a file's name.
            raise NotFoundError(f"{location} cannot exist: its name is too long.") from error
        raise failed(location, "read", error) from error
