"""Where the jobs of long work run: on threads of this process, or on other machines.

A job is a plain value; running it again does no harm. A `Workplace` runs jobs side by side, and a
`Stop` asks the jobs that are running to end before they are done.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

_log = logging.getLogger(__name__)


Job = TypeVar("Job")
Outcome = TypeVar("Outcome")


class Stop:
    """Asks one run of some work to end soon. Several threads may use it."""

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


@dataclass(frozen=True, slots=True)
class Workplace(Generic[Job, Outcome]):
    """A place that runs jobs of one kind, at most `workers` at once.

    `run` does one job and returns its outcome. Several threads call it. Once a stop is requested
    it ends soon, by an error.
    """

    run: Callable[[Job, Stop], Outcome]
    workers: int

    def telling(self, done: Callable[[Job], object]) -> Workplace[Job, Outcome]:
        """The same place, which calls `done` with each job that has ended well."""

        def run(job: Job, stop: Stop) -> Outcome:
            outcome = self.run(job, stop)
            done(job)
            return outcome

        return Workplace(run, self.workers)
