"""Turns among the processes of one machine: an advisory lock of the operating system on a folder.

The system gives the lock to waiting processes in about the order of their arrival. The lock leaves
no file behind, and ends with its process, however the process ends. No promise of the store depends
on it: a file system without such locks, or one that loses them, does no harm.

Spec: docs/spec/store.md#turns
"""

from __future__ import annotations

import fcntl
import os
import threading
from contextlib import suppress

from colonnade.manifests.store.base import Turn

_STUCK: set[str] = set()
"""Folders whose lock a thread of this process still waits for, after its turn was given back."""


class Turns(threading.local):
    """The turns of a store. A thread has at most one turn, and can end it without a reference."""

    _mine: Turn = Turn()

    def begin(self, folder: str) -> Turn:
        """Return a new turn of this thread.

        The turn does not wait if an earlier turn on the folder was given back without its lock.
        """
        self._mine = Turn() if folder in _STUCK else _FolderTurn(folder)
        return self._mine

    def end(self) -> None:
        """Give back the turn of this thread, if it has one."""
        self._mine.give_back()


class _FolderTurn(Turn):
    """A turn of one thread. If the lock is not free, another thread waits for it meanwhile."""

    ordered = True

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._file: int | None = None
        self._free = threading.Event()
        self._over = False
        # Held while the two threads decide which of them closes the file.
        self._closing = threading.Lock()

    def take(self, wait_s: float) -> bool:
        if self._file is None and not self._free.is_set():
            self._begin()
        return self._free.wait(wait_s)

    def give_back(self) -> None:
        with self._closing:
            if self._free.is_set():
                self._close()
            elif self._file is not None:
                _STUCK.add(self._folder)
            self._over = True

    def _begin(self) -> None:
        try:
            self._file = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with suppress(RuntimeError):  # no thread can be started: writers then have no order
                threading.Thread(target=self._wait, daemon=True).start()
                return
        except OSError:
            pass  # no such folder, or no such locks: writers have no order, and none has to wait
        self._free.set()

    def _wait(self) -> None:
        assert self._file is not None
        with suppress(OSError):
            fcntl.flock(self._file, fcntl.LOCK_EX)
        with self._closing:
            self._free.set()
            if self._over:
                self._close()
                _STUCK.discard(self._folder)

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                # A process that was forked meanwhile has the same open file, and with it the lock.
                fcntl.flock(file, fcntl.LOCK_UN)
            os.close(file)
