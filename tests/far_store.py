"""A far store on a simulated clock: the cost of an operation in requests and rounds."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.store import MemoryStore, ObjectInfo, ObjectStore
from colonnade.manifests.store.object_store import PARALLEL, TRUST_S
from tests.faults import Call, FaultyStore

T = TypeVar("T")

PAGE = 1000
"""The most objects that one request lists or removes, as on S3."""


class FarStore(FaultyStore):
    """Counts requests (`trace`) and `rounds`: the requests that follow one another.

    Each request takes one round. Calls of `together` begin in the same round, as far as `parallel`
    allows, but run one after another in one thread. So every run gives the same numbers.
    """

    def __init__(self, inner: ObjectStore | None = None) -> None:
        super().__init__(inner or MemoryStore())
        self.parallel, self.trust_s = PARALLEL, TRUST_S
        self.files_are_cheap = False
        self.rounds = 0

    @contextmanager
    def counted(self) -> Iterator[Cost]:
        """A block whose requests are counted from zero. Yields the cost, complete at its end."""
        self.trace.clear()
        self.rounds, cost = 0, Cost()
        yield cost
        cost.calls, cost.rounds = [*self.trace], self.rounds

    def together(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        lanes, results = [self.rounds] * min(self.parallel, max(1, len(calls))), []
        try:
            for call in calls:
                self.rounds = heapq.heappop(lanes)
                try:
                    results.append(call())
                finally:
                    heapq.heappush(lanes, self.rounds)
        finally:
            self.rounds = max(lanes)
        return results

    def in_turn(self, calls: Sequence[Callable[[], T]]) -> Iterator[T]:
        """Make calls one after another, so that every run gives the same numbers."""
        return (call() for call in calls)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        found = [*self.inner.list(prefix)]
        for _ in range(0, max(1, len(found)), PAGE):
            self._call("list", prefix, lambda: None)
        return iter(found)

    def remove_many(self, names: Sequence[str]) -> dict[str, ColonnadeError]:
        failed: dict[str, ColonnadeError] = {}
        batches = [names[at : at + PAGE] for at in range(0, len(names), PAGE)]

        def remove(batch: Sequence[str]) -> None:
            inner = self.inner
            failed.update(self._call("remove_many", "", lambda: inner.remove_many(batch)))

        self.together([lambda batch=batch: remove(batch) for batch in batches])  # type: ignore[misc]
        return failed

    def remove_folder(self, name: str) -> None:
        """Do nothing: a bucket has no folders."""

    def _call(self, operation: str, name: str, effect: Callable[[], T]) -> T:
        self.rounds += 1
        return super()._call(operation, name, effect)


class Cost:
    """The cost of an operation."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.rounds = 0

    @property
    def requests(self) -> int:
        """The number of requests."""
        return len(self.calls)

    @property
    def operations(self) -> list[str]:
        """The operations, ordered by their beginning."""
        return [call.operation for call in self.calls]
