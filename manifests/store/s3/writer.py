"""A new object of any size: one put if it is small, else an upload in parts.

An upload in parts is invisible until its last request, which names the parts, and then whole. What
a killed writer leaves is an unfinished upload, which `list_unfinished` shows.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import secrets
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from colonnade.manifests.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    StoreError,
)
from colonnade.manifests.store.base import Data, ObjectWriter
from colonnade.manifests.store.s3.client import S3Client, refuse
from colonnade.manifests.store.s3.failures import Failure

PART = 5 << 20
"""Bytes of the first parts, the fewest that S3 allows."""

_PARTS_OF_A_SIZE = 500
"""Parts are twice as long after as many, so that the 10,000 that S3 allows hold any object."""

UNDER_WAY = 3
"""Parts of one writer that are on their way at once. Each is held in memory until it arrived."""

_MARK = "colonnade-write"
"""The metadata of an object that names its writer, which may have lost the answer."""


class S3Writer(ObjectWriter):
    """Collects a part and sends it while the next one is collected.

    Holds at most `UNDER_WAY` + 1 parts in memory. Errors of a part are raised by the next call.
    """

    def __init__(self, client: S3Client, bucket: str, key: str, location: str) -> None:
        self._client = client
        self._place = {"Bucket": bucket, "Key": key}
        self._location = location
        self._token = secrets.token_hex(16)
        self._buffer = bytearray()
        self._open = True
        self._upload: str | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: deque[Future[dict[str, Any]]] = deque()
        self._parts: list[dict[str, Any]] = []
        self._sent = 0

    def write(self, data: Data) -> None:
        if not self._open:
            raise InvalidInputError(f"{self._location} is no longer being written.")
        view = memoryview(data).cast("B")
        try:
            while len(view):
                wanted = self._part_size() - len(self._buffer)
                self._buffer += view[:wanted]
                view = view[wanted:]
                if len(self._buffer) == self._part_size():
                    self._send_part()
        except BaseException:
            self.abort()
            raise

    def close(self) -> None:
        if not self._open:
            return
        try:
            if self._upload is None:
                self._put_whole()
            else:
                self._complete()
        except BaseException:
            self.abort()
            raise
        self._open = False
        self._release()

    def abort(self) -> None:
        if not self._open:
            return
        self._open = False
        self._release()
        if self._upload is not None:
            # If the request fails, an unfinished upload stays behind, and vacuum ends it.
            with suppress(StoreError, NotFoundError):
                self._call("AbortMultipartUpload", UploadId=self._upload)

    def _part_size(self) -> int:
        return int(PART << self._sent // _PARTS_OF_A_SIZE)

    def _send_part(self) -> None:
        if self._upload is None:
            begun = self._call(
                "CreateMultipartUpload",
                Metadata={_MARK: self._token},
                **self._client.settings.extra,
            )
            self._upload = begun["UploadId"]
            self._pool = ThreadPoolExecutor(UNDER_WAY, "colonnade-upload")
        assert self._pool is not None
        if len(self._waiting) == UNDER_WAY:
            self._parts.append(self._waiting.popleft().result())
        body, self._buffer = bytes(self._buffer), bytearray()
        self._sent += 1
        self._waiting.append(self._pool.submit(self._upload_part, self._sent, body))

    def _upload_part(self, number: int, body: bytes) -> dict[str, Any]:
        answer = self._call("UploadPart", UploadId=self._upload, PartNumber=number, Body=body)
        checksums = {name: answer[name] for name in answer if name.startswith("Checksum")}
        checksums.pop("ChecksumType", None)
        return {"PartNumber": number, "ETag": answer["ETag"], **checksums}

    def _complete(self) -> None:
        if self._buffer:
            self._send_part()
        while self._waiting:
            self._parts.append(self._waiting.popleft().result())
        self._publish(
            "CompleteMultipartUpload",
            {"UploadId": self._upload, "MultipartUpload": {"Parts": self._parts}},
        )

    def _put_whole(self) -> None:
        extra = self._client.settings.extra
        body = {"Body": bytes(self._buffer), "Metadata": {_MARK: self._token}}
        self._publish("PutObject", {**body, **extra})

    def _publish(self, operation: str, parameters: dict[str, Any]) -> None:
        """Send the request that makes the object visible, unless its name is taken."""
        arrived = False

        def attempt() -> None:
            nonlocal arrived
            try:
                self._client.send(operation, {**self._place, **parameters, "IfNoneMatch": "*"})
            except Failure as failure:
                # An answer 404 to a repeated request means that the upload has ended, one way or
                # the other, and 412 may be met by an own first try.
                if failure.arrived or failure.status == 412:
                    arrived = True
                raise

        try:
            self._client.patiently(attempt)
        except Failure as failure:
            if arrived and self._is_there(failure):
                return
            if failure.status == 412:
                raise AlreadyExistsError(f"{self._location} exists already.") from failure.error
            raise refuse(self._location, failure) from failure.error

    def _is_there(self, failure: Failure) -> bool:
        """Return whether the object that has the name is this writer's own."""
        if failure.status is None:
            return False  # the server does not answer, so the state stays unknown
        try:
            found = self._call("HeadObject")
        except NotFoundError:
            return False
        return bool(found.get("Metadata", {}).get(_MARK) == self._token)

    def _release(self) -> None:
        self._buffer = bytearray()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _call(self, operation: str, **parameters: Any) -> Any:
        parameters = {**self._place, **parameters}
        return self._client.call(operation, self._location, "written", **parameters)
