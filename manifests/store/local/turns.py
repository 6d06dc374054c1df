"""Turns among the processes of one machine: an advisory lock of the operating system on a folder.

The lock leaves no file behind, and ends with its process, however the process ends. No promise of
the store depends on it: a file system without such locks, or one that loses them, does no harm.

Writers leave lines for each other in two files of the folder: notes for the writer that has the
turn, and statements of that writer. A lost line does no harm: its writer gets the turn later.

A writer that has left a note sleeps until it is woken: by the writer that has taken its note, or
because the turn is free. A writer that has left no note, or cannot be woken, tries the lock at
short intervals.

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
from colonnade.manifests.store.waking import Listener, is_name, wake

_NOTES, _STATEMENTS = f".tmp-{0:016x}-notes", f".tmp-{0:016x}-statements"
"""The files of the lines. Vacuum removes them when old: their names are of unfinished objects."""

_NOTES_BYTES = 2**22
"""The size at which no note is added. It bounds the file where no writer takes the notes."""

_STATEMENTS_BYTES = 2**13
"""The size at which the file of statements begins anew."""

_TRY_S = 0.001
"""The mean interval between two tries of a lock, in seconds."""

_AWAITED_S, _COUNT_S = 0.003, 0.001
"""How long the writer with the turn waits for notes, and the interval at which it counts them."""

_READ_AHEAD = 2**16
"""The bytes of lines that a read expects beyond the size of a file, because writers add more."""

_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

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
        """Give back the turn of this thread, if it has one and does not hold it."""
        if not self._mine.held:
            self._mine.give_back()


class _FolderTurn(Turn):
    """A turn of one thread."""

    loses_notes = True

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._file: int | None = None
        self._has = False
        self._noted = False
        self._listener: Listener | None = None
        # The listeners of the notes that this writer has taken, until they are woken.
        self._taken: list[bytes] = []

    def take(self, wait_s: float) -> bool:
        if self._has:
            return True
        if wait_s <= 0:
            return self._try()
        if self._listener is not None:
            # The writer with the turn wakes only listeners whose notes it finds. If it did not find
            # the note of this writer, the turn is free by now.
            if self._try():
                return True
            self._listener.wait(wait_s)
            # Who is woken looks for a statement first, and tries the lock at the next call.
            return False
        if self._noted:
            # The writer with the turn probably takes the note, so one try is enough.
            time.sleep(random.uniform(0.5, 1) * wait_s)
            return self._try()
        end = time.monotonic() + wait_s
        while (left := end - time.monotonic()) > 0:
            # A random interval, so that no writer is always later than another one.
            time.sleep(min(left, random.uniform(0.5, 1.5) * _TRY_S))
            if self._try():
                return True
        return False

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
        self._stop_listening()
        if self._file is None:
            return
        with suppress(OSError):
            # A process that was forked meanwhile has the same open file, and with it the lock.
            fcntl.flock(self._file, fcntl.LOCK_UN)
        if self._has:
            self._wake_next()
        os.close(self._file)
        self._file, self._has = None, False

    def _stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def _wake_next(self) -> None:
        """Wake a writer whose note was not taken, so that it takes the turn and the other notes.

        Writers whose notes were taken in vain are woken, too.
        """
        self._wake_taken()
        for line in self._read(_NOTES, empty=False).splitlines():
            if (name := _listener_of(line)) and wake(name):
                return

    def _wake_taken(self) -> None:
        for name in self._taken:
            wake(name)
        self._taken = []

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

    def hold(self) -> None:
        self.held = True

    def leave(self, note: bytes) -> bool:
        if self._listener is None:
            with suppress(OSError):
                self._listener = Listener()
        name = self._listener.name + b" " if self._listener else b""
        self._noted = self._append(_NOTES, name + note, _NOTES_BYTES, anew=False)
        if not self._noted:
            self._stop_listening()
        self.wakes = self._listener is not None
        return self._noted

    def await_notes(self, count: int) -> None:
        end = time.monotonic() + _AWAITED_S
        while count > 0 and self._read(_NOTES, empty=False).count(b"\n") < count:
            # On a busy machine the first sleep takes longer than all of them should.
            if time.monotonic() >= end:
                break
            time.sleep(_COUNT_S)

    def collect(self) -> bytes:
        notes = []
        for line in self._read(_NOTES, empty=True).splitlines(keepends=True):
            if name := _listener_of(line):
                self._taken.append(name)
                line = line[len(name) + 1 :]
            notes.append(line)
        return b"".join(notes)

    def state(self, lines: bytes) -> None:
        self._append(_STATEMENTS, lines, _STATEMENTS_BYTES, anew=True)
        self._wake_taken()

    def stated(self) -> bytes:
        return self._read(_STATEMENTS, empty=False)

    def _append(self, name: str, lines: bytes, limit: int, *, anew: bool) -> bool:
        """Add lines to a file. Returns False if they are certainly not there.

        From `limit` bytes on, the file begins `anew`, or nothing is added.
        """
        try:
            if self._file is None:
                return False
            file = os.open(name, _APPEND, 0o666, dir_fd=self._file)
        except OSError:
            return False
        try:
            if os.fstat(file).st_size >= limit:
                if not anew:
                    return False
                os.ftruncate(file, 0)
            # One call, which adds the lines at the end whatever other writers add meanwhile.
            os.write(file, lines)
        except OSError:
            return True
        finally:
            os.close(file)
        return True

    def _read(self, name: str, *, empty: bool) -> bytes:
        try:
            if self._file is None:
                return b""
            file = os.open(name, _READ, dir_fd=self._file)
        except OSError:
            return b""
        try:
            found = os.read(file, os.fstat(file).st_size + _READ_AHEAD)
            if found and empty:
                os.ftruncate(file, 0)
            return found
        except OSError:
            return b""
        finally:
            os.close(file)


def _listener_of(line: bytes) -> bytes:
    """Return the name of the listener of a note's writer, or nothing."""
    name, _, _ = line.partition(b" ")
    return name if is_name(name) else b""
