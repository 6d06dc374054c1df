"""The promise of a store: named bytes, written whole, and one atomic put-if-absent.

A database needs one promise that cannot be built on top of a store. If several writers put the same
new name, exactly one succeeds, and no reader ever sees part of the object. Every store here keeps
that promise or refuses to write. What is built on the nine methods is in `object_store.py`.

Spec: docs/spec/store.md
"""

from __future__ import annotations

import abc
import enum
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

Data: TypeAlias = "bytes | memoryview"


class PutOutcome(enum.Enum):
    """The result of a put-if-absent, as far as the store knows it."""

    CREATED = "created"
    """The object exists, it is durable, and this call wrote it."""

    EXISTS = "exists"
    """The name is in use, durably. Only reading the object tells who wrote it: a client
    library may have repeated this call, and met its own first try.
    """

    UNKNOWN = "unknown"
    """The object was written, was not written, or is still on its way. Read it. If it is absent, or
    its durability matters, put the same bytes under the same name again.
    """


class ObjectInfo(NamedTuple):
    """One object of a listing: its name, its size in bytes, and when it was last written.

    `modified_ms` is in ms since 1970 UTC, or None if the store does not know it.
    """

    name: str
    size: int
    modified_ms: int | None


class ObjectWriter(abc.ABC):
    """A writer of a new data object. The object is invisible until `close`, and complete after it.

    As a context manager, the writer closes at the end of the block, and aborts if the block raises.
    An error of `write` or `close` aborts the writer.
    """

    @abc.abstractmethod
    def write(self, data: Data) -> None:
        """Append bytes. The writer has no buffer, so pass whole blocks.

        Raises: StoreError; InvalidInputError after `close` or `abort`.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """Make the object visible under its name; does nothing after `close` or `abort`.

        Raises: AlreadyExistsError if another writer took the name meanwhile; StoreError. After a
        StoreError the object is either absent or complete, and vacuum finds it.
        """

    @abc.abstractmethod
    def abort(self) -> None:
        """Discard the bytes written so far; does nothing after `close` or `abort`. Never raises."""

    def __enter__(self) -> ObjectWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()


class StorePromise(abc.ABC):
    """Objects under one root. A store can be shared between threads.

    Names are relative and `/`-separated (see `check_name`), and `manifests/object_names.py` builds
    them. No name may be a folder of another. Every method raises InvalidInputError for a malformed
    name, and StoreError if the store refuses or fails the call.
    """

    url: str
    """The root, as error messages show it. It contains no credentials."""

    read_only: bool
    """Whether every writing method raises InvalidInputError."""

    @abc.abstractmethod
    def get(self, name: str, *, limit: int | None = None) -> bytes:
        """Return the bytes of a whole object of at most `limit` bytes.

        Raises: NotFoundError; CorruptionError for a larger object, which is not loaded.
        """

    @abc.abstractmethod
    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        """Return the bytes of many (offset, length) ranges, in the given order. Cost: one open.

        Raises: NotFoundError; CorruptionError if the object ends before the end of a range.
        """

    @abc.abstractmethod
    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        """Create a small object, complete and durable, unless its name is in use.

        The hint, marks, and every epoch except epoch 0, are put only if epoch 0 exists. A process
        that slept while its database was dropped therefore leaves no part of a log there. A store
        that keeps logs (`keeps_logs`) does not look at epoch 0 before it puts an epoch.

        Requires: `data` is not empty, because some stores ignore the condition for an empty body.
        Raises: StoreError; NotFoundError for an epoch without its log. After either error, nothing
        was written, and no late request will write it.
        """

    @abc.abstractmethod
    def put(self, name: str, data: Data, *, sync: bool) -> None:
        """Write a small object, replacing an existing one atomically; durable if `sync`.

        Requires: `data` is not empty. Raises: StoreError; NotFoundError as `put_if_absent`.
        """

    @abc.abstractmethod
    def create(self, name: str, *, sync: bool) -> ObjectWriter:
        """Begin a new data object of any size. It is durable after `close` if `sync`.

        Raises: AlreadyExistsError if the name is in use; a store may leave that to `close`.
        """

    @abc.abstractmethod
    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Yield the objects whose name begins with `prefix` ("" for all), in no order.

        The listing contains every object that exists during the whole call. It may miss an object
        that is created or deleted meanwhile. It leaves out files that no store wrote (links,
        foreign names) and unfinished objects.
        """

    @abc.abstractmethod
    def delete(self, name: str) -> None:
        """Remove an object; does nothing if it is absent. Not synced: a power cut may undo it.

        Raises NotFoundError for an epoch whose log does not exist any more, if the store knows
        that. An epoch of another log at the same place is not removed.
        """

    def modified_ms(self, name: str) -> int | None:
        """Return when an object was last written, in ms since 1970 UTC.

        Returns None if the store cannot tell. Raises: NotFoundError.
        """
        return None

    def date_of_write(self, name: str) -> int | None:
        """Return the date that an object `name` would get if it were written now.

        The date is the time by the store's own clock, in ms since 1970 UTC. It is None if the store
        cannot tell or cannot be written to. The call writes nothing under the name. It may write a
        temporary file, and removes it.
        """
        return None
