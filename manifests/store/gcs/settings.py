"""Storage options in gcsfs's names. Pure.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.bucket.option_values import (
    CONNECT_TIMEOUT_S,
    PATIENCE_S,
    READ_TIMEOUT_S,
    number,
)
from colonnade.manifests.store.object_store import PARALLEL
from colonnade.manifests.store.option_names import is_true, of_environment

GOOGLE = "https://storage.googleapis.com"
_NAMES = {
    *("token", "anon", "project", "access", "endpoint_url", "requester_pays"),
    *("max_concurrency", "patience", "connect_timeout", "read_timeout"),
}
_OF_CACHES = {
    *("use_listings_cache", "listings_expiry_time", "max_paths", "skip_instance_cache"),
    *("cache_timeout", "block_size"),
}
"""Options about what gcsfs keeps in memory. This store keeps none of it, so they change nothing."""

_IN_ENVIRONMENT = ("GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SKIP_SIGNATURE")
"""Variables that Google's own client does not know, by their prefixes."""

_ACCESSES = ("read_only", "read_write", "full_control")


@dataclass(frozen=True, slots=True)
class GcsSettings:
    """How to reach a bucket. Its `repr` shows no secret.

    `token` is that of gcsfs: None, a word, a path, a dictionary, a token or credentials. `payer` is
    the project that pays, or None. `timeouts_s` are those of a connection and of an answer.
    """

    endpoint: str
    token: Any = field(repr=False)
    scope: str
    payer: str | None
    parallel: int
    patience_s: float
    timeouts_s: tuple[float, float]

    @property
    def identity(self) -> str:
        """A text that is equal for equal settings. It may hold secrets."""
        token = sorted(self.token.items()) if isinstance(self.token, Mapping) else self.token
        return repr((token, repr(self)))

    @property
    def is_anonymous(self) -> bool:
        """Whether requests carry no credentials: where it is said, and for emulators."""
        return self.token == "anon" or (self.token is None and not _is_google(self.endpoint))


def parse_settings(
    options: Mapping[str, Any], url: str, environment: Mapping[str, str]
) -> GcsSettings:
    """Translate storage options.

    Raises: InvalidInputError that names the unknown or malformed options of `url`, never values.
    """
    unknown = sorted(options.keys() - _NAMES - _OF_CACHES)
    if unknown:
        raise InvalidInputError(
            f"{url} has no storage options {unknown}; the options are those of gcsfs: token,"
            " project, access, endpoint_url, requester_pays, and anon, max_concurrency, patience,"
            " connect_timeout, read_timeout. Names such as GOOGLE_SERVICE_ACCOUNT count, too."
        )
    access = options.get("access", "read_write")
    if access not in _ACCESSES:
        raise InvalidInputError(f"The storage option access of {url} must be one of {_ACCESSES}.")
    endpoint = _endpoint(options, url, environment)
    token = _token(options, url, environment if _is_google(endpoint) else {})
    if token in ("browser", "cache"):
        raise InvalidInputError(
            f"{url} takes no token 'browser' or 'cache'; run 'gcloud auth application-default"
            " login' and leave token out."
        )
    return GcsSettings(
        endpoint=endpoint,
        token=token,
        scope=f"https://www.googleapis.com/auth/devstorage.{access}",
        payer=_payer(options, url),
        parallel=int(number(options, "max_concurrency", PARALLEL, url)),
        patience_s=number(options, "patience", PATIENCE_S, url),
        timeouts_s=(
            number(options, "connect_timeout", CONNECT_TIMEOUT_S, url),
            number(options, "read_timeout", READ_TIMEOUT_S, url),
        ),
    )


def _is_google(endpoint: str) -> bool:
    return (urlsplit(endpoint).hostname or "").endswith(".googleapis.com")


def _token(options: Mapping[str, Any], url: str, environment: Mapping[str, str]) -> Any:
    found = options
    if not {"token", "anon"} & options.keys():
        found = of_environment(url, environment, _IN_ENVIRONMENT)
    return "anon" if is_true(found.get("anon")) else found.get("token")


def _endpoint(options: Mapping[str, Any], url: str, environment: Mapping[str, str]) -> str:
    found = options.get("endpoint_url") or environment.get("STORAGE_EMULATOR_HOST") or GOOGLE
    text = str(found) if "://" in str(found) else f"http://{found}"
    parts = urlsplit(text)
    try:
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.username or parts.query:
        raise InvalidInputError(
            f"The endpoint_url of {url} must have the form https://host:port, without a user or a"
            " query."
        )
    return text.rstrip("/")


def _payer(options: Mapping[str, Any], url: str) -> str | None:
    pays = options.get("requester_pays") or False
    project = pays if isinstance(pays, str) else options.get("project")
    if pays and not project:
        raise InvalidInputError(
            f"{url} has requester_pays without a project; give the storage option project."
        )
    return str(project) if pays else None
