"""The contract of a store: named bytes, written whole, and one atomic put-if-absent.

A database needs one thing from a store that cannot be built on top of it: of all writers that put
the same new name, exactly one succeeds, and no reader ever sees part of what it wrote. Every store
here keeps that promise or refuses to write.

Spec: docs/spec/store.md
"""

from __future__ import annotations

import abc
import enum
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from colonnade.manifests.errors import CorruptionError, InvalidInputError, NotFoundError

Data: TypeAlias = "bytes | memoryview"

_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}"
_NAME = re.compile(rf"{_PART}(?:/{_PART}){{0,7}}", re.ASCII)
_UNFINISHED = re.compile(r"((?:.*/)?)\.tmp-[0-9a-f]{16}-([^/]+)", re.ASCII)


class PutOutcome(enum.Enum):
    """What a store knows about a put-if-absent once the call is over."""

    CREATED = "created"
    """The object is there, durable, and this call wrote it."""

    EXISTS = "exists"
    """The name is taken, durably. By whom only reading it tells: a hidden retry of this very call
    may have met its own first try."""

    UNKNOWN = "unknown"
    """Written, not written, or still on its way. Read the object; if it is absent or its
    durability matters, put the same bytes under the same name again."""


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """One object of a listing: size in bytes, time of the last write in ms since 1970 (UTC).

    `modified_ms` is None where the store does not say.
    """

    name: str
    size: int
    modified_ms: int | None


