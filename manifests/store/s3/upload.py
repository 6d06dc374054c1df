"""How a new object is sent to S3.

What a killed writer leaves is an unfinished upload, which `list_unfinished` shows.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import secrets
from typing import Any

from colonnade.manifests.store.bucket.upload import MARK, Upload
from colonnade.manifests.store.s3.client import S3Client

PART = 5 << 20
"""Bytes of the first parts, the fewest that S3 allows."""

_PARTS_OF_A_SIZE = 500
"""Parts are twice as long after as many, so that the 10,000 that S3 allows hold any object."""

UNDER_WAY = 3
"""Parts of one writer that are on their way at once. Each is held in memory until it arrived."""


class S3Upload(Upload):
    """One PutObject, or an upload in parts."""

    under_way = UNDER_WAY

    def __init__(self, client: S3Client, bucket: str, key: str) -> None:
        self.patience = client
        self._client = client
        self._place = {"Bucket": bucket, "Key": key}
        self._token = secrets.token_hex(16)
        self._id: str | None = None

    def part_size(self, number: int) -> int:
        return int(PART << number // _PARTS_OF_A_SIZE)

    def put(self, body: bytes) -> None:
        self._send("PutObject", Body=body, IfNoneMatch="*", **self._described())

    def begin(self) -> None:
        self._id = self._send("CreateMultipartUpload", **self._described())["UploadId"]

    def send(self, number: int, offset: int, body: bytes) -> dict[str, Any]:
        part = {"PartNumber": number + 1, "Body": body}
        answer = self._send("UploadPart", UploadId=self._id, **part)
        checksums = {name: answer[name] for name in answer if name.startswith("Checksum")}
        checksums.pop("ChecksumType", None)
        return {"PartNumber": number + 1, "ETag": answer["ETag"], **checksums}

    def finish(self, parts: list[Any], rest: bytes) -> None:
        named = {"UploadId": self._id, "MultipartUpload": {"Parts": parts}}
        self._send("CompleteMultipartUpload", IfNoneMatch="*", **named)

    def end(self) -> None:
        self._send("AbortMultipartUpload", UploadId=self._id)

    def is_own(self) -> bool:
        return bool(self._send("HeadObject").get("Metadata", {}).get(MARK) == self._token)

    def _described(self) -> dict[str, Any]:
        return {"Metadata": {MARK: self._token}, **self._client.settings.extra}

    def _send(self, operation: str, **parameters: Any) -> Any:
        return self._client.send(operation, {**self._place, **parameters})
