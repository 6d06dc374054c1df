"""Requests to HDFS over WebHDFS: one connection pool and one identity a process.

The namenode answers what concerns names, and says which datanode takes or gives the bytes. Each
call is one request, and `Patience` alone repeats it. Of several namenodes, one is active; a request
that another one refuses, or leaves unanswered, makes the next request go to the next namenode.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import importlib
import json
import logging
import re
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPSConnection
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import requests

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.bucket import http
from colonnade.manifests.store.bucket.clients import Clients
from colonnade.manifests.store.bucket.failure import Failure
from colonnade.manifests.store.bucket.http import body_of
from colonnade.manifests.store.bucket.patience import Patience
from colonnade.manifests.store.hdfs.failures import (
    RefusedError,
    classify,
    unanswered,
)
from colonnade.manifests.store.hdfs.settings import HdfsSettings

T = TypeVar("T")

_SHOWN = 16384
"""Bytes of an error's answer that are looked at. A datanode adds the whole trace of its stack."""

_ELSEWHERE = frozenset(("StandbyException", "ObserverRetryOnActiveException"))

_TOKEN = re.compile(r"(?<=[?&]delegation=)[^&]+")


class _WithoutTokens(logging.Filter):
    """Removes delegation tokens from the messages of a logger: WebHDFS has them in its URLs."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                _TOKEN.sub("…", each) if isinstance(each, str) else each for each in record.args
            )
        return True


# At the level DEBUG, this logger names the URL of each request.
logging.getLogger("urllib3.connectionpool").addFilter(_WithoutTokens())


def json_of(take: Callable[[Any], T]) -> Callable[[requests.Response], T]:
    """Return a function that gives `take` the JSON of an answer, and returns what `take` makes.

    An empty body counts as an empty object. The function raises RefusedError for a body that is not
    an object, and where `take` does not find what it looks for.
    """

    def read(answer: requests.Response) -> T:
        body = body_of(answer)
        with suppress(LookupError, TypeError, ValueError):
            found = json.loads(body or b"{}")
            if isinstance(found, dict):
                return take(found)
        raise RefusedError(answer.status_code, b"")

    return read


class HdfsClient(Patience):
    """Sends requests to one file system. Threads may share it."""

    def __init__(self, settings: HdfsSettings) -> None:
        super().__init__(settings.patience_s)
        self.settings = settings
        self._active = 0
        self._session = _session(settings)

    def ask(
        self,
        operation: str,
        method: str,
        key: str,
        parameters: Mapping[str, str],
        read: Callable[[requests.Response], T],
    ) -> T:
        """Send one request about a name to the namenode, once. Return what `read` makes of it.

        `read` takes the body, so that a connection that breaks meanwhile is a failed request.
        Raises: Failure; the errors of `read`.
        """
        asked = self._active
        url = f"{self.settings.namenodes[asked]}/webhdfs/v1/{quote(key)}"
        query = {**parameters, **self.settings.who}
        try:
            return self._once(operation, method, url, query, b"", read)
        except Failure as failure:
            refusal = failure.error
            elsewhere = isinstance(refusal, RefusedError) and refusal.exception in _ELSEWHERE
            if elsewhere or failure.status is None:
                self._active = (asked + 1) % len(self.settings.namenodes)
            raise

    def locate(self, operation: str, method: str, key: str, parameters: Mapping[str, str]) -> str:
        """Return the URL at a datanode that takes or gives the bytes. It may hold a token."""

        def take(answer: requests.Response) -> str:
            location = answer.headers.get("Location")
            if answer.status_code != 307 or not location:
                raise RefusedError(answer.status_code, b"")
            return self.to_datanode(location)

        return self.ask(operation, method, key, parameters, take)

    def transfer(
        self,
        operation: str,
        method: str,
        url: str,
        body: bytes,
        read: Callable[[requests.Response], T],
    ) -> T:
        """Send one request to a datanode, once. Raises as `ask`."""

        def take(answer: requests.Response) -> T:
            check_transfer(answer.status_code, b"")
            return read(answer)

        return self._once(operation, method, url, {}, body, take)

    def stream(self, url: str) -> HTTPConnection:
        """Begin to send a body of unknown length to a datanode. Raises: Failure."""
        parts = urlsplit(url)
        target = f"{parts.path}?{parts.query}"

        def begin() -> HTTPConnection:
            # A datanode answers a stream only after its last block has reached the disks.
            timeout_s = 2 * self.settings.timeouts_s[1]
            assert parts.hostname is not None
            if parts.scheme == "https":
                line: HTTPConnection = HTTPSConnection(
                    parts.hostname, parts.port, timeout=timeout_s, context=_tls(self.settings)
                )
            else:
                line = HTTPConnection(parts.hostname, parts.port, timeout=timeout_s)
            line.putrequest("PUT", target)
            line.putheader("Transfer-Encoding", "chunked")
            line.putheader("Content-Type", "application/octet-stream")
            line.endheaders()
            return line

        return self.once(partial(without_urls, begin), partial(classify, "write"))

    def _once(
        self,
        operation: str,
        method: str,
        url: str,
        query: Mapping[str, str],
        body: bytes,
        read: Callable[[requests.Response], T],
    ) -> T:
        def request() -> T:
            with self._session.request(
                method,
                url,
                params=query,
                data=body or None,
                headers={"Accept-Encoding": "identity"},
                timeout=self.settings.timeouts_s,
                allow_redirects=False,
                stream=True,
            ) as answer:
                if answer.status_code >= 400:
                    raise RefusedError(answer.status_code, _first_bytes(answer))
                return read(answer)

        return self.once(partial(without_urls, request), partial(classify, operation))

    def to_datanode(self, location: str) -> str:
        """Return the URL of a datanode as this machine reaches it. It may hold a token.

        Raises: RefusedError for text that is not the URL of a datanode. Raises it, too, for a URL
        without encryption if the namenodes have encryption and there is no option `data_proxy`.
        """
        url = self._proxied(location)
        with suppress(ValueError):  # the port is not a number
            parts = urlsplit(url)
            secure = all(each.startswith("https:") for each in self.settings.namenodes)
            plain = parts.scheme == "http" and (self.settings.data_proxy or not secure)
            if (plain or parts.scheme == "https") and parts.hostname and parts.port != 0:
                return url
        raise RefusedError(307, b"")

    def _proxied(self, location: str) -> str:
        proxy = self.settings.data_proxy
        if callable(proxy):
            return proxy(location)
        for host, other in (proxy or {}).items():
            location = location.replace(host, other, 1)
        return location


client_of = Clients(HdfsClient).of
"""Returns the client of this process for some settings."""


def without_urls(request: Callable[[], T]) -> T:
    """Make a request. Its error is UnansweredError, because errors of clients hold whole URLs."""
    try:
        return request()
    except Exception as error:
        failed = unanswered(error)
        if failed is None:
            raise
    # Raised here, so that the error of the client is not its context either.
    raise failed


def check_transfer(status: int, text: bytes) -> None:
    """Refuse an answer of a datanode that does not say that it has taken or given the bytes."""
    if status not in (200, 201):
        raise RefusedError(status, text)


def _first_bytes(answer: requests.Response) -> bytes:
    return next(answer.iter_content(_SHOWN), b"")


def _session(settings: HdfsSettings) -> requests.Session:
    session = http.session(2 * settings.parallel)
    # As Hadoop's own clients, this one uses no proxy of the environment and no file .netrc.
    session.trust_env = False
    if settings.kerberos is not None:
        session.auth = _kerberos(settings.kerberos)
    session.cert, session.verify = settings.certificate, settings.verify
    return session


def _kerberos(arguments: Mapping[str, Any]) -> Any:
    try:
        made = importlib.import_module("requests_kerberos").HTTPKerberosAuth(**arguments)
    except ImportError as error:
        raise InvalidInputError(
            "Kerberos for HDFS needs the package requests-kerberos; install it, or give the storage"
            " option token."
        ) from error
    except TypeError as error:
        raise InvalidInputError(
            "The storage option kerb_kwargs has names that requests-kerberos does not know."
        ) from error
    return made


def _tls(settings: HdfsSettings) -> ssl.SSLContext:
    trusted = settings.verify if isinstance(settings.verify, str) else None
    context = ssl.create_default_context(cafile=trusted)
    if settings.verify is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if isinstance(settings.certificate, str):
        context.load_cert_chain(settings.certificate)
    elif settings.certificate:
        context.load_cert_chain(*settings.certificate)
    return context
