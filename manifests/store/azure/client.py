"""Requests to Azure: one connection pool a process.

Microsoft's client repeats no request that writes. Each call of `send` is one request, and
`Patience` alone repeats it. A body of a read that breaks off is asked for again by the client.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from azure.core.pipeline.transport import RequestsTransport
from azure.identity import ClientSecretCredential, DefaultAzureCredential
from azure.storage.blob import ContainerClient

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.azure.failures import classify
from colonnade.manifests.store.azure.settings import AzureSettings
from colonnade.manifests.store.bucket import http
from colonnade.manifests.store.bucket.clients import Clients
from colonnade.manifests.store.bucket.patience import Patience

T = TypeVar("T")

_FIRST_GET = 16 << 20
"""The most bytes that the first request for a whole object brings, before its size is checked."""

_LARGEST_PUT = 5_000 << 20
"""The most bytes that Azure takes in one request."""


class AzureClient(Patience):
    """Sends requests to one container. Threads may share it.

    Raises: InvalidInputError if the settings cannot be used.
    """

    def __init__(self, settings: AzureSettings) -> None:
        super().__init__(settings.patience_s)
        self.settings = settings
        try:
            self.container = _container(settings)
        except (TypeError, ValueError, AttributeError) as error:
            raise InvalidInputError(
                f"The storage options for Azure cannot be used ({type(error).__name__}); check"
                " account_name, account_key, sas_token, connection_string and credential."
            ) from error

    @property
    def server(self) -> str:
        """The account's address."""
        return str(self.container.primary_hostname)

    def send(self, operation: str, request: Callable[[], T]) -> T:
        """Make a request of the container, once. Raises: Failure; the errors of `request`."""
        return self.once(request, partial(classify, operation))


client_of = Clients(AzureClient).of
"""Returns the client of this process for some settings."""


def _container(settings: AzureSettings) -> Any:
    connect_s, read_s = settings.timeouts_s
    common: dict[str, Any] = {
        "transport": RequestsTransport(
            session=http.session(2 * settings.parallel),
            session_owner=False,
            connection_timeout=connect_s,
            read_timeout=read_s,
        ),
        "retry_total": 0,
        "max_single_put_size": _LARGEST_PUT,
        "max_single_get_size": _FIRST_GET,
        "max_chunk_get_size": _FIRST_GET,
    }
    given = settings.given
    if settings.account_url is None:
        return ContainerClient.from_connection_string(
            given["connection_string"], settings.container, **common
        )
    return ContainerClient(
        settings.account_url, settings.container, credential=_credential(settings), **common
    )


def _credential(settings: AzureSettings) -> Any:
    """Return the first of these that is given; else what azure-identity finds on the machine."""
    given = settings.given
    for name in ("credential", "account_key", "sas_token"):
        if name in given:
            return _shared_key(settings) if name == "account_key" else given[name]
    if given["anon"]:
        return None
    if "client_id" in given and "client_secret" in given:
        return ClientSecretCredential(
            given.get("tenant_id"), given["client_id"], given["client_secret"]
        )
    if "client_id" in given:
        # An identity of the machine or of its pod that is not its first one.
        return DefaultAzureCredential(
            managed_identity_client_id=given["client_id"],
            workload_identity_client_id=given["client_id"],
            workload_identity_tenant_id=given.get("tenant_id"),
        )
    return DefaultAzureCredential()


def _shared_key(settings: AzureSettings) -> dict[str, str]:
    host = str(settings.account_url).removeprefix("https://")
    account = settings.given.get("account_name") or host.partition(".")[0]
    return {"account_name": account, "account_key": settings.given["account_key"]}
