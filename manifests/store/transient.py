"""Errors of a store that may pass: which they are, and trying again.

An error is judged here once, where it leaves the store. Whoever reads a cache gives it up for
damage only, so that one busy answer does not cost a replay of the whole log.

Spec: docs/spec/store.md#errors-that-may-pass
"""

from __future__ import annotations

import asyncio
import errno
import functools
import random
from collections.abc import Callable, Iterator
from typing import Concatenate, ParamSpec, TypeVar

from colonnade.manifests.errors import StoreError
from colonnade.manifests.store.base import ObjectStore

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound=ObjectStore)

FIRST_PAUSE_S = 0.05
"""The longest first pause between two tries, in seconds; each further one may be twice as long."""

PASSING = {
    errno.EAGAIN,
    errno.EBUSY,
    errno.EINTR,
    errno.EMFILE,
    errno.ENFILE,
    errno.ESTALE,
    errno.ETIMEDOUT,
}
"""Numbers of errors of the operating system that may pass, on local disk too."""

_PASSING_FAR = PASSING | {
    errno.ECONNABORTED,
    errno.ECONNREFUSED,
    errno.ECONNRESET,
    errno.EHOSTUNREACH,
    errno.EIO,  # what s3fs makes of an answer that it does not know; of a disk it is a bad sector
    errno.ENETDOWN,
    errno.ENETRESET,
    errno.ENETUNREACH,
    errno.EPIPE,
    getattr(errno, "EREMOTEIO", errno.EIO),
}
_PASSING_STATUS = {408, 425, 429, 500, 502, 503, 504, 509, 529}
# Their packages may not be installed, so the classes of clients are known by name.
_PASSING_CLASSES = {
    "ChunkedEncodingError",  # requests
    "ClientConnectionError",  # aiohttp
    "ClientPayloadError",
    "ConnectTimeout",  # requests, httpx
    "ConnectionClosedError",  # botocore
    "ConnectionError",  # requests: no ConnectionError of Python
    "EndpointConnectionError",
    "IncompleteRead",  # http.client, urllib3
    "IncompleteReadError",
    "ProtocolError",  # urllib3
    "ReadTimeout",
    "ReadTimeoutError",
    "ResponseStreamingError",
    "ServiceRequestError",  # azure
    "ServiceResponseError",
    "TransportError",  # google.auth, httpx
}


def may_pass(error: BaseException) -> bool:
    """Whether an error of a network file system, of any class, is one that may pass.

    An HTTP status decides where the error or one of its causes has one. Otherwise so do classes
    and numbers of errors: a time-out, a reset and a busy server pass, a refusal does not.
    """
    causes = list(_causes(error))
    statuses = [status for each in causes if (status := _status(each)) is not None]
    if statuses:
        return statuses[0] in _PASSING_STATUS
    return any(
        isinstance(each, TimeoutError | asyncio.TimeoutError | ConnectionError)
        or (isinstance(each, OSError) and each.errno in _PASSING_FAR)
        or not _PASSING_CLASSES.isdisjoint(kind.__name__ for kind in type(each).__mro__)
        for each in causes
    )


def retried(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """A method of a store that is called again where it fails and the failure may pass.

    At most `store.tries` calls are made, with pauses of random length in between. Raises what the
    last of them raises. Requires: to call the method again does no harm.
    """

    @functools.wraps(method)
    def call(store: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        for attempt in range(1, store.tries):
            try:
                return method(store, *args, **kwargs)
            except StoreError as error:
                if not error.retryable:
                    raise
            # The length is random, so that those who were refused together do not return together.
            store.pause(FIRST_PAUSE_S * 2 ** (attempt - 1) * random.uniform(0.5, 1))
        return method(store, *args, **kwargs)

    return call


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error, and what led to it; the nearest first, at most eight."""
    each: BaseException | None = error
    for _ in range(8):
        if each is None:
            return
        yield each
        each = each.__cause__ or each.__context__


def _status(error: BaseException) -> int | None:
    """The HTTP status that an error of a client carries."""
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
