"""Make independent calls side by side, or one ahead of its use; a bounded number at once.

Spec: docs/spec/store.md#side-by-side
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Generic, TypeVar

from colonnade.manifests.store.threads import THREADS

T = TypeVar("T")


class _Calls(Generic[T]):
    """Calls that several threads make, each of them once and in the given order."""

    def __init__(self, calls: Sequence[Callable[[], T]]) -> None:
        self.results: list[Future[T]] = [Future() for _ in calls]
        self._left = deque(zip(calls, self.results, strict=True))

    def make(self) -> None:
        """Make calls until none is left, or until a call fails. Never raises."""
        while True:
            try:
                call, result = self._left.popleft()
            except IndexError:
                return
            try:
                result.set_result(call())
            except BaseException as error:
                result.set_exception(error)
                self.drop()

    def drop(self) -> None:
        """Make no call that has not begun."""
        self._left.clear()


def side_by_side(calls: Sequence[Callable[[], T]], width: int) -> list[T]:
    """Make calls, at most `width` at once, and return their results in the given order.

    The calling thread is one of the threads, and with a width of 1 it makes all calls. If the
    process cannot start a thread, the calling thread makes the calls of that thread, too. After an
    error, no call begins. Once all calls that have begun are over, raises the error of the first
    failed call in the given order.
    """
    width = min(width, len(calls))
    if width <= 1:
        return [call() for call in calls]
    shared = _Calls(calls)
    ended = [_run(shared.make) for _ in range(width - 1)]
    try:
        shared.make()
    finally:
        shared.drop()
        wait([each for each in ended if each is not None])
    return [result.result() for result in shared.results]


def one_ahead(calls: Sequence[Callable[[], T]]) -> Iterator[T]:
    """Yield the results of calls in the given order. Holds at most two results.

    While the caller uses a result, the next call is made in another thread. Raises the error of a
    call in its place. When the caller stops early, it waits for a call that has begun.
    """
    if not calls:
        return
    result = calls[0]()
    for call in calls[1:]:
        following = _Calls([call])
        ended = _run(following.make)
        try:
            yield result
            del result
        finally:
            if ended is None:
                following.make()
            else:
                wait([ended])
        result = following.results[0].result()
    yield result


def _run(work: Callable[[], None]) -> Future[None] | None:
    """Run work in another thread. Returns its end, or None if no thread can be started."""
    ended: Future[None] = Future()

    def run() -> None:
        try:
            work()
        finally:
            ended.set_result(None)

    with suppress(RuntimeError):
        THREADS.run(run)
        return ended
    return None
