"""Requests to GCS: one connection pool and one set of credentials a process.

Each call of `send` is one request, and `Patience` alone repeats it. A request that was refused
because its credentials had expired had no effect, so it is sent again with new ones.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import google.auth
import requests
from google.auth import compute_engine
from google.auth.credentials import Credentials
from google.auth.transport.requests import Request
from google.oauth2.credentials import Credentials as TokenCredentials
from google.oauth2.service_account import Credentials as ServiceCredentials

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.bucket import http
from colonnade.manifests.store.bucket.clients import Clients
from colonnade.manifests.store.bucket.http import body_of
from colonnade.manifests.store.bucket.patience import Patience
from colonnade.manifests.store.gcs.failures import RefusedError, classify
from colonnade.manifests.store.gcs.settings import GcsSettings

T = TypeVar("T")

_CLOSED = 499
"""The status of a success: the session of an upload was ended by its client."""

_SHOWN = 4096
"""Bytes of an error's answer that are looked at."""


def json_of(answer: requests.Response) -> dict[str, Any]:
    """Return the object that is the body of an answer."""
    found: dict[str, Any] = json.loads(body_of(answer) or b"{}")
    return found


class GcsClient(Patience):
    """Sends requests to one server. Threads may share it."""

    def __init__(self, settings: GcsSettings) -> None:
        super().__init__(settings.patience_s)
        self.settings = settings
        self._lock = threading.Lock()
        self._credentials: Credentials | None = None
        self._session = http.session(2 * settings.parallel)
        self._renewal = partial(Request(http.session(4)), timeout=settings.timeouts_s[1])

    def send(
        self,
        operation: str,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        read: Callable[[requests.Response], T],
    ) -> T:
        """Send one request, once, and return what `read` makes of its answer.

        `path` may be a whole URL. `read` takes the body, so that a connection that breaks meanwhile
        is a failed request. Raises: Failure; the errors of `read`.
        """
        url = path if "://" in path else f"{self.settings.endpoint}{path}"
        payer = {"userProject": self.settings.payer} if self.settings.payer else {}
        sent = {"Accept-Encoding": "identity", **(headers or {})}

        def request() -> T:
            for again in (False, True):
                authorized = self._authorize(method, url, dict(sent), renew=again)
                with self._session.request(
                    method,
                    url,
                    params={**payer, **(query or {})},
                    headers=authorized,
                    data=body or None,
                    timeout=self.settings.timeouts_s,
                    allow_redirects=False,
                    stream=True,
                ) as answer:
                    if answer.status_code == 401 and not again and self._credentials is not None:
                        continue
                    _check(answer)
                    return read(answer)
            raise AssertionError

        return self.once(request, partial(classify, operation))

    def _authorize(
        self, method: str, url: str, headers: dict[str, str], renew: bool
    ) -> dict[str, str]:
        """Return headers with a valid token, fetching one where it is needed."""
        if self.settings.is_anonymous:
            return headers
        with self._lock:
            if self._credentials is None:
                self._credentials = _load(self.settings, self._renewal)
            elif renew:
                self._credentials.refresh(self._renewal)
            self._credentials.before_request(self._renewal, method, url, headers)
        return headers


client_of = Clients(GcsClient).of
"""Returns the client of this process for some settings."""


def _check(answer: requests.Response) -> None:
    if answer.status_code >= 400 and answer.status_code != _CLOSED:
        raise RefusedError(answer.status_code, next(answer.iter_content(_SHOWN), b""))


def _load(settings: GcsSettings, request: Callable[..., Any]) -> Credentials:
    """Return the credentials that the option `token` means, as gcsfs does."""
    token, scopes = settings.token, [settings.scope]
    if isinstance(token, Credentials):
        return token
    if token is None or token == "google_default":
        return google.auth.default(scopes=scopes, request=request)[0]
    if token == "cloud":
        return compute_engine.Credentials(scopes=scopes)
    path, is_key = os.path.expanduser(str(token)), str(token).lstrip().startswith("{")
    if not is_key and not os.path.isabs(path) and not os.path.exists(path):
        return TokenCredentials(str(token))
    try:
        if is_key:
            return _of_key(token if isinstance(token, Mapping) else json.loads(token), scopes)
        with open(path, encoding="utf-8") as file:
            return _of_key(json.load(file), scopes)
    except InvalidInputError:
        raise
    except (OSError, ValueError):
        pass
    # Raised here, because the first error may hold the key.
    raise InvalidInputError(
        "The storage option token, or the file that it names, is not a key that can be read; give"
        " the key of a service account in JSON, or set GOOGLE_APPLICATION_CREDENTIALS and leave"
        " token out."
    )


def _of_key(key: Any, scopes: list[str]) -> Credentials:
    """Return the credentials of a key, as Google writes it into files."""
    kind = key.get("type") if isinstance(key, Mapping) else None
    if kind == "service_account":
        return ServiceCredentials.from_service_account_info(dict(key), scopes=scopes)
    if kind == "authorized_user":
        return TokenCredentials.from_authorized_user_info(dict(key), scopes=scopes)
    raise InvalidInputError(
        "The storage option token holds a key of an unknown type; give the key of a service account"
        " or of an authorized user, or set GOOGLE_APPLICATION_CREDENTIALS and leave token out."
    )
