"""Requests to S3: one connection pool a process.

botocore repeats nothing here: each call of `send` is one request, and `Patience` alone repeats it.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from botocore import xform_name
from botocore.config import Config
from botocore.exceptions import BotoCoreError
from botocore.session import Session

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.bucket.clients import Clients
from colonnade.manifests.store.bucket.patience import Patience
from colonnade.manifests.store.s3.direct_get import DirectGets
from colonnade.manifests.store.s3.failures import classify
from colonnade.manifests.store.s3.roles import take_on
from colonnade.manifests.store.s3.settings import S3Settings

T = TypeVar("T")

_GET = "GetObject"


def _whole(answer: dict[str, Any]) -> Any:
    """Return an answer, with the bytes of its body, if it has one."""
    if "Body" in answer:
        with answer["Body"] as stream:
            answer["Body"] = stream.read()
    return answer


class S3Client(Patience):
    """Sends requests to one server. Threads may share it.

    Raises: InvalidInputError if botocore refuses the settings.
    """

    def __init__(self, settings: S3Settings) -> None:
        super().__init__(settings.patience_s)
        self.settings = settings
        try:
            session = Session(**settings.session)
            config, client = Config(**settings.config), settings.client
            if settings.role:
                client = take_on(session, settings.role, client)
            self._sender = session.create_client("s3", config=config, **client)
            self._gets = DirectGets(self._sender)
        except (BotoCoreError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"The storage options for S3 cannot be used ({type(error).__name__}); check key,"
                " secret, profile, assume_role, endpoint_url, client_kwargs and config_kwargs."
            ) from error

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

        def request() -> T:
            method = getattr(self._sender, xform_name(operation))
            return read(method(**parameters, **self._payer(operation)))

        return self.once(request, partial(classify, operation))

    def get(
        self, bucket: str, key: str, part: tuple[int, int] | None, read: Callable[[Any], T]
    ) -> T:
        """Ask for an object, or for its `part` (offset, length), once. Raises as `send`."""
        headers: dict[str, str] = {}
        if part is not None:
            headers["Range"] = f"bytes={part[0]}-{part[0] + part[1] - 1}"
        parameters = {**headers, **self._payer(_GET)}
        request = partial(self._gets.get, bucket, key, headers, parameters, read)
        return self.once(request, partial(classify, _GET))

    def _payer(self, operation: str) -> Mapping[str, Any]:
        """Return who pays. botocore refuses this parameter where an operation costs nothing."""
        shape = self._sender.meta.service_model.operation_model(operation).input_shape
        return self.settings.payer if "RequestPayer" in shape.members else {}


client_of = Clients(S3Client).of
"""Returns the client of this process for some settings."""
