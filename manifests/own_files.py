"""Files outside of databases that Colonnade opens by a name that others can know.

Another user could put a link there, or own the folder. So no link is followed, no file is emptied
when it is opened, and a folder that this user does not control alone is refused.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from colonnade.manifests.errors import InvalidInputError, StoreError


def open_own(path: str | os.PathLike[str], flags: int) -> int:
    """Open a file that is this user's, and return its descriptor. `O_CREAT` makes it if absent.

    `flags` have no `O_TRUNC`. The call waits for no pipe. Raises OSError that says why for a link,
    for what is not a file, and for a file of another user.
    """
    assert not flags & os.O_TRUNC
    file = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        reason = "it is no file"
    elif status.st_uid != os.geteuid():
        reason = f"it belongs to another user (uid {status.st_uid})"
    else:
        return file
    os.close(file)
    raise OSError(errno.EPERM, reason, os.fspath(path))


def require_own_folder(path: str) -> None:
    """Require that a folder is this user's, and that no other user can write to it.

    Raises OSError whose `strerror` says why and what to do; FileNotFoundError if it is absent.
    """
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        reason = f"{path} is a link; name the folder itself"
    elif not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    elif status.st_uid != os.geteuid():
        reason = f"{path} belongs to another user (uid {status.st_uid}); name another folder"
    elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        reason = f"other users can write to {path}; run chmod go-w on it"
    else:
        return
    raise OSError(errno.EPERM, reason, path)


def new_file_beside(path: str | os.PathLike[str]) -> tuple[int, str]:
    """Make a new file in the folder of `path`, with a random name.

    Returns its descriptor and its path. It has the permissions of other new files of this user.
    Raises OSError.
    """
    folder, name = os.path.split(os.path.abspath(path))
    file, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
    mask = os.umask(0)
    os.umask(mask)
    os.fchmod(file, 0o666 & ~mask)
    return file, temporary


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file to write, which replaces the file at `path` when the block ends without error.

    Devices and pipes are written directly. Raises InvalidInputError for a link to a file: another
    user may have put it there. Raises StoreError that names the path.
    """
    try:
        if path.exists() and not path.is_file():
            with open(os.open(path, os.O_WRONLY | os.O_CLOEXEC), "wb") as device:
                yield device
        elif path.is_symlink():
            raise InvalidInputError(
                f"{path} is a link to {os.path.realpath(path)}; name that file itself."
            )
        else:
            with _replacing_file(path) as file:
                yield file
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(f"{path} could not be written: {reason}.") from error


@contextmanager
def _replacing_file(path: Path) -> Iterator[IO[bytes]]:
    handle, temporary = new_file_beside(path)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
