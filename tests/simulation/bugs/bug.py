"""A planted mistake, and the search for a seed that finds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from unittest.mock import patch

from tests.faults import Fault
from tests.simulation.actors.every import ACTORS
from tests.simulation.run import simulate
from tests.simulation.world import Actor

Plant = Callable[[], AbstractContextManager[Any]]


UNKNOWN = (Fault.LOST_REQUEST, Fault.FAIL_AFTER, Fault.HIDDEN_RETRY, Fault.LATE)
"""Faults that leave the outcome of a commit unknown at first."""


def overlooks(module: ModuleType, check: str) -> Plant:
    """A comparison that finds no conflict."""
    return lambda: patch.object(module, check, lambda *_: None)


@dataclass(frozen=True)
class Bug:
    """A mistake, how to make it, and where it shows: how often outcomes get lost, who works.

    `long`: finding it takes longer than each push should. It must be found within `seeds`.
    """

    name: str
    plant: Plant
    rate: float = 0.0
    actors: Sequence[Actor] = ACTORS
    long: bool = False
    seeds: int = 500
    waits: bool = False
    far: bool = False
    keyed: bool = False
    ranged: bool = False

    def find(self, first: int = 0) -> int | None:
        """Return the first seed that finds it. The search tries `first` before all other seeds."""
        for seed in (first, *(seed for seed in range(self.seeds) if seed != first)):
            try:
                with self.plant():
                    simulate(
                        seed,
                        self.actors,
                        rate=self.rate,
                        faults=UNKNOWN,
                        waits=self.waits,
                        far=self.far,
                        keyed=self.keyed,
                        ranged=self.ranged,
                    )
            except AssertionError:
                return seed
        return None
