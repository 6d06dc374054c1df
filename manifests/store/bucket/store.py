"""A store in a bucket of any kind: conditional puts, listings in pages, ranges side by side.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from colonnade.manifests.errors import (
    ColonnadeError,
    InvalidInputError,
    NotFoundError,
    StoreError,
)
from colonnade.manifests.object_names import MANIFEST, epoch_name, epoch_number, needs_log
from colonnade.manifests.store.address import StoreAddress
from colonnade.manifests.store.base import Data, ObjectInfo, ObjectWriter, PutOutcome
from colonnade.manifests.store.bucket.failure import TAKEN, Failure
from colonnade.manifests.store.bucket.probe import probe_once
from colonnade.manifests.store.bucket.requests import BucketRequests
from colonnade.manifests.store.bucket.upload import UploadWriter
from colonnade.manifests.store.checks import (
    check_body,
    check_name,
    check_prefix,
    check_ranges,
    is_name,
    is_unfinished,
    no_log,
    too_large,
    truncated,
)
from colonnade.manifests.store.memory_turns import turns_of
from colonnade.manifests.store.near_ranges import Request, plan_requests
from colonnade.manifests.store.object_store import TRUST_S, ObjectStore
from colonnade.manifests.store.turn import Turn

T = TypeVar("T")

_REMOVED_AT_ONCE = 4000
"""The most objects that a call removes at a time. With more, a server answers late or is busy."""

_SUSPICIOUS = 1 << 30
"""A range of as many bytes is compared with the object's size before anything is planned."""


