"""Threads that run one at a time; the simulation chooses which.

Code that knows nothing of it runs in each of them; wherever it calls `pass_turn`, another may go
on. So a run is told by the choices alone, and repeats exactly.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

Choose = Callable[[Sequence[int], int], int]
"""Picks who goes on: one of the numbers of those who are not done, told who ran last."""


class Aborted(BaseException):
    """Another thread failed, and this one unwinds."""


class Turns:
    """Runs functions side by side, one at a time. For one run."""

    def __init__(self, choose: Choose) -> None:
        self._choose = choose
        self._waiting: dict[int, threading.Semaphore] = {}
        self._running = -1
        self._done = threading.Semaphore(0)
        self._sleeping: dict[int, Callable[[], bool]] = {}
        self.failure: BaseException | None = None

    def run(self, works: Sequence[Callable[[], None]]) -> None:
        """Run all to their ends. Raises what the first of them that fails raises."""
        self._waiting = {number: threading.Semaphore(0) for number in range(len(works))}
        threads = [
            threading.Thread(target=self._work, args=(number, work), daemon=True)
            for number, work in enumerate(works)
        ]
        for thread in threads:
            thread.start()
        self._give()
        self._done.acquire()
        for thread in threads:
            thread.join()
        if self.failure is not None:
            raise self.failure

    def pass_turn(self) -> None:
        """Let the chosen thread run, and return when it is this thread's turn again."""
        me = self._running
        if me < 0:
            return
        if self.failure is not None:
            raise Aborted
        if self._give() != me:
            self._waiting[me].acquire()
            if self.failure is not None:
                raise Aborted

    def sleep(self, over: Callable[[], bool]) -> None:
        """Pass the turn until `over` is true, or all other processes are done or asleep."""
        if self._running >= 0:
            self._sleeping[self._running] = over
        self.pass_turn()

    def _give(self) -> int:
        last = self._running
        everybody = sorted(self._waiting)
        awake = [each for each in everybody if self._sleeping.get(each, lambda: True)()]
        chosen = self._running = self._choose(awake or everybody, last)
        self._sleeping.pop(chosen, None)
        if chosen != last:
            # From here on the other thread runs, and may have given the turn away again.
            self._waiting[chosen].release()
        return chosen

    def _work(self, number: int, work: Callable[[], None]) -> None:
        self._waiting[number].acquire()
        try:
            if self.failure is None:
                work()
        except Aborted:
            pass
        except BaseException as error:
            self.failure = self.failure or error
        del self._waiting[number]
        if self._waiting:
            self._give()
        else:
            self._running = -1
            self._done.release()
