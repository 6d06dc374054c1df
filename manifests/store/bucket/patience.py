"""The one place that repeats requests to a bucket, and that stops asking a server that is silent.

The client below repeats nothing. A commit that a client sends again on its own meets its first try
and is reported as another's.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from colonnade.manifests.store.bucket.failure import Failure

T = TypeVar("T")

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0
_REST_S = 5.0
"""How long no request is sent to a server that has not answered for the whole patience."""


class Patience:
    """Repeats what may pass, for `patience_s` seconds a call. Threads may share it.

    All requests to one server share one, because it remembers whether that server is silent.
    """

    def __init__(self, patience_s: float) -> None:
        self.patience_s = patience_s
        self.pause: Callable[[float], None] = time.sleep
        self.is_spent = False
        """Whether its credentials are missing or over, so that a new client looks for new ones."""
        # When the server began to leave requests unanswered, and when it last did.
        self._silent_since: float | None = None
        self._silent_at = 0.0
        self._last: Failure | None = None

    def once(self, request: Callable[[], T], classify: Callable[[Exception], Failure | None]) -> T:
        """Make one request, once. `classify` returns None for an error that is not of a request.

        Raises: Failure; the other errors of `request`.
        """
        self._check_alive()
        began, handled = time.monotonic(), sys.exc_info()[1]
        try:
            answer = request()
        except Exception as error:
            _forget(handled, error)
            failure = classify(error)
            if failure is None:
                raise
            self._record(began, failure)
            self.is_spent |= failure.bare
            raise failure from error
        self._silent_since = None
        return answer

    def call(self, attempt: Callable[[], T], location: str, verb: str) -> T:
        """Make a request that may be repeated without harm, until it succeeds or patience ends.

        Raises: NotFoundError, StoreError about the object at `location`, which was not `verb`.
        """
        try:
            return self.patiently(attempt)
        except Failure as failure:
            raise failure.translate(location, verb) from failure.error

    def patiently(self, attempt: Callable[[], T]) -> T:
        """Repeat an attempt whose failure may pass, with growing pauses of random length.

        Raises: the Failure of the last attempt. It has `arrived` if one of the attempts has.
        """
        end = time.monotonic() + self.patience_s
        longest, arrived = FIRST_PAUSE_S, False
        while True:
            try:
                return attempt()
            except Failure as failure:
                arrived = failure.arrived = arrived or failure.arrived
                # Clients that were refused together must not return together.
                pause = longest * random.uniform(0.1, 1)
                if not failure.passing or time.monotonic() + pause > end or self._is_silent():
                    raise
            self.pause(pause)
            longest = min(2 * longest, LONGEST_PAUSE_S)

    def _record(self, began: float, failure: Failure) -> None:
        if failure.status is not None:
            self._silent_since = None
            return
        if not failure.silent:
            return
        if self._silent_since is None:
            self._silent_since = began
        self._silent_at, self._last = time.monotonic(), failure

    def _is_silent(self) -> bool:
        since = self._silent_since
        return since is not None and self._silent_at - since >= self.patience_s

    def _check_alive(self) -> None:
        """Fail at once where the server has not answered for long, and did not a moment ago.

        Without this, a commit that asks a dead server in vain eight times would take minutes.
        """
        last = self._last
        if last is not None and self._is_silent() and time.monotonic() - self._silent_at < _REST_S:
            raise replace(last, arrived=False, passing=True)


def _forget(handled: BaseException | None, error: BaseException) -> None:
    """Cut off an error that was already being handled when the request of `error` began.

    Python chains the two, and the status of the earlier one says nothing about this request.
    """
    each: BaseException | None = error
    while each is not None:
        if each.__context__ is handled:
            each.__context__ = None
        each = each.__context__
