"""Hadoop's settings for GCS (`fs.gs.*`) as storage options in gcsfs's names. Pure.

The settings are those of Google's connector, of its versions 2 and 3. Version 3 names one way to
log in (`fs.gs.auth.type`), and version 2 has settings that turn each way on.
Guide: docs/stores.md
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.settings import STORAGE

PREFIXES = ("fs.gs.", "google.cloud.auth.")
"""What the names of these settings begin with. `google.cloud.` is the older form of `fs.gs.`."""

URL = re.compile(r"gc?s://([^/?]*)", re.IGNORECASE)

_ACCOUNT = "auth.service.account."
_TYPE = "fs.gs.auth.type"
_GOOGLE = re.compile(r"https?://(?:storage|www)\.googleapis\.com/?")
_TOKEN_SERVER = "https://oauth2.googleapis.com/token"
_HINT = f"set {STORAGE}token"
_UNTRANSLATED = {
    "encryption.key": "the keys of customers are not supported; leave it out",
    "auth.impersonation.service.account": _HINT,
    "auth.access.token.provider.impl": _HINT,
}
"""Settings without a counterpart, each with what to do."""


def options_of(url: str, settings: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the storage options that Hadoop's settings mean for a URL of a bucket.

    A `token` or `anon` among the given options replaces all of Hadoop's credentials. Raises
    InvalidInputError that names a setting without a counterpart, and what to give instead.
    """
    found = URL.match(url)
    texts = _Texts(settings)
    options: dict[str, Any] = {}
    root = texts.text("storage.root.url")
    if root and not _GOOGLE.fullmatch(root) and "endpoint_url" not in given:
        options["endpoint_url"] = root.rstrip("/")
    if "requester_pays" not in given and _pays(texts, found[1] if found else ""):
        project = texts.text("requester.pays.project.id", "project.id")
        if project:
            options["requester_pays"] = project
    texts.refuse("encryption.key")
    return options if {"token", "anon"} & given.keys() else {**options, **_credentials(texts)}


def secrets_of(url: str) -> tuple[str, ...]:
    """Return the settings that Hadoop also looks for in its credential files."""
    del url
    account = ("email", "private.key", "private.key.id")
    names = [f"{_ACCOUNT}{name}" for name in account]
    names += [f"auth.{name}" for name in ("client.id", "client.secret", "refresh.token")]
    return tuple(f"fs.gs.{name}" for name in names)


class _Texts:
    """The settings without the prefix of their names. It has no `repr` of them."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        older = {name.removeprefix("google.cloud."): text for name, text in settings.items()}
        newer = {name.removeprefix("fs.gs."): text for name, text in settings.items()}
        self._texts = {**older, **newer}

    def text(self, *names: str) -> str:
        """Return the first of these settings that says something, or an empty text."""
        return next((found for name in names if (found := self._texts.get(name, "").strip())), "")

    def refuse(self, name: str) -> None:
        """Raise the error for a setting without a counterpart, if it is set."""
        if any(each.startswith(name) and text.strip() for each, text in self._texts.items()):
            raise InvalidInputError(
                f"Hadoop's setting fs.gs.{name} has no counterpart for Colonnade's planner:"
                f" {_UNTRANSLATED[name]}."
            )


def _pays(texts: _Texts, bucket: str) -> bool:
    mode = texts.text("requester.pays.mode").upper()
    if mode == "CUSTOM":
        return bucket in re.split(r"[\s,]+", texts.text("requester.pays.buckets"))
    return mode in ("AUTO", "ENABLED")


def _credentials(texts: _Texts) -> dict[str, Any]:
    texts.refuse("auth.impersonation.service.account")
    kind = texts.text("auth.type").upper()
    if not kind:
        return _of_version_2(texts)
    if kind in ("APPLICATION_DEFAULT", "COMPUTE_ENGINE"):
        return {} if kind == "APPLICATION_DEFAULT" else {"token": "cloud"}
    if kind == "UNAUTHENTICATED":
        return {"token": "anon"}
    if kind == "SERVICE_ACCOUNT_JSON_KEYFILE":
        return {"token": _required(texts, f"{_ACCOUNT}json.keyfile", kind)}
    if kind == "USER_CREDENTIALS":
        return {"token": _user(texts, kind)}
    raise InvalidInputError(
        f"Hadoop's setting {_TYPE} is {kind}, which has no counterpart for Colonnade's planner;"
        f" {_HINT}."
    )


def _of_version_2(texts: _Texts) -> dict[str, Any]:
    texts.refuse("auth.access.token.provider.impl")
    if texts.text(f"{_ACCOUNT}enable").lower() != "false":
        if file := texts.text(f"{_ACCOUNT}json.keyfile"):
            return {"token": file}
        if key := texts.text(f"{_ACCOUNT}private.key"):
            return {"token": _service(texts, key)}
        if texts.text(f"{_ACCOUNT}keyfile"):
            raise InvalidInputError(
                f"Hadoop's setting fs.gs.{_ACCOUNT}keyfile names a file of PKCS12, which"
                f" Colonnade's planner cannot read; {_HINT} to the path of a key in JSON."
            )
        return {}  # google.auth looks at the role of the machine, too
    if texts.text("auth.null.enable").lower() == "true":
        return {"token": "anon"}
    if texts.text("auth.refresh.token"):
        return {"token": _user(texts, "the setting auth.refresh.token")}
    return {}


def _service(texts: _Texts, key: str) -> dict[str, str]:
    email = _required(texts, f"{_ACCOUNT}email", "a private key")
    return {
        "type": "service_account",
        "client_email": email,
        "private_key": key.replace("\\n", "\n"),
        "private_key_id": texts.text(f"{_ACCOUNT}private.key.id"),
        "token_uri": texts.text("token.server.url") or _TOKEN_SERVER,
    }


def _user(texts: _Texts, kind: str) -> dict[str, str]:
    names = ("client.id", "client.secret", "refresh.token")
    found = {name.replace(".", "_"): _required(texts, f"auth.{name}", kind) for name in names}
    return {"type": "authorized_user", **found}


def _required(texts: _Texts, name: str, why: str) -> str:
    found = texts.text(name)
    if not found:
        raise InvalidInputError(
            f"Hadoop's setting fs.gs.{name} is not set, and {why} needs it; set it, or {_HINT}."
        )
    return found
