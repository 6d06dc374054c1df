"""Requests to S3: one connection pool a process, and one place that repeats what may pass.

botocore repeats nothing here. A commit that a client sends again on its own meets its first try and
is reported as another's. So each call below is one request, and `patiently` alone makes several.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from botocore import xform_name
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
)
from botocore.session import Session

from colonnade.manifests.errors import InvalidInputError, StoreError
from colonnade.manifests.store.s3.failures import Failure, classify
from colonnade.manifests.store.s3.settings import S3Settings
from colonnade.manifests.store.transient import may_pass

T = TypeVar("T")

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0
_REST_S = 5.0
"""How long no request is sent to a server that has not answered for the whole patience."""

_SILENT = (ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError)

_clients: dict[tuple[int, str], S3Client] = {}
_clients_lock = threading.Lock()


def client_of(settings: S3Settings) -> S3Client:
    """Return the client of this process for some settings. A forked process gets its own."""
    key = os.getpid(), settings.identity
    found = _clients.get(key)
    if found is None:
        with _clients_lock:
            found = _clients.get(key) or S3Client(settings)
            _clients[key] = found
    return found


def _whole(answer: dict[str, Any]) -> Any:
    """Return an answer, with the bytes of its body, if it has one."""
    if "Body" in answer:
        with answer["Body"] as stream:
            answer["Body"] = stream.read()
    return answer


class S3Client:
    """Sends requests to one server. Threads may share it.

    Raises: InvalidInputError if botocore refuses the settings.
    """

    def __init__(self, settings: S3Settings) -> None:
        self.settings = settings
        self.pause: Callable[[float], None] = time.sleep
        try:
            session = Session(**settings.session)
            config = Config(**settings.config)
            self._sender = session.create_client("s3", config=config, **settings.client)
        except (BotoCoreError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"The storage options for S3 cannot be used ({type(error).__name__}); check key,"
                " secret, profile, endpoint_url, client_kwargs and config_kwargs."
            ) from error
        # When the server began to leave requests unanswered, and when it last did.
        self._silent_since: float | None = None
        self._silent_at = 0.0
        self._last: Failure | None = None

    @property
    def server(self) -> str:
        """The server's address, which tells two servers with equal names of buckets apart."""
        return str(self._sender.meta.endpoint_url)

    def send(
        self, operation: str, parameters: Mapping[str, Any], read: Callable[[Any], T] = _whole
    ) -> T:
        """Send one request, once, and return what `read` makes of its answer.

        `read` takes the body, so that a connection that breaks meanwhile is a failed request.
        Raises: Failure; the errors of `read`.
        """
        self._check_alive(operation)
        began = time.monotonic()
        try:
            method = getattr(self._sender, xform_name(operation))
            answer = read(method(**parameters, **self._payer(operation)))
        except Exception as error:
            # urllib3 and the sockets below it have errors of their own while a body is read.
            if not isinstance(error, BotoCoreError | ClientError) and not may_pass(error):
                raise
            failure = classify(operation, error)
            self._note(began, failure)
            raise failure from error
        self._silent_since = None
        return answer

    def _payer(self, operation: str) -> Mapping[str, Any]:
        """Return who pays. botocore refuses this parameter where an operation costs nothing."""
        shape = self._sender.meta.service_model.operation_model(operation).input_shape
        return self.settings.payer if "RequestPayer" in shape.members else {}

    def call(self, operation: str, location: str, verb: str, **parameters: Any) -> Any:
        """Send a request that may be repeated without harm, until it succeeds or patience ends.

        Raises: NotFoundError, StoreError about the object at `location`, which was not `verb`.
        """
        try:
            return self.patiently(lambda: self.send(operation, parameters))
        except Failure as failure:
            raise failure.translate(location, verb) from failure.error

    def patiently(self, attempt: Callable[[], T]) -> T:
        """Repeat an attempt whose failure may pass, with growing pauses of random length.

        Raises: the Failure of the last attempt.
        """
        end = time.monotonic() + self.settings.patience_s
        longest = FIRST_PAUSE_S
        while True:
            try:
                return attempt()
            except Failure as failure:
                # Clients that were refused together must not return together.
                pause = longest * random.uniform(0.1, 1)
                if not failure.passing or time.monotonic() + pause > end or self._is_silent():
                    raise
            self.pause(pause)
            longest = min(2 * longest, LONGEST_PAUSE_S)

    def _note(self, began: float, failure: Failure) -> None:
        if failure.status is not None:
            self._silent_since = None
            return
        if not isinstance(failure.error, _SILENT):
            return
        if self._silent_since is None:
            self._silent_since = began
        self._silent_at, self._last = time.monotonic(), failure

    def _is_silent(self) -> bool:
        since = self._silent_since
        return since is not None and self._silent_at - since >= self.settings.patience_s

    def _check_alive(self, operation: str) -> None:
        """Fail at once where the server has not answered for long, and did not a moment ago.

        Without this, a commit that asks a dead server in vain eight times would take minutes.
        """
        last = self._last
        if last is not None and self._is_silent() and time.monotonic() - self._silent_at < _REST_S:
            raise Failure(operation, None, "", False, True, last.error)


def refuse(location: str, failure: Failure) -> StoreError:
    """Return the error for an object that was certainly not written."""
    error = failure.translate(location, "written")
    return error if isinstance(error, StoreError) else StoreError(error.message)
