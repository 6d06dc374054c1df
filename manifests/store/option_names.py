"""The names that other tools give to storage options, beside those of fsspec. Pure.

`object_store` names options as the environment does: `AWS_ACCESS_KEY_ID`, `aws_access_key_id` and
`access_key_id` are one option, and so is fsspec's `key`. This table is the only place that knows
the other names. Every address has the options by their own names.

Spec: docs/stores.md#addresses
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError

S3 = re.compile(r"s3a?://", re.IGNORECASE)
GCS = re.compile(r"gc?s://", re.IGNORECASE)
AZURE = re.compile(r"(?:az|abfss?)://", re.IGNORECASE)

_OF_S3 = {
    "key": ("aws_access_key_id", "access_key_id"),
    "secret": ("aws_secret_access_key", "secret_access_key"),
    "token": ("aws_session_token", "aws_token", "session_token"),
    "region": ("aws_region", "aws_default_region", "default_region"),
    "endpoint_url": ("aws_endpoint_url", "aws_endpoint_url_s3", "aws_endpoint", "endpoint"),
    "profile": ("aws_profile",),
    "anon": ("aws_skip_signature", "skip_signature"),
    "requester_pays": ("aws_request_payer", "request_payer"),
    "virtual_hosted_style": ("aws_virtual_hosted_style_request", "virtual_hosted_style_request"),
    "allow_http": ("aws_allow_http",),
    "allow_unsafe_rename": ("aws_s3_allow_unsafe_rename", "s3_allow_unsafe_rename"),
}
_OF_GCS = {
    "token": (
        *("google_service_account", "google_service_account_path"),
        *("service_account", "service_account_path"),
        *("google_service_account_key", "service_account_key"),
        *("google_application_credentials", "application_credentials"),
    ),
    "anon": ("google_skip_signature", "skip_signature"),
    "endpoint_url": ("google_base_url", "base_url"),
}
_OF_AZURE = {
    "account_name": ("azure_storage_account_name", "azure_storage_account"),
    "account_key": (
        *("azure_storage_account_key", "azure_storage_access_key", "azure_storage_master_key"),
        *("azure_storage_key", "access_key", "master_key"),
    ),
    "sas_token": ("azure_storage_sas_token", "azure_storage_sas_key", "sas_key"),
    "connection_string": ("azure_storage_connection_string",),
    "client_id": ("azure_storage_client_id", "azure_client_id"),
    "client_secret": ("azure_storage_client_secret", "azure_client_secret"),
    "tenant_id": (
        *("azure_storage_tenant_id", "azure_tenant_id"),
        *("azure_storage_authority_id", "azure_authority_id", "authority_id"),
    ),
    "anon": ("azure_storage_anon", "azure_skip_signature", "skip_signature"),
}
_TABLES = {
    pattern: {other: own for own, others in names.items() for other in others}
    for pattern, names in ((S3, _OF_S3), (GCS, _OF_GCS), (AZURE, _OF_AZURE))
}


def with_own_names(url: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a URL by their own names. Other names are known in any case.

    Raises: InvalidInputError if two names of one option have different values. It shows none.
    """
    table = next((table for pattern, table in _TABLES.items() if pattern.match(url)), {})
    found: dict[str, Any] = {}
    given: dict[str, str] = {}
    for name, value in options.items():
        own = table.get(str(name).lower(), name)
        if own in found and found[own] != value:
            raise InvalidInputError(
                f"The storage options {given[own]} and {name} of {url} are the same option with"
                " different values; give one of them."
            )
        found[own], given[own] = value, name
    return found


def of_environment(
    url: str, environment: Mapping[str, str], prefixes: tuple[str, ...]
) -> dict[str, str]:
    """Return the options of a URL that variables with one of these prefixes name.

    A variable without a text counts as absent. Raises the error of `with_own_names`.
    """
    table = next((table for pattern, table in _TABLES.items() if pattern.match(url)), {})
    known = {
        name: value
        for name, value in environment.items()
        if value and name.startswith(prefixes) and name.lower() in table
    }
    return with_own_names(url, known)


def is_true(value: object) -> bool:
    """Return whether an option that may be text, as in the environment, says yes."""
    return str(value).lower() not in ("false", "0", "f", "no", "none", "")