class BucketStore(ObjectStore):
    """Objects below a key of a bucket.

    Pickles as its address. Options may hold secrets, so they appear in no error and no `repr`.
    Opening makes no request. Stores with equal options share their connections.
    """

    read_only = False
    keeps_logs = True
    trust_s = TRUST_S
    has_clock = True

    _unfinished = f"{MANIFEST}/.tmp-"
    """The prefix of the names of all unfinished objects that a listing of the bucket shows."""

    def __init__(
        self, address: StoreAddress, url: str, prefix: str, identity: str, parallel: int
    ) -> None:
        """`prefix` begins every key. `identity` is equal for equal options; it may hold secrets."""
        self._address = replace(address, url=url)
        self.url = url
        self._prefix = prefix
        self.parallel = parallel
        self._turns = turns_of((self.url, identity))

    @property
    @abc.abstractmethod
    def bucket(self) -> BucketRequests:
        """The bucket, over the connections of this process."""

    @property
    def address(self) -> StoreAddress:
        return self._address

    def __reduce__(self) -> tuple[type[BucketStore], tuple[StoreAddress]]:
        return type(self), (self._address,)

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        check_name(name)

        def check(size: int) -> None:
            if limit is not None and size > limit:
                raise too_large(self.locate(name), str(size), limit)

        bucket = self.bucket
        read = partial(bucket.read, self._prefix + name, check)
        return bucket.patience.call(read, self.locate(name), "read")

    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        check_name(name)
        check_ranges(ranges)
        read_to = max((offset + length for offset, length in ranges if length), default=-1)
        if any(offset > read_to or length > _SUSPICIOUS for offset, length in ranges):
            self._check_size(name, ranges)  # no request reads so far, or one would take much
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

    def together(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        # Options that no client takes are refused once, and not by each call.
        _ = self.bucket
        return super().together(calls)

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        check_body(name, data)
        self.require_writable()
        if epoch_number(name) is None:
            self._check_log(name)
        bucket = self.bucket
        write = partial(bucket.put, self._prefix + name, data, if_absent=True)
        try:
            bucket.patience.patiently(write)
        except Failure as failure:
            if failure.status == TAKEN or failure.arrived:
                self._turns.seen(name, created=False)
            if failure.status == TAKEN:
                return PutOutcome.EXISTS
            if failure.arrived:
                return PutOutcome.UNKNOWN
            if failure.status is not None and self._has(name, data):
                self._turns.seen(name, created=False)
                return PutOutcome.EXISTS
            raise failure.refuse(self.locate(name)) from failure.error
        self._turns.seen(name, created=True)
        return PutOutcome.CREATED

    def _has(self, name: str, data: Data) -> bool:
        """Return whether an object has these bytes, although the call that put it was refused.

        A gateway on the way may refuse what the server has already done. Costs one GET.
        """
        try:
            return self.get(name) == bytes(data)
        except ColonnadeError:
            return False

    def put(self, name: str, data: Data, *, sync: bool) -> None:
        check_body(name, data)
        self.require_writable()
        if epoch_number(name) is None:
            self._check_log(name)
        bucket = self.bucket
        write = partial(bucket.put, self._prefix + name, data, if_absent=False)
        bucket.patience.call(write, self.locate(name), "written")

    def create(self, name: str, *, sync: bool) -> ObjectWriter:
        check_name(name)
        self.require_writable()
        return UploadWriter(self.bucket.upload(self._prefix + name), self.locate(name))

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        check_prefix(prefix)
        return (info for info in self._list(prefix) if is_name(info.name))

    def folders(self) -> Iterator[str]:
        """Yield the names of the folders directly below the root, each once, in no order."""
        bucket, seen = self.bucket, set[str]()
        after: Any = None
        while True:
            ask = partial(bucket.folders, self._prefix, after)
            page = bucket.patience.call(ask, self.url, "listed")
            yield from dict.fromkeys(name for name in page.names if name not in seen)
            seen.update(page.names)
            if (after := page.next) is None:
                return

    def delete(self, name: str) -> None:
        check_name(name)
        self._remove(name)

    def remove_many(self, names: Sequence[str]) -> dict[str, ColonnadeError]:
        for name in names:
            check_name(name)
        count = self.bucket.at_once
        batches = [names[i : i + count] for i in range(0, len(names), count)]
        width = max(1, _REMOVED_AT_ONCE // count)
        failed: dict[str, ColonnadeError] = {}
        for start in range(0, len(batches), width):
            group = batches[start : start + width]
            for each in self.together([partial(self._remove_batch, batch) for batch in group]):
                failed.update(each)
        return failed

    def remove_folder(self, name: str) -> None:
        check_name(name)

    def modified_ms(self, name: str) -> int | None:
        check_name(name)
        bucket = self.bucket
        ask = partial(bucket.head, self._prefix + name)
        return bucket.patience.call(ask, self.locate(name), "read").modified_ms

    def date_of_write(self, name: str) -> int | None:
        check_name(name)
        bucket = self.bucket
        try:
            return bucket.patience.call(bucket.date_ms, self.url, "read")
        except (ColonnadeError, KeyError, TypeError, ValueError):
            return None

    def list_unfinished(self) -> Iterator[ObjectInfo]:
        """Yield the objects of probes of killed processes."""
        return (info for info in self._list(self._unfinished) if is_unfinished(info.name))

    def list_all(self, measured: Callable[[str], bool]) -> Iterator[ObjectInfo]:
        for info in self._list(""):
            probe = info.name.startswith(self._unfinished) and is_unfinished(info.name)
            if probe or is_name(info.name):
                yield info

    def delete_unfinished(self, name: str) -> None:
        if not is_unfinished(name):
            raise InvalidInputError(f"{name[:300]!r} is not the name of an unfinished object.")
        if name.startswith(f"{MANIFEST}/"):
            self._remove(name)

    def require_writable(self) -> None:
        probe_once(self.bucket, self._prefix, self.url)

    def turn(self, folder: str) -> Turn:
        return self._turns.begin(folder)

    def _remove(self, name: str) -> None:
        bucket = self.bucket
        bucket.patience.call(
            partial(bucket.remove, self._prefix + name), self.locate(name), "removed"
        )

    def _check_log(self, name: str) -> None:
        """Refuse the hint and marks where epoch 0 is absent. Costs one request for these."""
        if not needs_log(name):
            return
        try:
            self._head(epoch_name(0))
        except NotFoundError as error:
            raise no_log(self.url) from error

    def _head(self, name: str) -> int:
        """Return the size of an object."""
        bucket = self.bucket
        ask = partial(bucket.head, self._prefix + name)
        return bucket.patience.call(ask, self.locate(name), "read").size

    def _get_part(self, name: str, ranges: Sequence[tuple[int, int]], request: Request) -> bytes:
        bucket = self.bucket
        read = partial(bucket.read_range, self._prefix + name, request.offset, request.length)
        found = bucket.patience.call(read, self.locate(name), "read")
        if found is None:
            self._check_size(name, ranges)
            raise StoreError(f"{self.locate(name)} could only be read in part.", retryable=True)
        return found

    def _check_size(self, name: str, ranges: Sequence[tuple[int, int]]) -> None:
        """Raise the error for the first range that ends behind the object. Costs one request."""
        size = self._head(name)
        for offset, length in ranges:
            if offset + length > size:
                raise truncated(self.locate(name), size, offset, length)

    def _list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Yield everything below the root whose name begins with a text, page by page."""
        bucket = self.bucket
        after: Any = None
        while True:
            ask = partial(bucket.page, self._prefix + prefix, after)
            page = bucket.patience.call(ask, self.locate(prefix), "listed")
            for each in page.objects:
                yield each._replace(name=each.name.removeprefix(self._prefix))
            if page.next is None:
                return
            after = page.next

    def _remove_batch(self, names: Sequence[str]) -> Mapping[str, ColonnadeError]:
        """Remove some objects by one request. Returns the errors of those that may still exist."""
        bucket = self.bucket
        remove = partial(bucket.remove_batch, [self._prefix + name for name in names])
        try:
            failures = bucket.patience.call(remove, self.locate(names[0]), "removed")
        except ColonnadeError as error:
            return dict.fromkeys(names, error)
        return {
            key.removeprefix(self._prefix): StoreError(
                f"{self.locate(key.removeprefix(self._prefix))} could not be removed: {reason}.",
                retryable,
            )
            for key, (reason, retryable) in failures.items()
        }
