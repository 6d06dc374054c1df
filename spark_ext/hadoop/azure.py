"""Hadoop's settings for Azure (`fs.azure.*`) as storage options in adlfs's names. Pure.

They are the settings of Hadoop's ABFS. The name of a setting may end in a container and an account,
or in an account. The most specific one takes precedence.
Guide: docs/stores.md
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.hadoop.s3 import UNREADABLE
from colonnade.spark_ext.settings import STORAGE

PREFIXES = ("fs.azure.",)
URL = re.compile(r"abfss?://(?:([^/@?]*)@)?([^/?]*)", re.IGNORECASE)

_CREDENTIALS = frozenset(
    ("account_key", "sas_token", "connection_string", "credential", "client_id", "anon")
)
_AUTH = "fs.azure.account.auth.type"
_OAUTH = "fs.azure.account.oauth2."
_PROVIDER = "fs.azure.account.oauth.provider.type"
_LOGIN = re.compile(
    r"https://login\.microsoftonline\.com/([A-Za-z0-9.-]+)/oauth2(?:/v2\.0)?/token/?"
)
_HINT = (
    f"set {STORAGE}account_key, {STORAGE}sas_token, or {STORAGE}client_id with client_secret and"
    " tenant_id"
)
_UNTRANSLATED = (
    *("fs.azure.encryption.encoded.client-provided-key", "fs.azure.client-provided-encryption-key"),
    "fs.azure.encryption.context.provider.type",
)


def options_of(url: str, settings: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the storage options that Hadoop's settings mean for a URL of a container.

    Credentials among the given options replace all of Hadoop's. Raises InvalidInputError that names
    a setting without a counterpart, and what to give instead.
    """
    texts = _Texts(settings, url)
    for name in _UNTRANSLATED:
        if texts.text(name):
            raise InvalidInputError(
                f"Hadoop's setting {name} has no counterpart for Colonnade's planner: leave it out"
                " for this account."
            )
    return {} if _CREDENTIALS & given.keys() else _credentials(texts)


class _Texts:
    """The settings that count for one container. It has no `repr` of them."""

    def __init__(self, settings: Mapping[str, str], url: str) -> None:
        self._settings = settings
        self._suffixes = _suffixes(url)

    def text(self, name: str) -> str:
        """Return the most specific form of a setting that says something, or an empty text."""
        texts = (self._settings.get(f"{name}{suffix}", "").strip() for suffix in self._suffixes)
        return next(filter(None, texts), "")

    def required(self, name: str, why: str) -> str:
        """Return a setting that must be set."""
        found = self.text(name)
        if found:
            return found
        unread = self._settings.get(UNREADABLE)
        if unread:
            raise InvalidInputError(
                f"Hadoop's credential files could not be read ({unread}), so Colonnade's planner"
                f" has no {name}; mend them, or {_HINT}."
            )
        raise InvalidInputError(
            f"Hadoop's setting {name} is not set for this account, and {why} needs it; set it, or"
            f" {_HINT}."
        )


def secrets_of(url: str) -> tuple[str, ...]:
    """Return the settings for a URL that Hadoop also looks for in its credential files."""
    names = (
        *("fs.azure.account.key", "fs.azure.sas.fixed.token"),
        *(f"{_OAUTH}client.{name}" for name in ("id", "secret", "endpoint")),
    )
    return tuple(f"{name}{suffix}" for name in names for suffix in _suffixes(url))


def _suffixes(url: str) -> tuple[str, str, str]:
    """Return what the names of settings for a URL end in, the most specific first."""
    found = URL.match(url)
    container, account = (found[1] or "", found[2]) if found else ("", "")
    return f".{container}.{account}", f".{account}", ""


def _credentials(texts: _Texts) -> dict[str, Any]:
    kind = texts.text(_AUTH)
    if not kind:
        # ABFS needs a key then. Without one, Python looks where every tool of Azure does.
        key = texts.text("fs.azure.account.key")
        return {"account_key": key} if key else {}
    if kind.lower() == "sharedkey":
        return {"account_key": texts.required("fs.azure.account.key", f"{_AUTH} {kind}")}
    if kind.lower() == "sas":
        return {"sas_token": _sas(texts, kind)}
    if kind.lower() == "oauth":
        return _oauth(texts)
    raise InvalidInputError(
        f"Hadoop's setting {_AUTH} is {kind}, which has no counterpart for Colonnade's planner;"
        f" {_HINT}."
    )


def _sas(texts: _Texts, kind: str) -> str:
    provider = texts.text("fs.azure.sas.token.provider.type")
    if provider and not provider.endswith(".FixedSASTokenProvider"):
        raise _without_counterpart("fs.azure.sas.token.provider.type", provider)
    return texts.required("fs.azure.sas.fixed.token", f"{_AUTH} {kind}")


def _oauth(texts: _Texts) -> dict[str, Any]:
    provider = texts.required(_PROVIDER, f"{_AUTH} OAuth")
    name = re.split(r"[.$]", provider)[-1]
    if name == "ClientCredsTokenProvider":
        endpoint = texts.required(f"{_OAUTH}client.endpoint", name)
        tenant = _LOGIN.fullmatch(endpoint)
        if tenant is None:
            raise InvalidInputError(
                f"Hadoop's setting {_OAUTH}client.endpoint must be like"
                " https://login.microsoftonline.com/<tenant>/oauth2/token for Colonnade's planner;"
                f" {_HINT}."
            )
        return {
            "client_id": texts.required(f"{_OAUTH}client.id", name),
            "client_secret": texts.required(f"{_OAUTH}client.secret", name),
            "tenant_id": tenant[1],
        }
    if name in ("MsiTokenProvider", "WorkloadIdentityTokenProvider"):
        client = texts.text(f"{_OAUTH}client.id")
        return {"client_id": client} if client else {}
    raise _without_counterpart(_PROVIDER, provider)


def _without_counterpart(name: str, provider: str) -> InvalidInputError:
    return InvalidInputError(
        f"Hadoop's setting {name} names {provider}, which has no counterpart for Colonnade's"
        f" planner; {_HINT}."
    )
