"""A store in an S3 bucket: conditional puts, uploads in parts, listings in pages.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import partial
from hashlib import blake2b
from typing import Any

from colonnade.manifests.errors import (
    ColonnadeError,
    InvalidInputError,
    NotFoundError,
    StoreError,
)
from colonnade.manifests.object_names import MANIFEST, epoch_name, epoch_number, needs_log
from colonnade.manifests.store.address import StoreAddress
from colonnade.manifests.store.base import (
    TRUST_S,
    Data,
    ObjectInfo,
    ObjectStore,
    ObjectWriter,
    PutOutcome,
    Turn,
)
from colonnade.manifests.store.checks import (
    check_body,
    check_name,
    check_prefix,
    check_ranges,
    finished_name,
    is_name,
    no_log,
    too_large,
    truncated,
)
from colonnade.manifests.store.memory_turns import turns_of
from colonnade.manifests.store.near_ranges import Request, plan_requests
from colonnade.manifests.store.s3.address import parse_address
from colonnade.manifests.store.s3.client import S3Client, client_of, refuse
from colonnade.manifests.store.s3.failures import Failure
from colonnade.manifests.store.s3.probe import probe_once
from colonnade.manifests.store.s3.settings import parse_settings
from colonnade.manifests.store.s3.writer import S3Writer

_AT_ONCE = 1000
"""The most objects that one request removes."""

_SUSPICIOUS = 1 << 30
"""A range of as many bytes is compared with the object's size before anything is planned."""


