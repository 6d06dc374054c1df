"""What a store asks of one bucket: each method is one request, sent once.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from colonnade.manifests.store.base import Data, ObjectInfo
from colonnade.manifests.store.bucket.patience import Patience
from colonnade.manifests.store.bucket.upload import Upload

CheckSize = Callable[[int], None]
"""Takes the size of an object in bytes. Raises an error if it is too large to be read."""


def ms_of(date: datetime | str) -> int:
    """Return a date, or the text of one in a header of HTTP, in ms since 1970 UTC."""
    found = parsedate_to_datetime(date) if isinstance(date, str) else date
    return round(found.timestamp() * 1000)


class Head(NamedTuple):
    """What a bucket knows about an object: its size in bytes, and when it was last written.

    A file system that no object is written to may not know when (None).
    """

    size: int
    modified_ms: int | None


class ListingPage(NamedTuple):
    """One page of a listing, and the token of the next page, if any. Names of objects are keys."""

    objects: list[ObjectInfo]
    next: Any


class Folders(NamedTuple):
    """One page of the names of folders, and the token of the next page, if any."""

    names: list[str]
    next: Any


class RemovalFailure(NamedTuple):
    """Why an object may still exist after its removal, and whether the reason may pass.

    `reason` ends a sentence.
    """

    reason: str
    passing: bool


class BucketRequests(abc.ABC):
    """The requests to one bucket. Threads may share it. Every request raises Failure."""

    patience: Patience

    name: str
    """The bucket's name."""

    at_once: int
    """The most objects that one request removes."""

    lacking: str
    """What a server without conditional writes lacks, as the end of a sentence."""

    @property
    @abc.abstractmethod
    def server(self) -> str:
        """The server's address, which tells two servers with equal names of buckets apart."""

    @abc.abstractmethod
    def read(self, key: str, check: CheckSize) -> bytes:
        """Return a whole object, after `check` has seen its size."""

    @abc.abstractmethod
    def read_range(self, key: str, offset: int, length: int) -> bytes | None:
        """Return part of an object; None if the object has no such part."""

    @abc.abstractmethod
    def head(self, key: str) -> Head:
        """Return the size and the date of an object."""

    @abc.abstractmethod
    def put(self, key: str, data: Data, *, if_absent: bool) -> None:
        """Write an object. With `if_absent`, an existing one is a Failure of status 412."""

    @abc.abstractmethod
    def remove(self, key: str) -> None:
        """Remove an object. Accepts an absent one."""

    def check_new(self, key: str) -> None:  # noqa: B027
        """Look at an object that a probe has put, where more than its name must be right.

        Raises: InvalidInputError that says what is wrong.
        """

    def tidy(self, folder: str) -> None:  # noqa: B027
        """Remove a folder that a probe has left empty, where there are folders. Never raises."""

    def remove_batch(self, keys: Sequence[str]) -> Mapping[str, RemovalFailure]:
        """Remove at most `at_once` objects. Returns those that may still exist, by key.

        Sends one request for each object, if the bucket has none for several.
        """
        for key in keys:
            self.remove(key)
        return {}

    @abc.abstractmethod
    def page(self, prefix: str, after: Any) -> ListingPage:
        """Return a page of the objects whose key begins with `prefix`.

        `after` is the token of the page before; None for the first page.
        """

    def folders(self, prefix: str, after: Any) -> Folders:
        """Return a page of the names of the folders directly below `prefix`.

        `prefix` is empty or ends in a slash. `after` is the token of the page before. A name may be
        on several pages. Cost: as a listing of all keys below, if the bucket has no better request.
        """
        page = self.page(prefix, after)
        below = [each.name.removeprefix(prefix) for each in page.objects]
        names = dict.fromkeys(name.partition("/")[0] for name in below if "/" in name)
        return Folders([*names], page.next)

    @abc.abstractmethod
    def date_ms(self) -> int | None:
        """Return the time by the server's clock, in ms since 1970 UTC; None if it tells none."""

    @abc.abstractmethod
    def upload(self, key: str) -> Upload:
        """Return an upload of a new object. Makes no request."""
