"""Short lives of one table: processes that work on one store in memory, one call at a time.

Before each call of its store, a process passes the turn to another one, and may be killed.
Everything is drawn from one seed.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from typing import Protocol

from colonnade.manifests.errors import ColonnadeError, CorruptionError
from colonnade.manifests.store import MemoryStore
from tests.faults import Stopped
from tests.simulation.seeded import seeded
from tests.simulation.turns import Turns

PROCESSES = 3


class Worker(Protocol):
    """One process."""

    def work(self) -> None:
        """Do one piece of work."""

    def read(self) -> None:
        """Compare what it reads with the model. Raises AssertionError."""


class Life(ABC):
    """One life: its processes do `pieces` of work.

    A piece of work may fail, but never because of damage: nothing is damaged here.
    """

    def __init__(self, seed: int, pieces: int) -> None:
        self.order = random.Random(seed)
        self._turns = Turns(lambda ready, last: self.order.choice(ready))
        self._kill_rate = self.order.choice((0.0, 0.0, 0.005))
        self._left = pieces
        self.shared = MemoryStore()

    @abstractmethod
    def begin(self) -> None:
        """Make the table."""

    @abstractmethod
    def worker(self) -> Worker:
        """Start a process."""

    def meet(self) -> None:
        """Pass the turn, and perhaps kill this process."""
        self._turns.pass_turn()
        if self.order.random() < self._kill_rate:
            raise Stopped("killed")

    def live(self) -> None:
        """Let all processes work, and then read some epochs. Raises AssertionError."""
        with seeded(self.order, {}):
            self.begin()
            self._turns.run([self._process] * PROCESSES)
            self._kill_rate = 0.0
            last = self.worker()
            for _ in range(6):
                last.read()

    def _process(self) -> None:
        while self._left > 0:
            try:
                process = self.worker()
                while self._left > 0:
                    self._left -= 1
                    try:
                        process.work()
                    except CorruptionError:
                        raise
                    except ColonnadeError:
                        continue
            except Stopped:
                continue
