"""How a new object is sent to GCS.

An upload in parts is a session. Its parts are sent one after another, and GCS says how many bytes
it has. A session that a killed writer leaves cannot be listed, and ends by itself after a week.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import base64
import json
import re
import secrets
from typing import Any

import google_crc32c
import requests

from colonnade.manifests.store.bucket.failure import Failure
from colonnade.manifests.store.bucket.http import body_of
from colonnade.manifests.store.bucket.upload import MARK, Upload
from colonnade.manifests.store.gcs.client import GcsClient, json_of

PART = 8 << 20
"""Bytes of a part: a multiple of 256 KiB, as GCS demands."""

_MORE = 308
_RANGE = re.compile(r"bytes=0-(\d+)")


def whole_upload(key: str, data: bytes, token: str | None, *, if_absent: bool) -> dict[str, Any]:
    """Return the query, headers and body of a request that uploads a whole object."""
    boundary = secrets.token_hex(16)
    description = {**_described(key, token), "crc32c": _crc_text(google_crc32c.value(data))}
    head = (
        f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n"
        f"{json.dumps(description)}\r\n--{boundary}\r\nContent-Type: application/octet-stream\r\n"
        "\r\n"
    )
    condition = {"ifGenerationMatch": "0"} if if_absent else {}
    return {
        "query": {"uploadType": "multipart", "fields": "generation", **condition},
        "headers": {"Content-Type": f"multipart/related; boundary={boundary}"},
        "body": b"".join((head.encode(), data, f"\r\n--{boundary}--\r\n".encode())),
    }


class GcsUpload(Upload):
    """One upload of a whole object, or a session."""

    # The parts of a session follow one another.
    under_way = 1
    ends_with_part = True

    def __init__(self, client: GcsClient, uploads: str, path: str, key: str) -> None:
        """`uploads` and `path` are the paths of requests for uploads and for the object."""
        self.patience = client
        self._client = client
        self._uploads, self._path, self._key = uploads, path, key
        self._token = secrets.token_hex(16)
        self._session = ""
        self._crc = 0
        self._acknowledged = 0
        self._unsure = False

    def part_size(self, number: int) -> int:
        return PART

    def put(self, body: bytes) -> None:
        request = whole_upload(self._key, body, self._token, if_absent=True)
        self._client.send("write", "POST", self._uploads, **request, read=body_of)

    def begin(self) -> None:
        self._session = self._client.send(
            "write",
            "POST",
            self._uploads,
            query={"uploadType": "resumable", "ifGenerationMatch": "0"},
            headers={"Content-Type": "application/json; charset=UTF-8"},
            body=json.dumps(_described(self._key, self._token)).encode(),
            read=lambda answer: str(answer.headers["Location"]),
        )

    def send(self, number: int, offset: int, body: bytes) -> None:
        self._transfer(offset, body, "*")
        self._crc = google_crc32c.extend(self._crc, body)
        self._acknowledged = offset + len(body)

    def finish(self, parts: list[Any], rest: bytes) -> None:
        offset = self._acknowledged
        found = self._transfer(offset, rest, str(offset + len(rest)))
        crc = _crc_text(google_crc32c.extend(self._crc, rest))
        if found.get("crc32c", crc) != crc:
            raise _damaged("the server has stored other bytes than were sent")

    def end(self) -> None:
        self._client.send("write", "DELETE", self._session, read=body_of)

    def is_own(self) -> bool:
        fields = {"fields": "metadata"}
        found = self._client.send("read", "GET", self._path, query=fields, read=json_of)
        return bool(found.get("metadata", {}).get(MARK) == self._token)

    def _transfer(self, offset: int, body: bytes, total: str) -> dict[str, Any]:
        """Send the bytes that the server lacks. Returns the object's description once it exists."""
        begin = 0
        if self._unsure:
            have = self._put(f"bytes */{total}", b"")
            if isinstance(have, dict):
                return have
            begin = have - offset
            if not 0 <= begin <= len(body):
                raise _damaged("the server has lost a part of it")
            if begin == len(body) and total == "*":
                self._unsure = False
                return {}
        try:
            last = offset + len(body) - 1
            have = self._put(f"bytes {offset + begin}-{last}/{total}", body[begin:])
        except Failure as failure:
            self._unsure = self._unsure or failure.arrived
            raise
        self._unsure = not isinstance(have, dict) and have != offset + len(body)
        if isinstance(have, dict):
            return have
        if self._unsure or total != "*":
            self._unsure = True
            raise _damaged("the server has taken a part only partly", passing=True)
        return {}

    def _put(self, content_range: str, body: bytes) -> int | dict[str, Any]:
        """Send part of the session. Returns the bytes that the server has, or the object."""

        def take(answer: requests.Response) -> int | dict[str, Any]:
            if answer.status_code != _MORE:
                return json_of(answer)
            body_of(answer)
            found = _RANGE.fullmatch(answer.headers.get("Range", ""))
            return int(found[1]) + 1 if found else 0

        headers = {"Content-Range": content_range}
        return self._client.send(
            "write", "PUT", self._session, headers=headers, body=body, read=take
        )


def _described(key: str, token: str | None) -> dict[str, Any]:
    # Caches keep a public object for an hour, unless the object says otherwise.
    mark = {} if token is None else {"metadata": {MARK: token}}
    return {"name": key, "cacheControl": "no-store", **mark}


def _crc_text(crc: int) -> str:
    return base64.b64encode(crc.to_bytes(4, "big")).decode()


def _damaged(reason: str, passing: bool = False) -> Failure:
    return Failure(reason, ValueError(reason), status=200, passing=passing)
