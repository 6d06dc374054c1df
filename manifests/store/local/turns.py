"""Turns among the processes of one machine: an advisory lock of the operating system on a folder.

The lock leaves no file behind, and ends with its process, however the process ends. No promise of
the store depends on it: a file system without such locks, or one that loses them, does no harm.

A writer that waits tries the lock at short intervals. It never waits in the system's queue for the
lock: a thread in that queue cannot be called off.

Spec: docs/spec/store.md#turns
"""

from __future__ import annotations

import fcntl
import os
import random
import threading
import time
from contextlib import suppress

from colonnade.manifests.store.local.files import is_there
from colonnade.manifests.store.turn import Turn

_TRY_S = 0.001
"""The mean interval between two tries of a lock, in seconds."""

_STUCK: set[str] = set()
"""Folders whose lock this process has waited for too long. It does not wait for them again."""


class Turns(threading.local):
    """The turns of a store. A thread has at most one turn, and can end it without a reference."""

    _mine: Turn = Turn()

    def begin(self, folder: str) -> Turn:
        """Return a new turn of this thread.

        The turn does not wait if an earlier turn on the folder was given up, until its lock is
        free.
        """
        self._mine = _FolderTurn(folder)
        if folder in _STUCK:
            if self._mine.take(0):
                _STUCK.discard(folder)
            else:
                self._mine.give_back()
                self._mine = Turn()
        return self._mine

    def end(self) -> None:
        """Give back the turn of this thread, if it has one."""
        self._mine.give_back()


class _FolderTurn(Turn):
    """A turn of one thread."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._file: int | None = None
        self._has = False

    def take(self, wait_s: float) -> bool:
        end = time.monotonic() + wait_s
        while not (self._has or self._try()):
            left = end - time.monotonic()
            if left <= 0:
                return False
            # A random interval, so that no writer is always later than another one.
            time.sleep(min(left, random.uniform(0.5, 1.5) * _TRY_S))
        return True

    def _try(self) -> bool:
        try:
            if self._file is None:
                self._file = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # no such folder, or no such locks: writers have no order, and none has to wait
        self._has = True
        return True

    def give_back(self) -> None:
        if self._file is None:
            return
        with suppress(OSError):
            # A process that was forked meanwhile has the same open file, and with it the lock.
            fcntl.flock(self._file, fcntl.LOCK_UN)
        os.close(self._file)
        self._file, self._has = None, False

    def give_up(self) -> None:
        _STUCK.add(self._folder)

    def may_exist(self, name: str) -> bool:
        folder, _, leaf = name.rpartition("/")
        if self._file is None or os.path.basename(self._folder) != folder:
            return True
        try:
            return is_there(self._file, leaf)
        except OSError:
            return True
