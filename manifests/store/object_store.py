"""A store as the rest of the code uses it: its promise, and what is built on the promise.

Each kind of store has the nine methods of `base.py`, and says what it does with empty folders
(`remove_folder`). Every other method here works with these alone, and a kind of store overrides it
only where it has a better way.

Spec: docs/spec/store.md
"""

from __future__ import annotations

import abc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TypeVar, cast

from colonnade.manifests.errors import ColonnadeError, InvalidInputError
from colonnade.manifests.store.address import StoreAddress
from colonnade.manifests.store.base import ObjectInfo, ObjectWriter, StorePromise
from colonnade.manifests.store.side_by_side import one_ahead, side_by_side
from colonnade.manifests.store.turn import Turn

T = TypeVar("T")
S = TypeVar("S")

PARALLEL = 96
"""The usual `parallel` of a store behind a network. It opens a log with one group of requests."""

TRUST_S = 10.0
"""The usual `trust_s` of a store behind a network, in seconds."""


class ObjectStore(StorePromise):
    """Objects under one root, as `StorePromise` says. A store can be shared between threads."""

    keeps_logs: bool = False
    """Whether the log of a dropped database stays for ever. It does where the store cannot look at
    epoch 0 and put another epoch in one step: only the log's own end then stops a late writer.
    """

    tries: int = 5
    """The most times that a read or put is tried if its failure may pass."""

    pause: Callable[[float], None] = staticmethod(time.sleep)
    """Waits between two tries, in seconds."""

    parallel: int = 1
    """The most requests that one caller should have under way at once. It is 1 where a thread costs
    more than a request, as on local disk.
    """

    files_are_cheap: bool = False
    """Whether a hundred small objects cost about as much as one large one, as on local disk.

    Where it is False, a RowSet of any size is one object.
    """

    has_clock: bool = False
    """Whether `date_of_write` asks a clock that is not this machine's own."""

    trust_s: float = 0.0
    """For how long a log that a process has just seen counts as not removed or replaced, in
    seconds. It is 0 where a look costs next to nothing, as on local disk.
    """

    @property
    def address(self) -> StoreAddress:
        """The address of the root. Another process opens the same store by it."""
        return StoreAddress(self.url)

    @property
    def uncached(self) -> ObjectStore:
        """This store without the cache of this machine. Reads of it tell what is really stored."""
        return self

    def forget(self, name: str) -> None:
        """Drop what a cache keeps of an object, because its bytes have failed a check.

        The next read gets them from the store. Does nothing in a store without a cache.
        """

    def get_range(self, name: str, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes from `offset` on.

        Raises: NotFoundError; CorruptionError if the object ends before the end of the range.
        """
        return self.get_ranges(name, [(offset, length)])[0]

    def together(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """Make independent calls of this store, at most `parallel` at once.

        Returns their results in the given order. Raises the first error of that order. Calls that
        have not begun by then are not made (`side_by_side`).
        """
        return side_by_side(calls, self.parallel)

    def in_turn(self, calls: Sequence[Callable[[], T]]) -> Iterator[T]:
        """Yield the results of independent calls of this store, in the given order.

        Where requests can be under way side by side, the next call is made while the caller uses a
        result. Raises the error of a call in its place. Holds at most two results.
        """
        if self.parallel > 1:
            return one_ahead(calls)
        return (call() for call in calls)

    def both(self, one: Callable[[], T], other: Callable[[], S]) -> tuple[T, S]:
        """Make two independent calls of this store as `together` does; `one` is the first."""
        first, second = self.together(cast("list[Callable[[], T | S]]", [one, other]))
        return cast(T, first), cast(S, second)

    def later(self, work: Callable[[], None]) -> None:
        """Do work that no caller waits for: at once if `parallel` is 1, else in a thread.

        The process ends only after such work. It is also done at once where no thread can be
        started, as at the end of a process. Requires that `work` does not raise.
        """
        if self.parallel > 1:
            with suppress(RuntimeError):
                Thread(target=work, name="colonnade-later", daemon=False).start()
                return
        work()

    def read_many(
        self, names: Sequence[str], *, limit: int | None = None
    ) -> Sequence[bytes | ColonnadeError]:
        """Read many whole small objects, at most `parallel` at once.

        Returns for each name, in the given order, its bytes or the error of its `get`. Such an
        error says nothing about the other objects. The calls have no order among each other. Cost:
        one request for each name. Holds up to `limit` bytes of each object in memory.
        """
        return self.together([partial(_outcome, partial(self.get, n, limit=limit)) for n in names])

    def read_windows(
        self, name: str, windows: Sequence[tuple[int, int]], buffer: memoryview
    ) -> Iterator[memoryview]:
        """Read (offset, length) ranges one after another into the same buffer. Cost: one open.

        Each yielded view is the beginning of the buffer, and is valid until the next view is
        requested. Requires: no range is longer than the buffer. Raises: NotFoundError;
        CorruptionError if the object ends before the end of a range.
        """
        for offset, length in windows:
            view = buffer[:length]
            view[:] = self.get_range(name, offset, length)
            yield view

    def close_all(self, writers: Sequence[ObjectWriter]) -> None:
        """Close writers that `create` of this store returned. Their syncs may run in parallel.

        Afterwards each object is in the same state as after its own `close`. Raises as `close`.
        After an error some of the objects may exist, and the other writers have aborted.
        """
        try:
            for writer in writers:
                writer.close()
        except BaseException:
            for writer in writers:
                writer.abort()
            raise

    def remove_many(self, names: Sequence[str]) -> dict[str, ColonnadeError]:
        """Remove many objects, in no order. Absent objects count as removed.

        Returns the error of each object that may still exist, by its name. The promises for one
        object are those of `delete`. Cost: one request for each object, at most `parallel` at once;
        or one for as many objects as one request of the store can name.
        """
        calls = [partial(_outcome, partial(self.delete, name)) for name in names]
        results = zip(names, self.together(calls), strict=True)
        return {name: each for name, each in results if isinstance(each, ColonnadeError)}

    @abc.abstractmethod
    def remove_folder(self, name: str) -> None:
        """Remove an empty folder of former objects; does nothing if it is absent or not empty.

        The call only tidies up: most stores have no folders. Requires: no writer is going to write
        into the folder.
        """

    def list_unfinished(self) -> Iterator[ObjectInfo]:
        """Yield the files of unfinished objects that killed writers left behind.

        Such a name is `<folder>/.tmp-<16 hex digits>-<last part of the object's name>`, and only
        `delete_unfinished` accepts it. Yields nothing if the store makes no such files.
        """
        return iter(())

    def list_all(self, measured: Callable[[str], bool]) -> Iterator[ObjectInfo]:
        """Yield what `list` and `list_unfinished` yield, in one pass if the store can.

        If `measured` is False for a name, the size may be 0 and the time None: on local disk, most
        of the cost of a listing is the look at each file for these two.
        """
        del measured
        yield from self.list("")
        yield from self.list_unfinished()

    def delete_unfinished(self, name: str) -> None:
        """Remove a file that `list_unfinished` yielded; does nothing if it is absent.

        If its writer is still at work, the writer fails and makes no object.
        """
        raise InvalidInputError(
            f"{self.locate(name)} cannot exist: {self.url} makes no such files."
        )

    def turn(self, folder: str) -> Turn:
        """Return a turn to put objects into a folder of the root, if the store can order writers.

        The turn ends when a `put_if_absent` of the same thread gives an object its name. The next
        writer then sees the object. The turn also ends when its process ends.
        """
        del folder
        return Turn()

    def require_writable(self) -> None:
        """Check that the store can be written to, before any work is done.

        Raises: InvalidInputError that says why, if the store is read-only.
        """

    def require_folder(self) -> None:
        """Check that objects can exist below the root, if the store has files and folders.

        Raises: NotFoundError if the root, or a folder above it, is a file.
        """

    def locate(self, name: str) -> str:
        """Return the name of an object as error messages show it."""
        return f"{self.url}/{name}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"


def _outcome(call: Callable[[], T]) -> T | ColonnadeError:
    """Return the result of a call, or the error that it raised."""
    try:
        return call()
    except InvalidInputError:
        raise
    except ColonnadeError as error:
        return error
