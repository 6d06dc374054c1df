"""Threads that wait a while for more work, because starting one costs more than a small request.

A thread that starts in a busy process waits for its turn several times, and its starter with it.
The threads belong to the process. A forked process has none of them and starts its own.

Spec: docs/spec/store.md#side-by-side
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

IDLE_S = 30.0
"""How long a thread without work waits before it ends."""

_Box = SimpleQueue[Callable[[], None]]


class Threads:
    """Runs any number of works at once. Ends a thread that has had no work for `idle_s` seconds."""

    def __init__(self, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._over = False
        self._forget()
        os.register_at_fork(after_in_child=self._forget)
        # Python then stops these threads wherever they are, and their work would never end.
        atexit.register(self._end)

    def run(self, work: Callable[[], None]) -> None:
        """Run work in another thread. Requires that it does not raise.

        Raises RuntimeError if no thread can be started, as at the end of the process.
        """
        with self._lock:
            if self._over:
                raise RuntimeError("The process is ending.")
            box = self._idle.pop() if self._idle else None
        if box is not None:
            box.put(work)
            return
        box = SimpleQueue()
        box.put(work)
        threading.Thread(
            target=self._serve, args=(box,), name="colonnade-store", daemon=True
        ).start()

    def _serve(self, box: _Box) -> None:
        while True:
            try:
                box.get(timeout=self._idle_s)()
            except Empty:
                with self._lock:
                    if box in self._idle:
                        self._idle.remove(box)
                        return
                continue  # work is on its way
            with self._lock:
                self._idle.append(box)

    def _forget(self) -> None:
        """Begin without threads. A lock that another thread of a forking process held is lost."""
        self._lock = threading.Lock()
        self._idle: list[_Box] = []

    def _end(self) -> None:
        with self._lock:
            self._over = True


THREADS = Threads()
"""The threads of this process."""
