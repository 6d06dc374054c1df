"""Which log a folder holds: a store tells the log that it has read from one that replaced it.

Spec: docs/spec/store.md#local-disk
"""

from __future__ import annotations

import os
from typing import NamedTuple

from colonnade.manifests.object_names import epoch_name, epoch_number
from colonnade.manifests.store.checks import no_log


class FileIdentity(NamedTuple):
    """What tells two files of the same name apart."""

    device: int
    inode: int
    modified_ns: int


class FirstEpoch:
    """The identity of epoch 0's file when a store first read an epoch. Threads may share it."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._known: FileIdentity | None = None

    def record(self, folder: int, name: str) -> None:
        """Remember the log in an open folder if `name` is an epoch in it, unless a log is known."""
        if self._known is None and epoch_number(name) is not None:
            self._known = identity_in(folder)

    def forget(self) -> None:
        """Know no log, because the store makes a new one."""
        self._known = None

    def check(self, folder: int) -> None:
        """Raise NotFoundError if an open folder holds no log, or another one than is known."""
        found = identity_in(folder)
        if found is None or self._known not in (None, found):
            raise no_log(self._root)


def identity_in(folder: int) -> FileIdentity | None:
    """Return the identity of epoch 0's file in an open log folder; None if there is none."""
    try:
        leaf = epoch_name(0).rpartition("/")[2]
        status = os.stat(leaf, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return FileIdentity(status.st_dev, status.st_ino, status.st_mtime_ns)
