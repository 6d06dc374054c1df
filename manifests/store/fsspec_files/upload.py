"""How a new object of any size is sent through a file system.

The object carries a mark, which tells after every error whose object it is.

Spec: docs/spec/store.md#file-systems-of-fsspec
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from colonnade.manifests.store.bucket.failure import TAKEN, Failure
from colonnade.manifests.store.bucket.upload import Upload
from colonnade.manifests.store.fsspec_files.classes import WritingClass
from colonnade.manifests.store.fsspec_files.client import FsspecClient
from colonnade.manifests.store.fsspec_files.failures import classify

T = TypeVar("T")

PART = 8 << 20
"""Bytes of a part."""


class FsspecUpload(Upload):
    """One request, or an open file."""

    # A file takes one part after another.
    under_way = 1
    ends_with_part = True

    def __init__(self, client: FsspecClient, kind: WritingClass, path: str) -> None:
        self.patience = client
        self._client, self._kind, self._path = client, kind, path
        self._token = secrets.token_hex(16)
        self._size = 0
        self._file: Any = None

    def part_size(self, number: int) -> int:
        return PART

    def put(self, body: bytes) -> None:
        self._size = len(body)
        how = {"mode": "create", **self._kind.whole(body), **self._kind.marked(self._token)}
        self._publish(lambda: self._client.files.pipe_file(self._path, body, **how))

    def begin(self) -> None:
        # Without `autocommit`, a transaction of the file system would put the object off.
        how = {"block_size": PART, "autocommit": True, **self._kind.marked(self._token)}
        self._file = self._ask(lambda: self._client.files.open(self._path, "xb", **how))

    def send(self, number: int, offset: int, body: bytes) -> None:
        self._once(lambda: self._file.write(body))

    def finish(self, parts: list[Any], rest: bytes) -> None:
        self._size = self._file.tell() + len(rest)

        def close() -> None:
            self._file.write(rest)
            self._file.close()

        self._publish(lambda: self._once(close))

    def end(self) -> None:
        file, self._file = self._file, None
        if file is not None and not file.closed:
            file.closed = True
            with suppress(Exception):
                file.discard()

    def __del__(self) -> None:
        if self._file is not None:
            # A file that is not needed any more would make the object.
            self._file.closed = True

    def is_own(self) -> bool:
        def look() -> bool:
            files = self._client.files
            own = self._kind.mark_of(files, self._path) == self._token
            return own and int(files.info(self._path)["size"]) == self._size

        return self._ask(look)

    def _publish(self, request: Callable[[], object]) -> None:
        """Make the request that makes the object visible. What is there then decides."""
        try:
            self._ask(request)
        except Failure as failure:
            if type(failure.error).__name__ == "ChecksumError":
                raise  # the object is there, and has other bytes
            try:
                if self.is_own():
                    return
            except Failure as unknown:
                if unknown.absent:
                    raise replace(failure, absent=False) from failure.error
                raise
            raise replace(failure, status=TAKEN, passing=False) from failure.error

    def _once(self, request: Callable[[], T]) -> T:
        """Make a request that cannot be repeated, because the file has gone on."""
        try:
            return self._ask(request)
        except Failure as failure:
            raise replace(failure, passing=False, absent=False) from failure.error

    def _ask(self, request: Callable[[], T]) -> T:
        return self.patience.once(request, classify)