class ObjectWriter(abc.ABC):
    """A new data object on its way: invisible until `close`, then whole.

    As a context manager it closes at the end of the block, and aborts when the block raises.
    Any error of `write` or `close` has already aborted it.
    """

    @abc.abstractmethod
    def write(self, data: Data) -> None:
        """Append bytes. Unbuffered, so hand over whole blocks.

        Raises: StoreError; InvalidInputError after `close` or `abort`.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """Make the object visible under its name; does nothing after `close` or `abort`.

        Raises: AlreadyExistsError when the name was taken meanwhile; StoreError, after which the
        object is either absent or there whole, for vacuum to find.
        """

    @abc.abstractmethod
    def abort(self) -> None:
        """Forget what was written; does nothing after `close` or `abort`. Never raises."""

    def __enter__(self) -> ObjectWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()


class Turn:
    """A place among the writers of one machine that put objects into the same folder.

    It orders those who wait and decides nothing: whoever does not have it may put all the same.
    This one, for stores that know no order, is always free. As a context manager it is given back
    at the end of the block.
    """

    ordered = False
    """Whether others have turns, too, and may have put since this writer looked."""

    def take(self, wait_s: float) -> bool:
        """Wait for the turn, at most so many seconds; returns whether one has it."""
        del wait_s
        return True

    def give_back(self) -> None:
        """Let the next one have it; where one still waits for it, wait no longer. Never raises."""

    def __enter__(self) -> Turn:
        return self

    def __exit__(self, *error: object) -> None:
        self.give_back()


class ObjectStore(abc.ABC):
    """Objects under one root. Safe to share between threads.

    Names are relative and `/`-separated (see `check_name`), and `manifests/object_names.py` builds
    them. No name may be a folder of another. Every method raises InvalidInputError for a
    malformed name, and StoreError for what the store refuses or fails.
    """

    url: str
    """The root, as users see it in errors. Holds no credentials."""

    read_only: bool
    """Whether every writing method raises InvalidInputError."""

    tries: int = 5
    """A read or put that fails and may pass is made at most so many times."""

    pause: Callable[[float], None] = staticmethod(time.sleep)
    """Waits between two tries, in seconds."""

    @abc.abstractmethod
    def get(self, name: str, *, limit: int | None = None) -> bytes:
        """Read a whole object; one larger than `limit` bytes is refused without being loaded.

        Raises: NotFoundError; CorruptionError above `limit`.
        """

    def get_range(self, name: str, offset: int, length: int) -> bytes:
        """Read exactly `length` bytes from `offset` on.

        Raises: NotFoundError; CorruptionError when the object ends before that.
        """
        return self.get_ranges(name, [(offset, length)])[0]

    @abc.abstractmethod
    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        """Read many (offset, length) ranges, in the order given, at the price of one open.

        Raises: NotFoundError; CorruptionError when the object ends before the end of one.
        """

    def read_windows(
        self, name: str, windows: Sequence[tuple[int, int]], buffer: memoryview
    ) -> Iterator[memoryview]:
        """Read (offset, length) ranges in turn, at the price of one open, all into one buffer.

        Each is the beginning of the buffer, until the next one is asked for. Requires: none is
        longer. Raises: NotFoundError; CorruptionError when the object ends before the end of one.
        """
        for offset, length in windows:
            view = buffer[:length]
            view[:] = self.get_range(name, offset, length)
            yield view

    @abc.abstractmethod
    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        """Create a small object, whole and durable, unless its name is taken.

        The hint, and an epoch other than epoch 0, are put only beside epoch 0: a writer that slept
        while its database was dropped must not leave part of a log there. Requires:
        `data` is not empty (some stores treat empty bodies without the condition).
        Raises: StoreError, or NotFoundError for an epoch without its log, only when nothing was
        written and nothing will be.
        """

    @abc.abstractmethod
    def put(self, name: str, data: Data, *, sync: bool) -> None:
        """Write a small object, replacing what is there atomically; durable when `sync`.

        Requires: `data` is not empty. Raises: NotFoundError as `put_if_absent`.
        """

    @abc.abstractmethod
    def create(self, name: str, *, sync: bool) -> ObjectWriter:
        """Begin a new data object of any size; durable once closed when `sync`.

        Raises: AlreadyExistsError.
        """

    def close_all(self, writers: Sequence[ObjectWriter]) -> None:
        """Close what `create` of this store began; its waits may run side by side.

        Afterwards each object is as its own `close` leaves it. Raises as `close`: some of the
        objects may be there then, and the other writers have aborted.
        """
        try:
            for writer in writers:
                writer.close()
        except BaseException:
            for writer in writers:
                writer.abort()
            raise

    @abc.abstractmethod
    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """List the objects whose name begins with `prefix` ("" for all), in no order.

        Objects that come or go meanwhile may be missed; what is there throughout is listed. What
        no store wrote (links, other people's names, unfinished objects) is not.
        """

    @abc.abstractmethod
    def delete(self, name: str) -> None:
        """Remove an object; fine when it is absent. Not synced: a power cut may bring it back."""

    @abc.abstractmethod
    def remove_folder(self, name: str) -> None:
        """Remove an empty folder that objects were in; fine when it is absent or not empty.

        Only tidies up: most stores have no folders. Requires: nobody is going to write into it.
        """

    def modified_ms(self, name: str) -> int | None:
        """When an object was last written, in ms since 1970 UTC; None where the store has no say.

        Raises: NotFoundError.
        """
        return None

    def date_of_write(self, name: str) -> int | None:
        """The time by the store's own clock, as it would date `name` if that were written now.

        In ms since 1970 UTC; None where the store has no say, or cannot be written to. Nothing is
        written under the name, and what it takes to find out is removed again.
        """
        return None

    def list_unfinished(self) -> Iterator[ObjectInfo]:
        """List the files that killed writers left on their way to being objects.

        Such a name is `<folder>/.tmp-<16 hex digits>-<last part of the object's name>`, and only
        `delete_unfinished` takes it. None where the store has no such files.
        """
        return iter(())

    def delete_unfinished(self, name: str) -> None:
        """Remove what `list_unfinished` named; fine when it is absent.

        A writer that is still at it fails, and makes no object.
        """
        raise InvalidInputError(f"{self.locate(name)} cannot be: {self.url} leaves no such files.")

    def turn(self, folder: str) -> Turn:
        """A turn to put objects into a folder of the root, where the store can order its writers.

        It ends with the `put_if_absent` of the same thread that creates an object, as soon as the
        object has its name: the next writer then sees it. It ends, too, when its process does.
        """
        del folder
        return Turn()

    def require_writable(self) -> None:  # noqa: B027
        """Check before any work is done that the store can be written to.

        Raises: InvalidInputError that says why when it is read-only.
        """

    def require_folder(self) -> None:  # noqa: B027
        """Check that objects can be below the root, where the store has files and folders.

        Raises: NotFoundError when the root, or what should be a folder above it, is a file.
        """

    def locate(self, name: str) -> str:
        """Name an object the way users see it in errors."""
        return f"{self.url}/{name}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"


def is_name(name: str) -> bool:
    """Whether `name` can name an object (see `check_name`)."""
    return _NAME.fullmatch(name) is not None


def finished_name(name: str) -> str | None:
    """The object that an unfinished one was going to be; None for any other name."""
    found = _UNFINISHED.fullmatch(name)
    finished = found[1] + found[2] if found else ""
    return finished if is_name(finished) else None


def check_name(name: str) -> None:
    """Refuse what is no object name.

    One to eight parts of 1 to 200 ASCII letters, digits, `_`, `-` and `.`, not beginning with `.`
    or `-`: nothing absolute, no `..`, no empty part, nothing hidden.

    Raises: InvalidInputError.
    """
    if not is_name(name):
        raise InvalidInputError(
            f"{name[:300]!r} is no object name: it must be relative, made of letters, digits,"
            " '_', '-' and '.', and stay inside the database."
        )


def check_prefix(prefix: str) -> None:
    """Refuse what no object name can begin with. Raises: InvalidInputError."""
    if prefix:
        check_name(prefix.removesuffix("/"))


def check_body(name: str, data: Data) -> None:
    """Refuse a malformed name or an empty body. Raises: InvalidInputError."""
    check_name(name)
    if not len(data):
        raise InvalidInputError(f"{name} has an empty body: every object holds at least a byte.")


def check_ranges(ranges: Sequence[tuple[int, int]]) -> None:
    """Refuse negative offsets and lengths. Raises: InvalidInputError."""
    for offset, length in ranges:
        if offset < 0 or length < 0:
            raise InvalidInputError(f"{length} bytes from offset {offset} is no range of bytes.")


def no_log(location: str) -> NotFoundError:
    """The error of an epoch that is put where its log is not, or not any more."""
    return NotFoundError(
        f"The database at {location} was removed or replaced, so nothing can be committed to it;"
        " open it again."
    )


def too_large(location: str, size: str, limit: int) -> CorruptionError:
    """The error of an object above its limit; `size` says how large it is or at least is."""
    return CorruptionError(f"{location} holds {size} bytes where at most {limit} can be right.")


def truncated(location: str, size: int, offset: int, length: int) -> CorruptionError:
    """The error of an object that ends before a range that must be there."""
    return CorruptionError(
        f"{location} is truncated: {length} bytes from offset {offset} are needed and it holds"
        f" {size} bytes."
    )
