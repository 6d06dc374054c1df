"""The requests of a store to a bucket of GCS, over its JSON API.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from email import message_from_bytes
from typing import Any
from urllib.parse import quote, urlencode

import requests

from colonnade.manifests.store.base import Data, ObjectInfo
from colonnade.manifests.store.bucket.failure import Failure, accepting_absence
from colonnade.manifests.store.bucket.http import body_of, part_body, whole_body
from colonnade.manifests.store.bucket.requests import (
    BucketRequests,
    CheckSize,
    Head,
    ListingPage,
    RemovalFailure,
    ms_of,
)
from colonnade.manifests.store.gcs.client import GcsClient, json_of
from colonnade.manifests.store.gcs.failures import RefusedError, classify
from colonnade.manifests.store.gcs.upload import GcsUpload, whole_upload

_DATE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z")
_STATUS = re.compile(rb"\s*HTTP/[\d.]+ (\d{3})")


class GcsRequests(BucketRequests):
    """One bucket of GCS."""

    at_once = 100
    lacking = "uploads with 'ifGenerationMatch=0', as Google Cloud Storage has them"

    def __init__(self, client: GcsClient, name: str) -> None:
        self.patience = client
        self.name = name
        self._client = client

    @property
    def server(self) -> str:
        return self._client.settings.endpoint

    def read(self, key: str, check: CheckSize) -> bytes:
        media, take = {"alt": "media"}, whole_body(check)
        return self._client.send("read", "GET", self._path(key), query=media, read=take)

    def read_range(self, key: str, offset: int, length: int) -> bytes | None:
        wanted = {"Range": f"bytes={offset}-{offset + length - 1}"}
        media, take = {"alt": "media"}, part_body(length)
        try:
            return self._client.send(
                "read", "GET", self._path(key), query=media, headers=wanted, read=take
            )
        except Failure as failure:
            if failure.status == 416:
                return None
            raise

    def head(self, key: str) -> Head:
        fields = {"fields": "size,timeCreated"}
        found = self._client.send("read", "GET", self._path(key), query=fields, read=json_of)
        return Head(int(found["size"]), _ms(found["timeCreated"]))

    def put(self, key: str, data: Data, *, if_absent: bool) -> None:
        self._client.send(
            "write" if if_absent else "replace",
            "POST",
            f"/upload{self._objects}",
            **whole_upload(key, bytes(data), None, if_absent=if_absent),
            read=body_of,
        )

    def remove(self, key: str) -> None:
        with accepting_absence():
            self._client.send("remove", "DELETE", self._path(key), read=body_of)

    def remove_batch(self, keys: Sequence[str]) -> Mapping[str, RemovalFailure]:
        boundary = secrets.token_hex(16)
        payer = self._client.settings.payer
        query = f"?{urlencode({'userProject': payer})}" if payer else ""
        parts = (
            f"--{boundary}\r\nContent-Type: application/http\r\nContent-ID: <{number}>\r\n\r\n"
            f"DELETE {self._path(key)}{query} HTTP/1.1\r\n\r\n\r\n"
            for number, key in enumerate(keys)
        )
        answers = self._client.send(
            "remove",
            "POST",
            "/batch/storage/v1",
            headers={"Content-Type": f"multipart/mixed; boundary={boundary}"},
            body=f"{''.join(parts)}--{boundary}--\r\n".encode(),
            read=_batch_answers,
        )
        kept = {}
        for number, key in enumerate(keys):
            status, text = answers.get(number, (500, b""))
            failure = classify("remove", RefusedError(status, text))
            if status >= 300 and failure is not None and not failure.absent:
                kept[key] = RemovalFailure(failure.reason, failure.passing)
        return kept

    def page(self, prefix: str, after: str | None) -> ListingPage:
        fields = "items(name,size,timeCreated),nextPageToken"
        query = {"prefix": prefix, "fields": fields, "maxResults": "1000"}
        if after is not None:
            query["pageToken"] = after
        answer = self._client.send("list", "GET", self._objects, query=query, read=json_of)
        return ListingPage(
            [
                ObjectInfo(each["name"], int(each["size"]), _ms(each["timeCreated"]))
                for each in answer.get("items", ())
            ],
            answer.get("nextPageToken") or None,
        )

    def date_ms(self) -> int:
        def take(answer: requests.Response) -> int:
            return ms_of(answer.headers["Date"])

        return self._client.send("list", "GET", self._objects, query={"maxResults": "1"}, read=take)

    def upload(self, key: str) -> GcsUpload:
        return GcsUpload(self._client, f"/upload{self._objects}", self._path(key), key)

    @property
    def _objects(self) -> str:
        return f"/storage/v1/b/{quote(self.name, safe='')}/o"

    def _path(self, key: str) -> str:
        return f"{self._objects}/{quote(key, safe='')}"


def _batch_answers(answer: requests.Response) -> dict[int, tuple[int, bytes]]:
    """Return the status and the text of each part of an answer, by its number."""
    head = f"Content-Type: {answer.headers['Content-Type']}\r\n\r\n"
    found = {}
    for part in message_from_bytes(head.encode() + body_of(answer)).walk():
        number = re.search(r"(\d+)>?$", part.get("Content-ID", ""))
        text: Any = None if part.is_multipart() else part.get_payload(decode=True)
        status = _STATUS.match(text or b"")
        if number and status:
            found[int(number[1])] = int(status[1]), text.partition(b"\r\n\r\n")[2]
    return found


def _ms(date: str) -> int:
    found = _DATE.fullmatch(date)
    if found is None:
        raise ValueError("GCS has returned a malformed date.")
    second = datetime.strptime(found[1], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return round(second.timestamp()) * 1000 + int((found[2] or "").ljust(3, "0")[:3])
