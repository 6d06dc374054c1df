"""What a failed request to GCS means: whether it may pass, whether it arrived, and why.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import json
from typing import Any

import requests
from google.auth import exceptions as google

from colonnade.manifests.store.bucket.failure import Failure, busy, refused
from colonnade.manifests.store.bucket.http import is_unconnected
from colonnade.manifests.store.transient import may_pass

_PERMISSIONS = {
    "read": "storage.objects.get, or storage.objects.list where the object is absent",
    "write": "storage.objects.create",
    "replace": "storage.objects.create and storage.objects.delete",
    "remove": "storage.objects.delete",
    "list": "storage.objects.list",
}
_SENTENCES = {
    "retentionPolicyNotMet": "a retention policy of the bucket keeps the object",
    "objectUnderActiveHold": "a hold keeps the object",
    "userProjectMissing": "the requester pays for this bucket; give the storage option"
    " requester_pays",
    "userProjectAccountProblem": "the project that pays has no billing account",
    "billingNotEnabled": "the project of the bucket has no billing account",
    "invalidBucketName": "that is not a name of a bucket",
}
_NO_BUCKET = "the bucket does not exist; create it first, or correct its name"
_UNREACHABLE = "the server cannot be reached; check endpoint_url and the network"
_RENEW = (
    "the credentials cannot be used or renewed; run 'gcloud auth application-default login', or"
    " give the storage option token"
)
_NEVER_SENT = (
    (google.DefaultCredentialsError, False, "no credentials were found; run 'gcloud auth"
     " application-default login', or give the storage option token"),
    (google.TransportError, True, "the server of the credentials cannot be reached"),
    (google.GoogleAuthError, False, _RENEW),
    (requests.exceptions.ProxyError, True, "the proxy cannot be reached"),
    (requests.exceptions.SSLError, False,
     "the certificate of the server is not trusted, or it speaks no TLS"),
    (requests.exceptions.ConnectTimeout, True, _UNREACHABLE),
)  # fmt: skip
"""Errors before a request is sent: whether each may pass, and what it means."""


class RefusedError(Exception):
    """An answer with an error status. It holds no more of the answer than its first letters."""

    def __init__(self, status: int, text: bytes) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.names_bucket = b"bucket does not exist" in text
        self.code = _code(text)


def classify(operation: str, error: Exception) -> Failure | None:
    """Return what an error means for a request; None for one that is not of a request.

    `operation` is read, write, replace, remove or list.
    """
    if isinstance(error, RefusedError):
        return _refusal(operation, error)
    if not isinstance(error, requests.RequestException | google.GoogleAuthError | OSError):
        return None
    for kind, passing, reason in _NEVER_SENT:
        if isinstance(error, kind):
            silent = isinstance(error, requests.exceptions.ConnectTimeout)
            bare = isinstance(error, google.GoogleAuthError) and not passing
            return Failure(reason, error, passing=passing, silent=silent, bare=bare)
    if is_unconnected(error):
        return Failure(_UNREACHABLE, error, passing=True, silent=True)
    if isinstance(error, requests.exceptions.Timeout):
        reason = "the server did not answer in time"
        return Failure(reason, error, arrived=True, passing=True, silent=True)
    if may_pass(error):
        reason = "the server closed the connection without an answer"
        return Failure(reason, error, arrived=True, passing=True)
    return Failure(f"the request failed ({type(error).__name__})", error, arrived=True)


def _refusal(operation: str, error: RefusedError) -> Failure:
    status = error.status
    passing = may_pass(error) or status == 409
    # Only a request about one object can be answered by the absence of that object.
    about_object = operation in ("read", "remove") and not error.names_bucket
    return Failure(
        _reason(operation, error, passing),
        error,
        status=status,
        absent=status == 404 and about_object,
        arrived=passing,
        passing=passing,
        bare=status == 401,
    )


def _reason(operation: str, error: RefusedError, passing: bool) -> str:
    if error.code in _SENTENCES:
        return _SENTENCES[error.code]
    if error.status == 404:
        return _NO_BUCKET
    if error.status == 401:
        return _RENEW
    if error.status == 403:
        return f"permission denied; the credentials need {_PERMISSIONS[operation]}"
    return busy(error.status) if passing else refused(error.status, error.code)


def _code(text: bytes) -> str:
    try:
        answer: Any = json.loads(text)
        return str(answer["error"]["errors"][0]["reason"])
    except (ValueError, KeyError, IndexError, TypeError):
        return ""
