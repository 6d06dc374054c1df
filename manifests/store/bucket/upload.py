"""A new object of any size: one put if it is small, else an upload in parts.

An upload in parts is invisible until its last request, and then whole.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import abc
from collections import deque
from collections.abc import Callable
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
from colonnade.manifests.store.bucket.failure import TAKEN, Failure
from colonnade.manifests.store.bucket.patience import Patience

MARK = "colonnade-write"
"""The metadata of an object that names its writer, which may have lost the answer."""


class Upload(abc.ABC):
    """How one new object is sent. Each method is one request, sent once, and raises Failure."""

    patience: Patience

    under_way: int
    """Parts that are on their way at once. Each is held in memory until it has arrived."""

    ends_with_part: bool = False
    """Whether `finish` sends the last part. Otherwise every part is sent before."""

    @abc.abstractmethod
    def part_size(self, number: int) -> int:
        """Return the bytes of a part; the first one is number 0."""

    @abc.abstractmethod
    def put(self, body: bytes) -> None:
        """Create the object from one body, with the condition that its name is free."""

    @abc.abstractmethod
    def begin(self) -> None:
        """Begin an upload in parts."""

    @abc.abstractmethod
    def send(self, number: int, offset: int, body: bytes) -> Any:
        """Send a part, which begins at `offset`; returns what `finish` needs to know of it."""

    @abc.abstractmethod
    def finish(self, parts: list[Any], rest: bytes) -> None:
        """Make the object visible, with the condition that its name is free."""

    @abc.abstractmethod
    def end(self) -> None:
        """End an upload in parts that was begun, without an object."""

    @abc.abstractmethod
    def is_own(self) -> bool:
        """Return whether the object that has the name now carries the mark of this upload."""


class UploadWriter(ObjectWriter):
    """Collects a part and sends it while the next one is collected.

    Holds at most one part more than are under way in memory. Errors of a part are raised by a later
    call.
    """

    def __init__(self, upload: Upload, location: str) -> None:
        self._upload = upload
        self._location = location
        self._buffer = bytearray()
        self._open = True
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: deque[Future[Any]] = deque()
        self._parts: list[Any] = []
        self._sent = 0
        self._offset = 0

    def write(self, data: Data) -> None:
        if not self._open:
            raise InvalidInputError(f"{self._location} is no longer being written.")
        view = memoryview(data).cast("B")
        try:
            while len(view):
                # A full part waits until more bytes come, because the last one may be special.
                size = self._upload.part_size(self._sent)
                if len(self._buffer) == size:
                    self._send_part()
                    continue
                taken = view[: size - len(self._buffer)]
                self._buffer += taken
                view = view[len(taken) :]
        except BaseException:
            self.abort()
            raise

    def close(self) -> None:
        if not self._open:
            return
        try:
            if self._pool is None:
                self._publish(lambda: self._upload.put(bytes(self._buffer)))
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
        begun = self._pool is not None
        self._release()
        if begun:
            # If the request fails, an unfinished upload stays behind.
            with suppress(StoreError, NotFoundError):
                self._call(self._upload.end)

    def _send_part(self) -> None:
        if self._pool is None:
            self._begin()
            self._pool = ThreadPoolExecutor(self._upload.under_way, "colonnade-upload")
        if len(self._waiting) == self._upload.under_way:
            self._parts.append(self._waiting.popleft().result())
        body, self._buffer = bytes(self._buffer), bytearray()
        self._waiting.append(self._pool.submit(self._send, self._sent, self._offset, body))
        self._sent += 1
        self._offset += len(body)

    def _begin(self) -> None:
        try:
            self._upload.patience.patiently(self._upload.begin)
        except Failure as failure:
            if failure.status == TAKEN:
                raise AlreadyExistsError(f"{self._location} exists already.") from failure.error
            raise failure.refuse(self._location) from failure.error

    def _send(self, number: int, offset: int, body: bytes) -> Any:
        return self._call(lambda: self._upload.send(number, offset, body))

    def _complete(self) -> None:
        if not self._upload.ends_with_part:
            self._send_part()
        while self._waiting:
            self._parts.append(self._waiting.popleft().result())
        rest = bytes(self._buffer)
        self._publish(lambda: self._upload.finish(self._parts, rest))

    def _publish(self, request: Callable[[], None]) -> None:
        """Make the request that makes the object visible, unless its name is taken."""
        try:
            self._upload.patience.patiently(request)
        except Failure as failure:
            # An answer 404 to a repeated request means that the upload has ended, one way or the
            # other, and a taken name may be met by an own first try.
            may_be_there = failure.arrived or failure.status == TAKEN
            if may_be_there and self._is_there(failure):
                return
            if failure.status == TAKEN:
                raise AlreadyExistsError(f"{self._location} exists already.") from failure.error
            raise failure.refuse(self._location) from failure.error

    def _is_there(self, failure: Failure) -> bool:
        """Return whether the object that has the name is this writer's own."""
        if failure.status is None:
            return False  # the server does not answer, so the state stays unknown
        try:
            return bool(self._call(self._upload.is_own))
        except NotFoundError:
            return False

    def _release(self) -> None:
        self._buffer = bytearray()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _call(self, request: Callable[[], Any]) -> Any:
        return self._upload.patience.call(request, self._location, "written")