class S3Store(ObjectStore):
    """Objects below a key of a bucket. `s3a:` URLs are the same as `s3:` URLs.

    Pickles as its address. Options may hold secrets, so they appear in no error and no `repr`.
    Opening makes no request. Stores with equal options share their connections.

    Raises: InvalidInputError for a URL or options that cannot work.
    """

    read_only = False
    keeps_logs = True
    trust_s = TRUST_S

    def __init__(
        self, path: str | StoreAddress, storage_options: Mapping[str, Any] | None = None
    ) -> None:
        given = StoreAddress.of(path, storage_options)
        place = parse_address(given.connection_url)
        self._address = replace(given, url=place.url)
        self.url = place.url
        self._bucket, self._prefix = place
        self._settings = parse_settings(given.storage_options, self.url)
        self.parallel = self._settings.parallel
        self._turns = turns_of((self.url, self._settings.identity))

    @property
    def address(self) -> StoreAddress:
        return self._address

    def __reduce__(self) -> tuple[type[S3Store], tuple[StoreAddress]]:
        return type(self), (self._address,)

    @property
    def client(self) -> S3Client:
        """The client of this process."""
        return client_of(self._settings)

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        check_name(name)

        def read(answer: Any) -> bytes:
            with answer["Body"] as body:
                if limit is not None and answer["ContentLength"] > limit:
                    raise too_large(self.locate(name), str(answer["ContentLength"]), limit)
                return bytes(body.read())

        try:
            return self.client.patiently(
                partial(self.client.send, "GetObject", self._place(name), read)
            )
        except Failure as failure:
            raise failure.translate(self.locate(name), "read") from failure.error

    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        check_name(name)
        check_ranges(ranges)
        if not any(length for _, length in ranges) or max(n for _, n in ranges) > _SUSPICIOUS:
            self._check_size(name, ranges)
        requests = plan_requests(ranges)
        calls = [partial(self._get_part, name, ranges, each) for each in requests]
        found = [bytearray(length) if length else b"" for _, length in ranges]
        parts = self.together(calls)
        for request, part in zip(requests, parts, strict=True):
            for index, start, offset, length in request.cuts:
                if length == ranges[index][1]:
                    found[index] = part[offset : offset + length]
                else:
                    found[index][start : start + length] = part[offset : offset + length]  # type: ignore[index]
        return [bytes(each) for each in found]

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        check_body(name, data)
        self.require_writable()
        if epoch_number(name) is None:
            self._check_log(name)
        body = {**self._body(name, data), "IfNoneMatch": "*"}
        arrived = False

        def attempt() -> None:
            nonlocal arrived
            try:
                self.client.send("PutObject", body)
            except Failure as failure:
                arrived = arrived or failure.arrived
                raise

        try:
            self.client.patiently(attempt)
        except Failure as failure:
            if failure.status == 412 or arrived:
                self._turns.seen(name, created=False)
            if failure.status == 412:
                return PutOutcome.EXISTS
            if arrived:
                return PutOutcome.UNKNOWN
            raise refuse(self.locate(name), failure) from failure.error
        self._turns.seen(name, created=True)
        return PutOutcome.CREATED

    def put(self, name: str, data: Data, *, sync: bool) -> None:
        check_body(name, data)
        self.require_writable()
        if epoch_number(name) is None:
            self._check_log(name)
        body = self._body(name, data)
        self.client.call("PutObject", self.locate(name), "written", **body)

    def create(self, name: str, *, sync: bool) -> ObjectWriter:
        check_name(name)
        self.require_writable()
        return S3Writer(self.client, self._bucket, self._prefix + name, self.locate(name))

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        check_prefix(prefix)
        return (info for info in self._list(prefix) if is_name(info.name))

    def delete(self, name: str) -> None:
        check_name(name)
        self.client.call("DeleteObject", self.locate(name), "removed", **self._place(name))

    def remove_many(self, names: Sequence[str]) -> dict[str, ColonnadeError]:
        for name in names:
            check_name(name)
        batches = [names[i : i + _AT_ONCE] for i in range(0, len(names), _AT_ONCE)]
        failed: dict[str, ColonnadeError] = {}
        for each in self.together([partial(self._remove_batch, batch) for batch in batches]):
            failed.update(each)
        return failed

    def remove_folder(self, name: str) -> None:
        check_name(name)

    def modified_ms(self, name: str) -> int | None:
        check_name(name)
        found = self.client.call("HeadObject", self.locate(name), "read", **self._place(name))
        return _ms(found["LastModified"])

    def date_of_write(self, name: str) -> int | None:
        check_name(name)
        try:
            answer = self.client.call("HeadBucket", self.url, "read", Bucket=self._bucket)
            headers = answer["ResponseMetadata"]["HTTPHeaders"]
            return _ms(parsedate_to_datetime(headers["date"]))
        except (ColonnadeError, KeyError, TypeError, ValueError):
            return None

    def list_unfinished(self) -> Iterator[ObjectInfo]:
        """Yield the unfinished uploads, and the objects of probes, of killed processes."""
        for info in self._list(f"{MANIFEST}/.tmp-"):
            if finished_name(info.name):
                yield info
        for name, upload in self._uploads():
            yield ObjectInfo(name, 0, _ms(upload["Initiated"]))

    def delete_unfinished(self, name: str) -> None:
        if finished_name(name) is None:
            raise InvalidInputError(f"{name[:300]!r} is not the name of an unfinished object.")
        found = [each for other, each in self._uploads(finished_name(name)) if other == name]
        for upload in found:
            place = {"Bucket": self._bucket, "Key": upload["Key"], "UploadId": upload["UploadId"]}
            try:
                self.client.call("AbortMultipartUpload", self.locate(name), "removed", **place)
            except NotFoundError:
                continue
        if not found and name.startswith(f"{MANIFEST}/"):
            self.client.call("DeleteObject", self.locate(name), "removed", **self._place(name))

    def require_writable(self) -> None:
        probe_once(self.client, self._bucket, self._prefix, self.url)

    def turn(self, folder: str) -> Turn:
        return self._turns.begin(folder)

    def _place(self, name: str) -> dict[str, Any]:
        return {"Bucket": self._bucket, "Key": self._prefix + name}

    def _body(self, name: str, data: Data) -> dict[str, Any]:
        return {**self._place(name), "Body": bytes(data), **self._settings.extra}

    def _check_log(self, name: str) -> None:
        """Refuse the hint and marks where epoch 0 is absent. Costs one request for these."""
        if not needs_log(name):
            return
        first = epoch_name(0)
        try:
            self.client.call("HeadObject", self.locate(first), "read", **self._place(first))
        except NotFoundError as error:
            raise no_log(self.url) from error

    def _get_part(self, name: str, ranges: Sequence[tuple[int, int]], request: Request) -> bytes:
        end = request.offset + request.length - 1
        place = {**self._place(name), "Range": f"bytes={request.offset}-{end}"}

        def read(answer: Any) -> bytes | None:
            with answer["Body"] as body:
                whole = answer["ContentLength"] == request.length
                return bytes(body.read()) if whole else None

        try:
            found = self.client.patiently(partial(self.client.send, "GetObject", place, read))
        except Failure as failure:
            if failure.status != 416:
                raise failure.translate(self.locate(name), "read") from failure.error
            found = None
        if found is None:
            self._check_size(name, ranges)
            raise StoreError(f"{self.locate(name)} could only be read in part.", retryable=True)
        return found

    def _check_size(self, name: str, ranges: Sequence[tuple[int, int]]) -> None:
        """Raise the error for the first range that ends behind the object. Costs one request."""
        found = self.client.call("HeadObject", self.locate(name), "read", **self._place(name))
        size = found["ContentLength"]
        for offset, length in ranges:
            if offset + length > size:
                raise truncated(self.locate(name), size, offset, length)

    def _list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Yield everything below the root whose name begins with a text, page by page."""
        more: dict[str, Any] = {}
        while True:
            page = self.client.call(
                "ListObjectsV2",
                self.locate(prefix),
                "listed",
                Bucket=self._bucket,
                Prefix=self._prefix + prefix,
                **more,
            )
            for each in page.get("Contents", ()):
                name = each["Key"].removeprefix(self._prefix)
                yield ObjectInfo(name, each["Size"], _ms(each["LastModified"]))
            if not page.get("IsTruncated"):
                return
            more = {"ContinuationToken": page["NextContinuationToken"]}

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
        more: dict[str, Any] = {}
        while True:
            place = {"Bucket": self._bucket, "Prefix": prefix, **more}
            page = self.client.call("ListMultipartUploads", self.url, "listed", **place)
            yield from page.get("Uploads", ())
            if not page.get("IsTruncated"):
                return
            more = {
                "KeyMarker": page["NextKeyMarker"],
                "UploadIdMarker": page["NextUploadIdMarker"],
            }

    def _is_minio(self) -> bool:
        answer = self.client.call("HeadBucket", self.url, "listed", Bucket=self._bucket)
        return "minio" in answer["ResponseMetadata"]["HTTPHeaders"].get("server", "").lower()

    def _remove_batch(self, names: Sequence[str]) -> dict[str, ColonnadeError]:
        keys = [{"Key": self._prefix + name} for name in names]
        try:
            answer = self.client.call(
                "DeleteObjects",
                self.locate(names[0]),
                "removed",
                Bucket=self._bucket,
                Delete={"Objects": keys, "Quiet": True},
            )
        except ColonnadeError as error:
            return dict.fromkeys(names, error)
        errors = {each["Key"]: str(each.get("Code", "")) for each in answer.get("Errors", ())}
        return {
            name: StoreError(
                f"{self.locate(name)} could not be removed: the server refused it ({code}).",
                retryable=code in ("InternalError", "SlowDown", "ServiceUnavailable"),
            )
            for name in names
            if (code := errors.get(self._prefix + name)) not in (None, "NoSuchKey")
        }


def _unfinished_name(name: str, upload: str) -> str:
    folder, slash, leaf = name.rpartition("/")
    number = blake2b(upload.encode(), digest_size=8).hexdigest()
    return f"{folder}{slash}.tmp-{number}-{leaf}"


def _ms(date: datetime) -> int:
    return round(date.timestamp() * 1000)
