"""Storage options in the names of fsspec's WebHDFS, and what Hadoop's files add. Pure.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
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
from colonnade.manifests.store.bucket.place import BucketPlace
from colonnade.manifests.store.hdfs.namenodes import (
    HTTP_PORT,
    HTTPS_PORT,
    http_urls,
    with_port,
)
from colonnade.manifests.store.object_store import PARALLEL

_NAMES = {
    *("user", "token", "proxy_to", "kerberos", "kerb_kwargs", "data_proxy", "use_https"),
    *("session_cert", "session_verify", "http_address", "hadoop_settings"),
    *("max_concurrency", "patience", "connect_timeout", "read_timeout"),
}
_OF_CACHES = {"use_listings_cache", "listings_expiry_time", "max_paths", "skip_instance_cache"}
"""Options about what fsspec keeps in memory. They change nothing, because this store keeps none."""

_ADDRESS = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\])(?::\d{1,5})?", re.ASCII)

_ADDRESS_FORM = "have the form host:port or http://host:port"
_TEXTS = "be a dictionary of texts by name"


@dataclass(frozen=True, slots=True)
class HdfsSettings:
    """How to reach HDFS. Its `repr` shows no secret.

    `namenodes` are URLs `http://host:port`; one namenode is active. `who` are the parameters of a
    request that name the user. `kerberos` are arguments of the client for Kerberos, None without
    it. `timeouts_s` are the timeouts of a connection and of an answer, in seconds.
    """

    namenodes: tuple[str, ...]
    who: Mapping[str, str] = field(repr=False)
    kerberos: Mapping[str, Any] | None = field(repr=False)
    data_proxy: Mapping[str, str] | Callable[[str], str] | None = field(repr=False)
    certificate: str | tuple[str, str] | None = field(repr=False)
    verify: bool | str
    parallel: int
    patience_s: float
    timeouts_s: tuple[float, float]

    @property
    def identity(self) -> str:
        """A text that is equal for equal settings. It may hold secrets."""
        secrets = (sorted(self.who.items()), self.kerberos, self.data_proxy, self.certificate)
        return repr((secrets, repr(self)))


def parse_settings(
    options: Mapping[str, Any], place: BucketPlace, site: Mapping[str, str], user: str
) -> HdfsSettings:
    """Translate storage options.

    `site` has the settings of Hadoop's files, which the option `hadoop_settings` replaces by name.
    `user` is who asks where the options do not say. Settings count for `hdfs:` URLs alone. Raises:
    InvalidInputError that names the unknown or malformed options, never values.
    """
    url = place.url
    unknown = sorted(options.keys() - _NAMES - _OF_CACHES)
    if unknown:
        raise InvalidInputError(
            f"{url} has no storage options {unknown}; the options are those of fsspec's WebHDFS:"
            f" {', '.join(sorted(_NAMES))}."
        )
    site = {**site, **_settings(options, url)} if place.scheme == "hdfs" else {}
    secure = _flag(options, "use_https", False, url)
    in_site = site.get("hadoop.security.authentication", "").lower() == "kerberos"
    kerberos = _flag(options, "kerberos", in_site and not _names_someone(options), url)
    _check_one_identity(options, kerberos, url)
    verify, proxy = options.get("session_verify", True), options.get("data_proxy")
    _check_form(proxy is None or callable(proxy) or _is_texts(proxy), "data_proxy", _TEXTS, url)
    _check_form(isinstance(verify, bool | str | None), "session_verify", "be a path, or False", url)
    return HdfsSettings(
        namenodes=_namenodes(options, place, site, secure),
        who=_who(options, kerberos, user),
        kerberos=_kerberos(options, url) if kerberos else None,
        data_proxy=proxy or None,
        certificate=_certificate(options, url),
        verify=True if verify is None else verify,
        parallel=int(number(options, "max_concurrency", PARALLEL, url)),
        patience_s=number(options, "patience", PATIENCE_S, url),
        timeouts_s=(
            number(options, "connect_timeout", CONNECT_TIMEOUT_S, url),
            number(options, "read_timeout", READ_TIMEOUT_S, url),
        ),
    )


def _namenodes(
    options: Mapping[str, Any], place: BucketPlace, site: Mapping[str, str], secure: bool
) -> tuple[str, ...]:
    scheme, port = ("https", HTTPS_PORT) if secure else ("http", HTTP_PORT)
    given = options.get("http_address")
    if given is None and place.scheme == "hdfs" and "use_https" not in options:
        return http_urls(place.bucket, site)
    if given is None:
        host = place.bucket
        if place.scheme == "hdfs":
            host = re.sub(r":\d+$", "", host)
        return (f"{scheme}://{with_port(host, port)}",)
    texts = given.split(",") if isinstance(given, str) else given
    if not isinstance(texts, list | tuple) or not texts:
        raise _malformed("http_address", place.url, "be host:port, or a list of them")
    return tuple(_http_url(text, scheme, port, place.url) for text in texts)


def _http_url(text: Any, scheme: str, port: int, url: str) -> str:
    whole = str(text).strip()
    try:
        parts = urlsplit(whole if "://" in whole else f"{scheme}://{whole}")
    except ValueError:
        raise _malformed("http_address", url, _ADDRESS_FORM) from None
    usable = parts.scheme in ("http", "https") and _ADDRESS.fullmatch(parts.netloc)
    if not usable or parts.path.strip("/") or parts.query:
        raise _malformed("http_address", url, _ADDRESS_FORM)
    return f"{parts.scheme}://{with_port(parts.netloc, port)}"


def _who(options: Mapping[str, Any], kerberos: bool, user: str) -> dict[str, str]:
    if options.get("token"):
        return {"delegation": str(options["token"])}
    who = {"doas": str(options["proxy_to"])} if options.get("proxy_to") else {}
    return who if kerberos else {"user.name": str(options.get("user") or user), **who}


def _names_someone(options: Mapping[str, Any]) -> bool:
    return bool(options.get("token") or options.get("user"))


def _check_one_identity(options: Mapping[str, Any], kerberos: bool, url: str) -> None:
    named = [name for name in ("user", "proxy_to") if options.get(name)]
    if options.get("token") and (named or kerberos):
        raise InvalidInputError(
            f"{url} has the storage option token, which says who asks; leave out"
            f" {', '.join([*named, *(['kerberos'] if kerberos else [])])}."
        )
    if kerberos and options.get("user"):
        raise InvalidInputError(
            f"{url} has the storage option kerberos, where the ticket says who asks; leave out user"
            " and run kinit."
        )


def _settings(options: Mapping[str, Any], url: str) -> Mapping[str, str]:
    found: Mapping[str, str] = options.get("hadoop_settings") or {}
    _check_form(_is_texts(found), "hadoop_settings", _TEXTS, url)
    return found


def _kerberos(options: Mapping[str, Any], url: str) -> dict[str, Any]:
    found = options.get("kerb_kwargs") or {}
    _check_form(isinstance(found, Mapping), "kerb_kwargs", "be a dictionary by name", url)
    return dict(found)


def _certificate(options: Mapping[str, Any], url: str) -> str | tuple[str, str] | None:
    found = options.get("session_cert")
    parts = found if isinstance(found, list | tuple) else (found,)
    usable = found is None or (0 < len(parts) < 3 and all(isinstance(each, str) for each in parts))
    _check_form(usable, "session_cert", "be a path, or the paths of a certificate and its key", url)
    if isinstance(found, list | tuple):
        return (found[0], found[1]) if len(found) == 2 else found[0]
    return found


def _is_texts(found: Any) -> bool:
    return isinstance(found, Mapping) and all(isinstance(text, str) for text in found.values())


def _check_form(holds: bool, name: str, rule: str, url: str) -> None:
    if not holds:
        raise _malformed(name, url, rule)


def _flag(options: Mapping[str, Any], name: str, default: bool, url: str) -> bool:
    value = options.get(name, default)
    if not isinstance(value, bool):
        raise _malformed(name, url, "be True or False")
    return value


def _malformed(name: str, url: str, rule: str) -> InvalidInputError:
    return InvalidInputError(f"The storage option {name} of {url} must {rule}.")
