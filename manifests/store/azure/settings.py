"""Storage options in adlfs's names. Pure.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.azure.address import AzureAddress
from colonnade.manifests.store.bucket.option_values import (
    CONNECT_TIMEOUT_S,
    PATIENCE_S,
    READ_TIMEOUT_S,
    number,
)
from colonnade.manifests.store.object_store import PARALLEL
from colonnade.manifests.store.option_names import is_true, of_environment

_IN_ENVIRONMENT = (
    *("account_name", "account_key", "connection_string", "sas_token"),
    *("client_id", "client_secret", "tenant_id", "anon"),
)
"""Options that may be in the environment instead, in variables that begin with `AZURE_STORAGE_`."""

_NAMES = {
    *_IN_ENVIRONMENT,
    *("credential", "account_host"),
    *("max_concurrency", "patience", "connection_timeout", "read_timeout"),
}
_ACCOUNT_NAME = re.compile(r"(?:^|;)\s*AccountName\s*=\s*([^;]*)", re.IGNORECASE)
_WITHOUT_EFFECT = {
    *("use_listings_cache", "listings_expiry_time", "max_paths", "skip_instance_cache"),
    *("default_fill_cache", "default_cache_type", "blocksize", "assume_container_exists"),
}
"""Options about caches, buffers and checks of adlfs. This store has none of these."""


@dataclass(frozen=True, slots=True)
class AzureSettings:
    """How to reach a container. Its `repr` shows nothing, because the fields hold secrets.

    `given` are the options and those of the environment. `account_url` is None where a connection
    string names the account.
    """

    account_url: str | None = field(repr=False)
    container: str = field(repr=False)
    given: dict[str, Any] = field(repr=False)
    parallel: int = field(repr=False)
    patience_s: float = field(repr=False)
    timeouts_s: tuple[float, float] = field(repr=False)

    @property
    def identity(self) -> str:
        """A text that is equal for equal settings. It holds secrets."""
        parts = (
            self.account_url,
            self.container,
            sorted(self.given.items(), key=lambda each: each[0]),
        )
        return repr((parts, self.parallel, self.patience_s, self.timeouts_s))


def parse_settings(
    options: Mapping[str, Any], address: AzureAddress, environment: Mapping[str, str]
) -> AzureSettings:
    """Translate storage options.

    Raises: InvalidInputError that names the unknown or malformed options, never values.
    """
    url = address.place.url
    unknown = sorted(options.keys() - _NAMES - _WITHOUT_EFFECT)
    if unknown:
        raise InvalidInputError(
            f"{url} has no storage options {unknown}; the options are those of adlfs:"
            " account_name, account_key, sas_token, connection_string, credential, client_id,"
            " client_secret, tenant_id, anon, account_host, max_concurrency, connection_timeout,"
            " read_timeout, and patience. Names such as AZURE_STORAGE_ACCOUNT_NAME count, too."
        )
    found = {**of_environment(url, environment, ("AZURE_STORAGE_",)), **options}
    # An option that is empty counts as not given.
    given = {name: found[name] for name in _IN_ENVIRONMENT if found.get(name)}
    given["anon"] = is_true(given.get("anon", False))
    credential = options.get("credential")
    if inspect.iscoroutinefunction(getattr(credential, "get_token", None)):
        raise InvalidInputError(
            f"The storage option credential of {url} must be one of azure.identity, and not of"
            " azure.identity.aio."
        )
    if credential is not None:
        given["credential"] = credential
    return AzureSettings(
        account_url=_account_url(options, given, address),
        container=address.container,
        given=given,
        parallel=int(number(options, "max_concurrency", PARALLEL, url)),
        patience_s=number(options, "patience", PATIENCE_S, url),
        timeouts_s=(
            number(options, "connection_timeout", CONNECT_TIMEOUT_S, url),
            number(options, "read_timeout", READ_TIMEOUT_S, url),
        ),
    )


def _account_url(
    options: Mapping[str, Any], given: Mapping[str, Any], address: AzureAddress
) -> str | None:
    account, url = address.account or given.get("account_name"), address.place.url
    named = options.get("account_name")
    if address.account and named and named != address.account:
        raise InvalidInputError(
            f"{url} names another account than its storage option account_name; leave the option"
            " out."
        )
    if options.get("account_host"):
        return f"https://{options['account_host']}"
    if _is_named_by_text(options, given, address):
        return None
    if not account:
        raise InvalidInputError(
            f"{url} names no account; give the storage option account_name or connection_string, or"
            " write abfss://container@account.dfs.core.windows.net/folder."
        )
    return f"https://{address.host or f'{account}.blob.core.windows.net'}"


def _is_named_by_text(
    options: Mapping[str, Any], given: Mapping[str, Any], address: AzureAddress
) -> bool:
    """Whether a connection string says where the account is, and who asks.

    One of the environment does not count for a URL of another account.
    """
    if "connection_string" not in given:
        return False
    found = _ACCOUNT_NAME.search(str(given["connection_string"]))
    if not address.account or found is None or found[1].strip() == address.account:
        return True
    if "connection_string" in options:
        raise InvalidInputError(
            f"{address.place.url} names another account than its storage option connection_string;"
            " give that of this account."
        )
    return False
