"""Transient errors of a store: tell them from lasting ones, and try again.

The store decides once, where an error leaves it, whether the error may pass. A reader then gives up
a cache only for damage, so one busy answer does not cost a replay of the whole log.

Spec: docs/spec/store.md#errors-that-may-pass
"""

from __future__ import annotations

import errno
import functools
import random
from collections.abc import Callable, Iterator
from typing import Concatenate, ParamSpec, TypeVar

from colonnade.manifests.errors import ColonnadeError, StoreError
from colonnade.manifests.store.object_store import ObjectStore

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound=ObjectStore)

FIRST_PAUSE_S = 0.05
"""The longest first pause between two tries, in seconds. Each later pause may be twice as long."""

PASSING = {
    errno.EAGAIN,
    errno.EBUSY,
    errno.EINTR,
    errno.EMFILE,
    errno.ENFILE,
    errno.ESTALE,
    errno.ETIMEDOUT,
}
"""The `errno` values of operating system errors that may pass, on local disk too."""

_PASSING_FAR = PASSING | {
    errno.ECONNABORTED,
    errno.ECONNREFUSED,
    errno.ECONNRESET,
    errno.EHOSTUNREACH,
    errno.EIO,  # s3fs raises it for an unknown answer; on a disk it means a bad sector
    errno.ENETDOWN,
    errno.ENETRESET,
    errno.ENETUNREACH,
    errno.EPIPE,
    getattr(errno, "EREMOTEIO", errno.EIO),
}
_PASSING_STATUS = {408, 425, 429, 500, 502, 503, 504, 509, 529}
# Clients may not be installed, so their classes are matched by name.
_PASSING_CLASSES = {
    "ChunkedEncodingError",  # requests
    "ClientConnectionError",  # aiohttp
    "ClientPayloadError",
    "ConnectTimeout",  # requests, httpx
    "ConnectionClosedError",  # botocore
    "ConnectionError",  # requests: not a subclass of Python's ConnectionError
    "EndpointConnectionError",
    "IncompleteRead",  # http.client, urllib3
    "IncompleteReadError",
    "ProtocolError",  # urllib3
    "ReadTimeout",
    "ReadTimeoutError",
    "ResponseStreamingError",
    "ServiceRequestError",  # azure
    "ServiceResponseError",
    "TimeoutError",  # of asyncio and concurrent.futures before Python 3.11
    "TransportError",  # google.auth, httpx
}


def may_pass(error: BaseException) -> bool:
    """Return whether an error of a network file system, of any class, may pass.

    If the error or one of its causes has an HTTP status, the status decides. Otherwise classes and
    `errno` values decide: a time-out, a reset or a busy server may pass, a refusal does not.
    """
    status = status_of(error)
    if status is not None:
        return status in _PASSING_STATUS
    return any(
        isinstance(each, TimeoutError | ConnectionError)
        or (isinstance(each, OSError) and each.errno in _PASSING_FAR)
        or not _PASSING_CLASSES.isdisjoint(kind.__name__ for kind in type(each).__mro__)
        for each in _causes(error)
    )


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status that an error or the nearest of its causes has, or None."""
    found = (_status(each) for each in _causes(error))
    return next((status for status in found if status is not None), None)


def retried(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Make a method of a store repeat itself when its failure may pass.

    The method is called at most `store.tries` times, with pauses of random length in between.
    Raises the error of the last call. Requires: repeating the call does no harm.
    """

    @functools.wraps(method)
    def call(store: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        for attempt in range(1, store.tries):
            try:
                return method(store, *args, **kwargs)
            except StoreError as error:
                if not error.retryable:
                    raise
            # The length is random, so that clients that were refused together do not return
            # together.
            store.pause(FIRST_PAUSE_S * 2 ** (attempt - 1) * random.uniform(0.5, 1))
        return method(store, *args, **kwargs)

    return call


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, nearest first, at most eight.

    They end before an error of ours, which an earlier call has raised and its caller now handles.
    """
    each: BaseException | None = error
    for _ in range(8):
        if each is None or (each is not error and isinstance(each, ColonnadeError)):
            return
        yield each
        each = each.__cause__ or each.__context__


def _status(error: BaseException) -> int | None:
    """Return the HTTP status that a client's error carries, or None."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):  # botocore
        found = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return found if isinstance(found, int) else None
    for holder in (error, response):
        for name in ("status", "status_code", "code"):
            found = getattr(holder, name, None)
            if isinstance(found, str) and found.isdecimal():
                found = int(found)
            if isinstance(found, int) and 400 <= found < 600:
                return found
    return None
