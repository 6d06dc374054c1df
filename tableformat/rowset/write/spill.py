"""Keep bytes on local disk until their place in an object is known.

In one object the bytes of a column are adjacent, so that a scan of it is one request. But rows
arrive cut by cut, with all columns of each cut. The encoded blocks of a large RowSet therefore wait
in a file without a name, which disappears with its process.

Spec: docs/spec/rowset.md#places
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, NamedTuple

from colonnade.manifests.errors import StoreError
from colonnade.manifests.store.base import Data

_WINDOW_BYTES = 4 << 20
"""The most bytes of neighbouring pieces that are read at once. A larger piece is read alone."""


class Spilled(NamedTuple):
    """The place of some bytes in the file."""

    offset: int
    length: int


class Spill:
    """A file in the folder for temporary files (`TMPDIR`). The file takes space until `close`.

    Holds at most 4 MiB, or one piece, in memory. Raises StoreError when the disk fails or is full.
    """

    def __init__(self) -> None:
        with _disk():
            self._file: IO[bytes] = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._length = 0

    def add(self, data: Data) -> Spilled:
        """Append bytes, and return their place."""
        found = Spilled(self._length, len(data))
        view = memoryview(data).cast("B")
        with _disk():
            self._file.seek(self._length)
            while len(view):
                view = view[self._file.write(view) :]
        self._length += found.length
        return found

    def read(self, pieces: Iterable[Spilled]) -> Iterator[bytes]:
        """Yield the bytes of the pieces in order, several neighbouring ones at once."""
        begin = end = 0
        for offset, length in pieces:
            if offset != end or offset + length - begin > _WINDOW_BYTES:
                yield from self._window(begin, end)
                begin = offset
            end = offset + length
        yield from self._window(begin, end)

    def _window(self, begin: int, end: int) -> Iterator[bytes]:
        if begin == end:
            return
        with _disk():
            self._file.seek(begin)
            data = self._file.read(end - begin)
            if len(data) != end - begin:
                raise OSError("it is shorter than what was written to it")
        yield data

    def close(self) -> None:
        """Remove the file. A second call changes nothing."""
        self._file.close()


@contextmanager
def _disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            "Blocks of a large RowSet, or rows to sort, could not be kept in the temporary folder"
            f" {_folder()}: {error.strerror or error}. Free space there, or name another folder"
            " in the environment variable TMPDIR."
        ) from error


def _folder() -> str:
    try:
        return tempfile.gettempdir()
    except OSError:
        return "of this system"
