"""Make independent calls side by side, or one ahead of its use; a bounded number at once.

Spec: docs/spec/store.md#side-by-side
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


def side_by_side(calls: Sequence[Callable[[], T]], width: int) -> list[T]:
    """Make calls, at most `width` at once, and return their results in the given order.

    With a width of 1, the calls are made one after another in this thread. Raises the first error
    of the given order. Calls that have not begun by then are not made. A call must do no harm when
    it is made twice: when the process cannot start another thread, this thread makes all calls
    whose result is open, and one of these may be under way in the pool.
    """
    width = min(width, len(calls))
    if width <= 1:
        return [call() for call in calls]
    with ThreadPoolExecutor(width, "colonnade-store") as pool:
        made: list[Future[T]] = []
        try:
            # At the end of the process no thread can be started any more, but work may be left.
            with suppress(RuntimeError):
                made += (pool.submit(call) for call in calls)
            done = [each.result() for each in made]
            return done + [call() for call in calls[len(done) :]]
        finally:
            pool.shutdown(cancel_futures=True)


def one_ahead(calls: Sequence[Callable[[], T]]) -> Iterator[T]:
    """Yield the results of calls in the given order. Holds at most two results.

    While the caller uses a result, the next call is made in another thread. Raises the error of a
    call in its place. When the caller stops early, it waits for a call that has begun.
    """
    if not calls:
        return
    result = calls[0]()
    if len(calls) == 1:
        yield result
        return
    with ThreadPoolExecutor(1, "colonnade-ahead") as pool:
        for call in calls[1:]:
            following = pool.submit(call)
            yield result
            del result
            result = following.result()
        yield result
