"""The requests of a store to a bucket of S3.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from colonnade.manifests.store.base import Data, ObjectInfo
from colonnade.manifests.store.bucket.failure import Failure
from colonnade.manifests.store.bucket.requests import (
    BucketRequests,
    CheckSize,
    Folders,
    Head,
    ListingPage,
    RemovalFailure,
    ms_of,
)
from colonnade.manifests.store.s3.client import S3Client
from colonnade.manifests.store.s3.upload import S3Upload

_MAY_REMOVE_LATER = ("InternalError", "SlowDown", "ServiceUnavailable")


class S3Requests(BucketRequests):
    """One bucket of S3."""

    at_once = 1000
    lacking = "PutObject with 'If-None-Match: *', as S3, MinIO and Ceph have it"

    def __init__(self, client: S3Client, name: str) -> None:
        self.patience = client
        self.name = name
        self._client = client

    @property
    def server(self) -> str:
        return self._client.server

    def read(self, key: str, check: CheckSize) -> bytes:
        def take(answer: Any) -> bytes:
            with answer["Body"] as body:
                check(answer["ContentLength"])
                return bytes(body.read())

        return self._client.get(self.name, key, None, take)

    def read_range(self, key: str, offset: int, length: int) -> bytes | None:
        def take(answer: Any) -> bytes | None:
            with answer["Body"] as body:
                whole = answer["ContentLength"] == length
                return bytes(body.read()) if whole else None

        try:
            return self._client.get(self.name, key, (offset, length), take)
        except Failure as failure:
            if failure.status == 416:
                return None
            raise

    def head(self, key: str) -> Head:
        found: Any = self._client.send("HeadObject", self._place(key))
        return Head(found["ContentLength"], ms_of(found["LastModified"]))

    def put(self, key: str, data: Data, *, if_absent: bool) -> None:
        body = {"Body": bytes(data), **self._client.settings.extra}
        condition = {"IfNoneMatch": "*"} if if_absent else {}
        self._client.send("PutObject", {**self._place(key), **body, **condition})

    def remove(self, key: str) -> None:
        self._client.send("DeleteObject", self._place(key))

    def remove_batch(self, keys: Sequence[str]) -> Mapping[str, RemovalFailure]:
        objects = {"Objects": [{"Key": key} for key in keys], "Quiet": True}
        answer: Any = self._client.send("DeleteObjects", {"Bucket": self.name, "Delete": objects})
        errors = {each["Key"]: str(each.get("Code", "")) for each in answer.get("Errors", ())}
        return {
            key: RemovalFailure(f"the server refused it ({code})", code in _MAY_REMOVE_LATER)
            for key, code in errors.items()
            if code != "NoSuchKey"
        }

    def page(self, prefix: str, after: str | None) -> ListingPage:
        more = {} if after is None else {"ContinuationToken": after}
        place = {"Bucket": self.name, "Prefix": prefix, **more}
        answer: Any = self._client.send("ListObjectsV2", place)
        return ListingPage(
            [
                ObjectInfo(each["Key"], each["Size"], ms_of(each["LastModified"]))
                for each in answer.get("Contents", ())
            ],
            answer["NextContinuationToken"] if answer.get("IsTruncated") else None,
        )

    def folders(self, prefix: str, after: str | None) -> Folders:
        more = {} if after is None else {"ContinuationToken": after}
        place = {"Bucket": self.name, "Prefix": prefix, "Delimiter": "/", **more}
        answer: Any = self._client.send("ListObjectsV2", place)
        found = [each["Prefix"] for each in answer.get("CommonPrefixes", ())]
        return Folders(
            [each.removeprefix(prefix).rstrip("/") for each in found],
            answer["NextContinuationToken"] if answer.get("IsTruncated") else None,
        )

    def date_ms(self) -> int:
        return ms_of(self._headers()["date"])

    def upload(self, key: str) -> S3Upload:
        return S3Upload(self._client, self.name, key)

    def is_minio(self) -> bool:
        """Return whether the server is MinIO, by its own word."""
        return "minio" in self._headers().get("server", "").lower()

    def uploads(self, prefix: str, after: Mapping[str, str]) -> tuple[list[Any], Mapping[str, str]]:
        """Return a page of the unfinished uploads, and what asks for the next one, if any."""
        place = {"Bucket": self.name, "Prefix": prefix, **after}
        page: Any = self._client.send("ListMultipartUploads", place)
        markers = ("KeyMarker", "UploadIdMarker")
        more = {name: page[f"Next{name}"] for name in markers} if page.get("IsTruncated") else {}
        return page.get("Uploads", []), more

    def end_upload(self, key: str, upload: str) -> None:
        """End an unfinished upload."""
        self._client.send("AbortMultipartUpload", {**self._place(key), "UploadId": upload})

    def _headers(self) -> Mapping[str, str]:
        answer: Any = self._client.send("HeadBucket", {"Bucket": self.name})
        headers: Mapping[str, str] = answer["ResponseMetadata"]["HTTPHeaders"]
        return headers

    def _place(self, key: str) -> dict[str, Any]:
        return {"Bucket": self.name, "Key": key}


def upload_ms(upload: Mapping[str, Any]) -> int:
    """Return when an unfinished upload was begun, in ms since 1970 UTC."""
    return ms_of(upload["Initiated"])
