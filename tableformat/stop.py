"""Asking work that runs on other threads, or elsewhere, to end before it is done."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from threading import Lock

_log = logging.getLogger(__name__)


class Stop:
    """Has work end soon; made for one run of it, and safe to use by several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requested = False
        self._told: list[Callable[[], object]] = []

    def request(self) -> None:
        """Have `check` raise from now on, and tell those that asked for it by `telling`."""
        with self._lock:
            self._requested = True
            told, self._told = self._told, []
        for tell in told:
            try:
                tell()
            except Exception:
                # That work then ends when it is done; all other must still be told.
                _log.warning("Work that runs elsewhere could not be stopped.", exc_info=True)

    def check(self) -> None:
        """What work calls between its steps. Raises CancelledError once a stop is requested."""
        if self._requested:
            raise CancelledError

    @contextmanager
    def telling(self, tell: Callable[[], object]) -> Iterator[None]:
        """Have `tell` called by the thread that requests a stop during this block.

        Raises CancelledError where that was before.
        """
        with self._lock:
            self.check()
            self._told.append(tell)
        try:
            yield
        finally:
            with self._lock:
                self._told = [each for each in self._told if each is not tell]
