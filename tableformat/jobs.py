"""Run the jobs of long work, on threads of this process or on other machines.

A job is a plain value, and running it again does no harm. A `JobRunner` runs jobs in parallel, and
`run_in_order` returns their outcomes. A `Stop` asks running jobs to end early.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from threading import Lock
from typing import Generic, TypeVar

import pyarrow as pa

_log = logging.getLogger(__name__)


Job = TypeVar("Job")
Outcome = TypeVar("Outcome")


class Stop:
    """A request to end some work soon. Safe for use by several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requested = False
        self._callbacks: list[Callable[[], object]] = []

    def request(self) -> None:
        """Request the stop: from now on `check` raises, and callbacks of `telling` are called."""
        with self._lock:
            self._requested = True
            callbacks, self._callbacks = self._callbacks, []
        for tell in callbacks:
            try:
                tell()
            except Exception:
                # That work then ends when it is done; the other callbacks must still be called.
                _log.warning("Work that runs elsewhere could not be stopped.", exc_info=True)

    def check(self) -> None:
        """Raise CancelledError once a stop is requested. Work calls this between its steps."""
        if self._requested:
            raise CancelledError

    @contextmanager
    def telling(self, tell: Callable[[], object]) -> Iterator[None]:
        """Call `tell` when a stop is requested during this block, on the thread that requests it.

        Raises CancelledError when a stop was requested before.
        """
        with self._lock:
            self.check()
            self._callbacks.append(tell)
        try:
            yield
        finally:
            with self._lock:
                self._callbacks = [each for each in self._callbacks if each is not tell]


@dataclass(frozen=True, slots=True)
class JobRunner(Generic[Job, Outcome]):
    """Runs jobs of one kind, at most `workers` at once.

    `run` does one job and returns its outcome. Several threads call it. Once a stop is requested,
    it ends soon with an error.
    """

    run: Callable[[Job, Stop], Outcome]
    workers: int


def run_in_order(
    runner: JobRunner[Job, Outcome], jobs: Iterable[Job], held: int | None = None
) -> Generator[Outcome, None, None]:
    """Run jobs, and yield their outcomes in the order of the jobs.

    Holds at most `held` outcomes and begun jobs; None means all. Raises the error of a job in its
    place. When a job fails, or the caller closes the iterator early (`contextlib.closing`), no
    further job begins, the running jobs are asked to stop, and the call waits for them.
    """
    stop = Stop()
    waiting: deque[Future[Outcome]] = deque()
    with ThreadPoolExecutor(runner.workers, "colonnade-job") as pool:
        try:
            for job in jobs:
                waiting.append(pool.submit(runner.run, job, stop))
                if len(waiting) == held:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BaseException:
            # Leaving the pool waits for all running jobs.
            stop.request()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


_MOST_THREADS = 4
"""Each thread of `computed` holds a block, and other tasks of the machine may work as well."""


def computed(run: Callable[[Job], Outcome], jobs: Iterable[Job]) -> Iterator[Outcome]:
    """Yield what a function without I/O makes of each job, in their order.

    Several jobs run in as many threads as Arrow uses (`pyarrow.cpu_count`), but at most four. Holds
    one job or outcome for each thread. The caller's thread takes the jobs.
    """
    waiting = iter(jobs)
    first, threads = [*islice(waiting, 2)], min(pa.cpu_count(), _MOST_THREADS)
    if len(first) < 2 or threads == 1:
        yield from map(run, chain(first, waiting))
        return
    runner: JobRunner[Job, Outcome] = JobRunner(lambda job, _: run(job), threads)
    with closing(run_in_order(runner, chain(first, waiting), held=threads)) as outcomes:
        yield from outcomes
