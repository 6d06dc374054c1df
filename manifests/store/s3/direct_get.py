"""GET requests of objects, signed and sent by botocore without its layers for parameters.

Opening a log takes some twenty small requests. In each of them these layers take most of the
processor time: they check the parameters, find the endpoint by rules and parse the answer. The
first request of a bucket goes through all of them and shows the bucket's URL and how it is signed.
Later ones use the same URL, signer and connections. An answer that may come from another place than
that is left to botocore, by one more request.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from botocore.awsrequest import AWSRequest
from botocore.exceptions import ClientError
from botocore.response import StreamingBody

T = TypeVar("T")

_OPERATION = "GetObject"
_SCOPE = re.compile(r"AWS4-HMAC-SHA256 Credential=[^,]+/\d{8}/([^/,]+)/([^/,]+)/aws4_request,")
_CODE = re.compile(rb"<Code>([^<]+)</Code>")

_OF_A_REQUEST = {
    *("authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token", "range"),
    *("amz-sdk-invocation-id", "amz-sdk-request", "x-amz-checksum-mode"),
}
"""Headers of one request, in lower case. The signer adds those that each request needs."""

_OF_A_CLIENT = {"user-agent", "x-amz-request-payer"}
"""Headers of all requests of a client, in lower case."""

_REFUSED = {403, 404, 412, 416, 429}
"""Statuses of a refusal that no other endpoint would lift."""


class _Way(NamedTuple):
    """How to ask one bucket: the URL before a key, the headers, and who signs for what."""

    url: str
    headers: Mapping[str, str]
    region: str | None
    service: str


class DirectGets:
    """The GET requests of a client of botocore. Threads may share it."""

    def __init__(self, sender: Any) -> None:
        self._sender = sender
        self._ways: dict[str, _Way] = {}
        self._sent = threading.local()
        # Without these two attributes, which botocore does not promise, it makes all requests.
        self._session: Any = getattr(getattr(sender, "_endpoint", None), "http_session", None)
        self._signer: Any = getattr(sender, "_request_signer", None)
        if self._session is not None and self._signer is not None:
            sender.meta.events.register(f"before-send.s3.{_OPERATION}", self._record)

    def get(
        self,
        bucket: str,
        key: str,
        headers: Mapping[str, str],
        parameters: Mapping[str, Any],
        read: Callable[[Any], T],
    ) -> T:
        """Ask for an object once, and return what `read` makes of the answer.

        `read` takes a dictionary with Body and ContentLength, as botocore has them. `headers` and
        `parameters` say the same of the part that is wanted, in the form of HTTP and of botocore.
        Raises the errors of botocore and of `read`.
        """
        way = self._ways.get(bucket)
        if way is not None:
            answer = self._ask(way, key, headers)
            if answer is not None:
                return read(answer)
            self._ways.pop(bucket, None)
        self._sent.request = None
        try:
            answer = self._sender.get_object(Bucket=bucket, Key=key, **parameters)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "NoSuchKey":
                self._learn(bucket, key)
            raise
        self._learn(bucket, key)
        return read(answer)

    def _record(self, request: Any, **others: Any) -> None:
        """Remember the request that botocore sends in this thread."""
        self._sent.request = request

    def _learn(self, bucket: str, key: str) -> None:
        """Take the way to a bucket from a request that botocore has just sent there."""
        sent, end = self._sent.request, _path(key)
        if sent is None or not sent.url.endswith(f"/{end}"):
            return
        headers = {_text(name): _text(value) for name, value in sent.headers.items()}
        lower = {name.lower() for name in headers}
        if lower - _OF_A_REQUEST - _OF_A_CLIENT:
            return
        signed = next((v for name, v in headers.items() if name.lower() == "authorization"), None)
        scope = _SCOPE.match(signed or "")
        if signed is not None and scope is None:
            return
        kept = {name: v for name, v in headers.items() if name.lower() in _OF_A_CLIENT}
        region, service = scope.groups() if scope else (None, "")
        self._ways[bucket] = _Way(sent.url[: -len(end)], kept, region, service)

    def _ask(self, way: _Way, key: str, headers: Mapping[str, str]) -> dict[str, Any] | None:
        """Return the answer to a request, or None if botocore has to ask."""
        request = AWSRequest("GET", way.url + _path(key), {**way.headers, **headers})
        request.stream_output = True
        if way.region is not None:
            self._signer.get_auth_instance(way.service, way.region, "s3v4").add_auth(request)
        answer = self._session.send(request.prepare())
        length = answer.headers.get("Content-Length")
        if answer.status_code in (200, 206) and length is not None:
            body = StreamingBody(answer.raw, length)
            return {"Body": body, "ContentLength": int(length)}
        text = answer.content
        if answer.status_code in _REFUSED or answer.status_code >= 500:
            raise _refusal(answer.status_code, text)
        return None


def _refusal(status: int, text: bytes) -> ClientError:
    """Return the error that botocore has for an answer."""
    code = _CODE.search(text)
    name = str(status) if code is None else code[1].decode(errors="replace")
    said = {"Error": {"Code": name}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(said, _OPERATION)


def _path(key: str) -> str:
    """Return a key as botocore writes it into a URL."""
    return quote(key, safe="/~")


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
