"""Credentials of a role, which botocore renews before they end.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from botocore.config import Config
from botocore.credentials import (
    AssumeRoleCredentialFetcher,
    CredentialProvider,
    CredentialResolver,
    Credentials,
    DeferredRefreshableCredentials,
)
from botocore.exceptions import NoCredentialsError
from botocore.session import Session

_PARAMETERS = {
    "session_name": "RoleSessionName",
    "external_id": "ExternalId",
    "policy": "Policy",
    "duration_s": "DurationSeconds",
}
"""Options of a role, each with its parameter of the request."""

_CREDENTIALS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")


class _Role(CredentialProvider):  # type: ignore[misc]
    """The only provider of a session: asks for the role with the first request."""

    METHOD = "assume-role"

    def __init__(self, fetch: Callable[[], dict[str, Any]]) -> None:
        super().__init__()
        self._fetch = fetch

    def load(self) -> DeferredRefreshableCredentials:
        return DeferredRefreshableCredentials(self._fetch, self.METHOD)


def take_on(session: Session, role: Mapping[str, Any], client: Mapping[str, Any]) -> dict[str, Any]:
    """Have a session use a role, and return the arguments of its clients without credentials.

    `client` are arguments of a client of S3; its credentials, or else those that botocore finds,
    ask for the role. Makes no request. Raises NoCredentialsError if there are none.
    """
    key, secret, token = (client.get(name) for name in _CREDENTIALS)
    source = Credentials(key, secret, token) if key else session.get_credentials()
    if source is None:
        raise NoCredentialsError
    region = role.get("region_name") or client.get("region_name") or "us-east-1"
    creator = partial(
        session.create_client,
        region_name=region,
        endpoint_url=role.get("endpoint_url"),
        config=Config(connect_timeout=5, read_timeout=15),
    )
    fetcher = AssumeRoleCredentialFetcher(
        creator,
        source,
        role["role_arn"],
        {_PARAMETERS[name]: value for name, value in role.items() if name in _PARAMETERS},
    )
    resolver = CredentialResolver([_Role(fetcher.fetch_credentials)])
    session.register_component("credential_provider", resolver)
    return {name: value for name, value in client.items() if name not in _CREDENTIALS}
