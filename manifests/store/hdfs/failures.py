"""What a failed request to HDFS means: whether it may pass, whether it arrived, and why.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import json
import socket
from http.client import HTTPException
from typing import Any

import requests

from colonnade.manifests.store.bucket.failure import TAKEN, Failure, busy, refused
from colonnade.manifests.store.bucket.http import is_unconnected
from colonnade.manifests.store.transient import may_pass

_NOT_DONE = {
    "StandbyException": "the namenode is on standby, and no other one answers",
    "RetriableException": "the namenode is starting",
    "SafeModeException": "the namenode is in safe mode, in which nothing can be written",
    "ObserverRetryOnActiveException": "the namenode is an observer",
    "NoDatanode": "no datanode takes or has the bytes; check the health of the cluster",
}
"""Exceptions of requests that had no effect and may succeed later."""

_NO_DATANODE = ("Failed to find datanode", "could only be written to", "No active nodes contain")
"""What messages of the namenode say where datanodes are missing, full or too busy."""

_SENTENCES = {
    "DSQuotaExceededException": "the space quota of its folder is used up",
    "NSQuotaExceededException": "the quota of names of its folder is used up",
    "QuotaByStorageTypeExceededException": "the space quota of its folder is used up",
    "InvalidToken": "the delegation token is not valid any more; get a new one",
    "InvalidPathException": "HDFS does not allow the name",
    "ParentNotDirectoryException": "one of its folders is a file",
    "UnknownHostException": "the namenode does not know the host",
    "NotWebHdfs": "the server does not speak WebHDFS; check the host and its HTTP port",
}
_UNREACHABLE = "the server cannot be reached; check the host, its HTTP port and the network"
_NO_LOGIN = "the server asks who you are; run kinit and give the storage option kerberos, or token"


class RefusedError(Exception):
    """An answer that cannot be used. It holds no more of it than the class of an exception."""

    def __init__(self, status: int, text: bytes) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.exception, message = _exception(text)
        if not self.exception and status in (*range(200, 400), 404, 405):
            self.exception = "NotWebHdfs"
        if any(text in message for text in _NO_DATANODE):
            # The class says nothing: it is that of every error of files.
            self.exception = "NoDatanode"
        self.is_out_of_range = "out of the range" in message
        self.is_unknown_operation = status == 400 and 'parameter "op"' in message


class UnansweredError(Exception):
    """A request without an answer. It names the class of the client's error and holds no URL.

    URLs of WebHDFS hold delegation tokens.
    """

    def __init__(self, name: str, connected: bool, in_time: bool, passing: bool) -> None:
        super().__init__(name)
        self.connected = connected
        self.in_time = in_time
        self.passing = passing


def unanswered(error: Exception) -> UnansweredError | None:
    """Return what is known of a client's error; None for one that is not of a request."""
    if not isinstance(error, requests.RequestException | HTTPException | OSError):
        return None
    connect = isinstance(error, requests.exceptions.ConnectTimeout | ConnectionRefusedError)
    unknown_host = isinstance(error, socket.gaierror)
    late = isinstance(error, requests.exceptions.Timeout | TimeoutError)
    trusted = not isinstance(error, requests.exceptions.SSLError)
    return UnansweredError(
        type(error).__name__,
        connected=not (connect or unknown_host or not trusted or is_unconnected(error)),
        in_time=not late,
        passing=trusted and (late or connect or may_pass(error) or is_unconnected(error)),
    )


def classify(operation: str, error: Exception) -> Failure | None:
    """Return what an error means for a request; None for one that is not of a request.

    `operation` is read, write, rename, remove or list.
    """
    if isinstance(error, RefusedError):
        return _refusal(operation, error)
    if not isinstance(error, UnansweredError):
        return None
    if not error.connected:
        return Failure(_UNREACHABLE, error, passing=error.passing, silent=True)
    reason = f"the request failed ({error})"
    if not error.in_time:
        reason = "the server did not answer in time"
    elif error.passing:
        reason = "the server closed the connection without an answer"
    silent = not error.in_time
    return Failure(reason, error, arrived=True, passing=error.passing, silent=silent)


def _refusal(operation: str, error: RefusedError) -> Failure:
    not_done = error.exception in _NOT_DONE
    passing = not_done or may_pass(error)
    return Failure(
        _reason(operation, error, passing),
        error,
        status=TAKEN if error.exception == "FileAlreadyExistsException" else error.status,
        absent=error.exception == "FileNotFoundException",
        arrived=passing and not not_done,
        passing=passing,
        bare=error.status == 401,
    )


def _reason(operation: str, error: RefusedError, passing: bool) -> str:
    known = _NOT_DONE.get(error.exception) or _SENTENCES.get(error.exception)
    if known:
        return known
    if error.exception in ("AccessControlException", "") and error.status == 403:
        need = "read" if operation in ("read", "list") else "write"
        return f"permission denied; the user needs permission to {need} there"
    if error.status == 401:
        return _NO_LOGIN
    return busy(error.status) if passing else refused(error.status, error.exception)


def _exception(text: bytes) -> tuple[str, str]:
    """Return the class and the message of the exception that an answer holds, or empty texts."""
    try:
        answer: Any = json.loads(text)["RemoteException"]
        return str(answer["exception"]), str(answer["message"])
    except (ValueError, KeyError, TypeError):
        return "", ""
