"""A store in an S3 bucket.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import blake2b
from typing import Any

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.store.address import StoreAddress
from colonnade.manifests.store.base import ObjectInfo
from colonnade.manifests.store.bucket.store import BucketStore
from colonnade.manifests.store.checks import finished_name
from colonnade.manifests.store.s3.address import parse_address
from colonnade.manifests.store.s3.client import S3Client, client_of
from colonnade.manifests.store.s3.requests import S3Requests, upload_ms
from colonnade.manifests.store.s3.settings import parse_settings


class S3Store(BucketStore):
    """Objects below a key of a bucket of S3. `s3a:` URLs are the same as `s3:` URLs.

    Raises: InvalidInputError for a URL or options that cannot work.
    """

    def __init__(
        self, path: str | StoreAddress, storage_options: Mapping[str, Any] | None = None
    ) -> None:
        given = StoreAddress.of(path, storage_options)
        place = parse_address(given.connection_url)
        self._settings = parse_settings(given.connection_options, place.url, os.environ)
        self._bucket = place.bucket
        settings = self._settings
        super().__init__(given, place.url, place.prefix, settings.identity, settings.parallel)

    @property
    def client(self) -> S3Client:
        """The client of this process."""
        return client_of(self._settings)

    @property
    def bucket(self) -> S3Requests:
        return S3Requests(self.client, self._bucket)

    def list_unfinished(self) -> Iterator[ObjectInfo]:
        """Yield the unfinished uploads, and the objects of probes, of killed processes."""
        yield from super().list_unfinished()
        yield from self._unfinished_uploads()

    def list_all(self, measured: Callable[[str], bool]) -> Iterator[ObjectInfo]:
        yield from super().list_all(measured)
        yield from self._unfinished_uploads()

    def delete_unfinished(self, name: str) -> None:
        finished = finished_name(name)
        bucket = self.bucket
        uploads = self._uploads(finished) if finished else ()
        found = [each for other, each in uploads if other == name]
        for upload in found:
            end = partial(bucket.end_upload, upload["Key"], upload["UploadId"])
            try:
                bucket.patience.call(end, self.locate(name), "removed")
            except NotFoundError:
                continue
        if not found:
            super().delete_unfinished(name)

    def _unfinished_uploads(self) -> Iterator[ObjectInfo]:
        for name, upload in self._uploads():
            yield ObjectInfo(name, 0, upload_ms(upload))

    def _uploads(self, name: str | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the unfinished uploads of the root, or of one object, each with its own name."""
        wanted = self._prefix + (name or "")
        # MinIO lists the uploads of one key or of a whole bucket, but not of a folder.
        prefixes = dict.fromkeys((wanted, "")) if name is None else {wanted: None}
        seen: set[str] = set()
        for prefix in prefixes:
            if prefix != wanted and not self._is_minio():
                continue
            for upload in self._upload_pages(prefix):
                key = upload["Key"]
                if upload["UploadId"] in seen or not key.startswith(self._prefix):
                    continue
                seen.add(upload["UploadId"])
                unfinished = _unfinished_name(key.removeprefix(self._prefix), upload["UploadId"])
                if finished_name(unfinished):
                    yield unfinished, upload

    def _upload_pages(self, prefix: str) -> Iterator[dict[str, Any]]:
        bucket = self.bucket
        more: Mapping[str, str] = {}
        while True:
            ask = partial(bucket.uploads, prefix, more)
            uploads, more = bucket.patience.call(ask, self.url, "listed")
            yield from uploads
            if not more:
                return

    def _is_minio(self) -> bool:
        bucket = self.bucket
        return bucket.patience.call(bucket.is_minio, self.url, "listed")


def _unfinished_name(name: str, upload: str) -> str:
    folder, slash, leaf = name.rpartition("/")
    number = blake2b(upload.encode(), digest_size=8).hexdigest()
    return f"{folder}{slash}.tmp-{number}-{leaf}"
