"""The requests of a store to a file system of fsspec.

A file system repeats requests in secret. So no answer to a new object counts by itself: the object
is read again, and what is found decides.

Spec: docs/spec/store.md#file-systems-of-fsspec
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from typing import Any, TypeVar

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.object_names import HINT
from colonnade.manifests.store.base import Data, ObjectInfo
from colonnade.manifests.store.bucket.failure import TAKEN, Failure, accepting_absence
from colonnade.manifests.store.bucket.requests import (
    BucketRequests,
    CheckSize,
    Head,
    ListingPage,
)
from colonnade.manifests.store.fsspec_files.classes import WritingClass, listed
from colonnade.manifests.store.fsspec_files.client import FsspecClient
from colonnade.manifests.store.fsspec_files.failures import classify
from colonnade.manifests.store.fsspec_files.upload import FsspecUpload

T = TypeVar("T")

_DATES = ("LastModified", "last_modified", "mtime", "created")
"""The names under which classes of fsspec say when a file was last written."""


class FsspecRequests(BucketRequests):
    """The files of a file system."""

    at_once = 1
    lacking = "a file system whose mode 'create' is one conditional request to the server"

    def __init__(self, client: FsspecClient, url: str, prefix: str, identity: str) -> None:
        self.patience = client
        self.name = url
        self._client = client
        self._prefix = prefix
        self._identity = identity

    @property
    def server(self) -> str:
        return self._identity

    def read(self, key: str, check: CheckSize) -> bytes:
        found = self._cat(key, start=0)
        check(len(found))
        return found

    def read_beginning(self, key: str, length: int) -> bytes:
        """Return an object, or its first `length` bytes if it has more."""
        return self._cat(key, start=0, end=length)

    def read_range(self, key: str, offset: int, length: int) -> bytes | None:
        try:
            found = self._cat(key, start=offset, end=offset + length)
        except Failure as failure:
            # Each class has an error of its own for a range past the end.
            if failure.absent or failure.passing or offset + length <= self.head(key).size:
                raise
            return None
        return found if len(found) == length else None

    def head(self, key: str) -> Head:
        found = self._ask(lambda files: files.info(key))
        if found.get("type") == "directory":
            raise Failure("it is a folder", FileNotFoundError(key), status=404, absent=True)
        return Head(int(found["size"]), _date_ms(found))

    def put(self, key: str, data: Data, *, if_absent: bool) -> None:
        body, kind = bytes(data), self.require_class()
        mode = {"mode": "create"} if if_absent else {}
        write = partial(self._write, key, body, {**kind.whole(body), **mode})
        if not if_absent:
            write()
            return
        failed = None
        try:
            write()
        except Failure as failure:
            failed = failure
        found = self._find(key)
        if failed is None and found == body:
            return
        if found is not None:
            raise Failure("the name is taken", FileExistsError(), status=TAKEN, arrived=True)
        raise failed or Failure("it is gone", FileNotFoundError(), arrived=True)

    def remove(self, key: str) -> None:
        self.require_class()
        with accepting_absence():
            self._ask(lambda files: files.rm_file(key))

    def page(self, prefix: str, after: Any) -> ListingPage:
        folder, _, beginning = prefix.rpartition("/")
        only = {"prefix": beginning} if self._client.writes and beginning else {}
        found: Any = {}
        with accepting_absence():
            found = self._ask(lambda files: files.find(folder, detail=True, **only))
        return ListingPage(
            [
                ObjectInfo(key, each["size"], _date_ms(each))
                for key, each in (found.items() if isinstance(found, dict) else ())
                if key.startswith(prefix) and each.get("type", "file") == "file"
            ],
            None,
        )

    def date_ms(self) -> int | None:
        """Return the date of a temporary object, which is written and removed."""
        folder, _, leaf = HINT.rpartition("/")
        key = f"{self._prefix}{folder}/.tmp-{secrets.token_hex(8)}-{leaf}"
        self.put(key, b"x", if_absent=False)
        try:
            return self.head(key).modified_ms
        finally:
            with suppress(Failure):
                self.remove(key)  # vacuum finds it otherwise

    def check_new(self, key: str) -> None:
        if self.head(key).modified_ms is None:
            raise InvalidInputError(
                f"{self.name} is read-only: {self._name} does not say when an object was written,"
                " which a vacuum must know."
            )

    def upload(self, key: str) -> FsspecUpload:
        return FsspecUpload(self._client, self.require_class(), key)

    def require_class(self) -> WritingClass:
        """Return how to write. Raises: InvalidInputError if Colonnade only reads through it."""
        kind = self._client.writes
        if kind is None:
            raise InvalidInputError(
                f"{self.name} is read-only: a commit needs an atomic put-if-absent, and"
                f" {self._name} is not known to have one. Colonnade writes through these classes of"
                f" fsspec, each from a version on: {listed()}; or write to a local path, S3, GCS,"
                " Azure or HDFS."
            )
        if not kind.is_new_enough():
            raise InvalidInputError(
                f"{self.name} is read-only: writing through {kind.package} needs version"
                f" {kind.lowest}; run pip install '{kind.package}>={kind.lowest}'."
            )
        return kind

    @property
    def _name(self) -> str:
        kind = type(self._client.files)
        return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"

    def _ask(self, request: Callable[[Any], T]) -> T:
        return self.patience.once(lambda: request(self._client.files), classify)

    def _cat(self, key: str, **limits: int) -> bytes:
        kind = self._client.writes
        reading = {} if kind is None else kind.reading
        return bytes(self._ask(lambda files: files.cat_file(key, **limits, **reading)))

    def _find(self, key: str) -> bytes | None:
        """Return the bytes of an object; None if it is absent."""
        try:
            return self._cat(key, start=0)
        except Failure as failure:
            if failure.absent:
                return None
            raise

    def _write(self, key: str, body: bytes, arguments: Mapping[str, Any]) -> None:
        try:
            self._ask(lambda files: files.pipe_file(key, body, **arguments))
        except Failure as failure:
            # A missing bucket is not a missing object.
            raise replace(failure, absent=False) from failure.error


def _date_ms(info: Mapping[str, Any]) -> int | None:
    found = next((each for name in _DATES if isinstance(each := info.get(name), datetime)), None)
    if found is None:
        return None
    # Protocols that leave the time zone out give UTC.
    aware = found if found.tzinfo else found.replace(tzinfo=timezone.utc)
    return round(aware.timestamp() * 1000)
