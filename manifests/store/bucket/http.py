"""HTTP by the package requests, as the clients of GCS, Azure and HDFS use it.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from collections.abc import Callable

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import MaxRetryError, NewConnectionError

from colonnade.manifests.store.bucket.requests import CheckSize


def session(connections: int) -> requests.Session:
    """Return a pool of connections that repeats no request and reads no file .netrc."""
    made = requests.Session()
    # Without this, a file .netrc would replace the credentials.
    made.auth = lambda request: request
    for scheme in ("http://", "https://"):
        made.mount(scheme, HTTPAdapter(pool_maxsize=connections, max_retries=0))
    return made


def body_of(answer: requests.Response) -> bytes:
    """Return the body of an answer. Raises: ConnectionError if it is shorter than it says."""
    body: bytes = answer.content
    said = answer.headers.get("Content-Length")
    if said is not None and "Content-Encoding" not in answer.headers and int(said) != len(body):
        raise ConnectionError("The answer was cut.")
    return body


def whole_body(check: CheckSize) -> Callable[[requests.Response], bytes]:
    """Return a reader of a whole body, after `check` has seen its size. Raises as `body_of`."""

    def take(answer: requests.Response) -> bytes:
        check(int(answer.headers.get("Content-Length", 0)))
        return body_of(answer)

    return take


def part_body(length: int) -> Callable[[requests.Response], bytes | None]:
    """Return a reader of a body of `length` bytes; None for any other body. Raises as `body_of`."""

    def take(answer: requests.Response) -> bytes | None:
        said = answer.headers.get("Content-Length")
        if said is not None and int(said) != length:
            return None
        found = body_of(answer)
        return found if len(found) == length else None

    return take


def is_unconnected(error: Exception) -> bool:
    """Return whether no connection to the server could be made."""
    first = error.args[0] if error.args else None
    return isinstance(first, MaxRetryError) and isinstance(first.reason, NewConnectionError)
