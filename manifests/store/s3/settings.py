"""Storage options in s3fs's names, as what botocore takes. Pure.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore import UNSIGNED

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.bucket.option_values import (
    CONNECT_TIMEOUT_S,
    PATIENCE_S,
    READ_TIMEOUT_S,
    number,
)
from colonnade.manifests.store.object_store import PARALLEL
from colonnade.manifests.store.option_names import is_true

_NAMES = {
    "key": "aws_access_key_id",
    "username": "aws_access_key_id",
    "secret": "aws_secret_access_key",
    "password": "aws_secret_access_key",
    "token": "aws_session_token",
    "endpoint_url": "endpoint_url",
    "use_ssl": "use_ssl",
    "region": "region_name",
}
"""Options of s3fs, each with its argument of botocore's client."""

_OF_CLIENT = frozenset((*_NAMES.values(), "region_name", "verify", "api_version", "aws_account_id"))
_OWN = {
    *("anon", "profile", "client_kwargs", "config_kwargs", "s3_additional_kwargs"),
    *("requester_pays", "max_concurrency", "patience", "assume_role", "virtual_hosted_style"),
}
_OF_ROLE = {
    *("role_arn", "session_name", "duration_s", "external_id", "policy"),
    *("endpoint_url", "region_name"),
}
_OF_CACHES = {
    *("use_listings_cache", "listings_expiry_time", "max_paths", "skip_instance_cache"),
    *("default_block_size", "default_fill_cache", "default_cache_type", "cache_regions"),
}
"""Options about what s3fs keeps in memory. This store keeps none of it, so they change nothing."""

_PERMITS = {"allow_http", "allow_unsafe_rename"}
"""What other tools need a leave for. This store renames nothing, and `endpoint_url` says how."""


@dataclass(frozen=True, slots=True)
class S3Settings:
    """How to reach a bucket. Its `repr` shows nothing, because the fields hold secrets.

    `session`, `client` and `config` are arguments of botocore. `extra` are parameters of requests
    that write, such as those of server-side encryption. `payer` are parameters of all requests that
    can have them. `role` names a role that the credentials take on; it is empty for none.
    `patience_s` is how long a call repeats what may pass.
    """

    session: dict[str, Any] = field(repr=False)
    client: dict[str, Any] = field(repr=False)
    config: dict[str, Any] = field(repr=False)
    extra: dict[str, Any] = field(repr=False)
    payer: dict[str, Any] = field(repr=False)
    role: dict[str, Any] = field(repr=False)
    parallel: int = field(repr=False)
    patience_s: float = field(repr=False)

    @property
    def identity(self) -> str:
        """A text that is equal for equal settings. It holds secrets."""
        mappings = (self.session, self.client, self.config, self.extra, self.payer, self.role)
        parts = (*mappings, self.parallel, self.patience_s)
        return repr([sorted(each.items()) if isinstance(each, dict) else each for each in parts])


def parse_settings(
    options: Mapping[str, Any], url: str, environment: Mapping[str, str]
) -> S3Settings:
    """Translate storage options. Options that are left out have botocore's own sources.

    Raises: InvalidInputError that names the unknown or malformed options of `url`, never values.
    """
    unknown = sorted(options.keys() - _NAMES.keys() - _OWN - _OF_CACHES - _PERMITS)
    if unknown:
        raise InvalidInputError(
            f"{url} has no storage options {unknown}; the options are those of s3fs: key, secret,"
            " token, profile, anon, endpoint_url, use_ssl, client_kwargs, config_kwargs,"
            " s3_additional_kwargs, requester_pays, and max_concurrency, assume_role, region,"
            " virtual_hosted_style, patience. Names such as AWS_ACCESS_KEY_ID count, too."
        )
    client = {
        "use_ssl": True,
        **_mapping(options, "client_kwargs", url),
        **{_NAMES[name]: value for name, value in options.items() if name in _NAMES},
    }
    foreign = sorted(client.keys() - _OF_CLIENT)
    if foreign:
        raise InvalidInputError(
            f"{url} takes no client_kwargs {foreign}, only {sorted(_OF_CLIENT)}."
        )
    client = {name: value for name, value in client.items() if value is not None}
    _check_plain_http(options, client, url)
    if (region := environment.get("AWS_REGION")) and not environment.get("AWS_DEFAULT_REGION"):
        client.setdefault("region_name", region)  # which botocore alone does not know
    parallel = number(options, "max_concurrency", PARALLEL, url)
    config = _config(_mapping(options, "config_kwargs", url), int(parallel), url)
    if "virtual_hosted_style" in options:
        style = "virtual" if is_true(options["virtual_hosted_style"]) else "path"
        config["s3"] = {**(config.get("s3") or {}), "addressing_style": style}
    if is_true(options.get("anon")):
        config["signature_version"] = UNSIGNED
        client = {name: value for name, value in client.items() if not name.startswith("aws_")}
    profile = options.get("profile")
    return S3Settings(
        session={} if profile is None else {"profile": profile},
        client=client,
        config=config,
        extra=_mapping(options, "s3_additional_kwargs", url),
        payer={"RequestPayer": "requester"} if is_true(options.get("requester_pays")) else {},
        role=_role(options, url),
        parallel=int(parallel),
        patience_s=number(options, "patience", PATIENCE_S, url),
    )


def _check_plain_http(options: Mapping[str, Any], client: Mapping[str, Any], url: str) -> None:
    endpoint = str(client.get("endpoint_url", ""))
    if not is_true(options.get("allow_http", True)) and endpoint.lower().startswith("http:"):
        raise InvalidInputError(
            f"{url} has the storage option allow_http, which forbids its endpoint_url that begins"
            " with http; give one that begins with https."
        )


def _config(given: dict[str, Any], parallel: int, url: str) -> dict[str, Any]:
    if "retries" in given:
        raise InvalidInputError(
            f"{url} takes no config_kwargs 'retries': a client that sends a commit again reports"
            " its own commit as another's; give the storage option patience, in seconds."
        )
    return {
        "connect_timeout": CONNECT_TIMEOUT_S,
        "read_timeout": READ_TIMEOUT_S,
        # All bytes have checksums of the format, so answers need no further ones.
        "response_checksum_validation": "when_required",
        "max_pool_connections": 2 * parallel,
        **given,
        # One call is one request: this package alone decides what is sent again.
        "retries": {"total_max_attempts": 1, "mode": "standard"},
    }


def _role(options: Mapping[str, Any], url: str) -> dict[str, Any]:
    given = _mapping(options, "assume_role", url)
    if given and (given.keys() - _OF_ROLE or not given.get("role_arn")):
        raise InvalidInputError(
            f"The storage option assume_role of {url} needs role_arn, and may have"
            f" {', '.join(sorted(_OF_ROLE - {'role_arn'}))}."
        )
    return {"session_name": "colonnade", **given} if given else {}


def _mapping(options: Mapping[str, Any], name: str, url: str) -> dict[str, Any]:
    value = options.get(name) or {}
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"The storage option {name} of {url} must be a dictionary.")
    return dict(value)
