"""Read the bytes of a RowSet by (object, offset, length), in any place it may be stored."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence

from colonnade.manifests import object_names
from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.model.codec import decode_model, verify
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.once import once
from colonnade.manifests.store import ObjectStore
from colonnade.manifests.store.checks import missing_object
from colonnade.tableformat.rowset.footer import FOOTER_LIMIT, Footer
from colonnade.tableformat.rowset.write_options import KIB, MIB

_WHOLE_BYTES = MIB
"""A RowSet of at most as many bytes is read with one request, where a request costs a round."""

_MOST_TAIL_BYTES = 2 * MIB
"""The most bytes before a footer that are read with it."""

_COLUMN_BYTES = 256
"""The fewest bytes that a column takes in most footers."""


class RowSetSource:
    """Reads ranges of the objects of one RowSet. Every failed check is a CorruptionError.

    Keeps the end of a packed RowSet, where a request costs a round, once it has read the footer.
    """

    def __init__(self, store: ObjectStore, prefix: str, entry: RowSetEntry) -> None:
        self._store = store
        self._prefix = prefix
        self._entry = entry
        self._tail_start = entry.bytes
        self._tail = memoryview(b"")

    def column_segment_name(self, column_id: int) -> str:
        """Return the object that holds a column's blocks."""
        if self._entry.place == "directory":
            return object_names.column_segment_name(self._prefix, self._entry.object, column_id)
        return object_names.packed_name(self._prefix, self._entry.object)

    def index_name(self, column_id: int) -> str:
        """Return the object that holds a column's sparse index."""
        if self._entry.place == "directory":
            return object_names.index_name(self._prefix, self._entry.object, column_id)
        return object_names.packed_name(self._prefix, self._entry.object)

    def locate(self, name: str) -> str:
        """Return the name of an object for error messages."""
        if self._entry.place == "inline":
            return f"RowSet {self._entry.object} in the log of {self._store.url}"
        return self._store.locate(name)

    def footer(self, *, whole: bool = False) -> Footer:
        """Read the footer and compare it with the log. Raises CorruptionError.

        `whole` reads all of a packed RowSet with it, where a request costs a round.
        """
        entry, check = self._entry, self._entry.footer
        name = object_names.packed_name(self._prefix, entry.object)
        offset = entry.bytes - check.length
        if entry.place == "directory":
            name, offset = object_names.footer_name(self._prefix, entry.object), 0
        location = f"The footer of {self.locate(name)}"
        if offset < 0 or check.length > FOOTER_LIMIT:
            raise CorruptionError(f"{location} cannot have {check.length} bytes.")
        if entry.place == "packed" and self._store.parallel > 1:
            start = 0 if whole else entry.bytes - tail_bytes(entry)
            self._tail = self.read(name, [(start, entry.bytes - start)])[0]
            self._tail_start = start
        data = bytes(self.read(name, [(offset, check.length)])[0])
        try:
            verify(data, check, location)
        except CorruptionError:
            self.forget(name)
            raise
        footer = decode_model(Footer, data, location)
        if footer.rows != entry.rows or footer.cuts != entry.cuts:
            raise CorruptionError(f"{location} states other rows or cuts than the log.")
        return footer

    def read(self, name: str, ranges: Sequence[tuple[int, int]]) -> list[memoryview]:
        """Read (offset, length) ranges of an object. Adjacent ranges are read as one.

        Raises CorruptionError when the object is missing or too short, and StoreError.
        """
        order = sorted(range(len(ranges)), key=lambda i: ranges[i])
        joined: list[tuple[int, int]] = []
        place = [(0, 0)] * len(ranges)
        for i in order:
            offset, length = ranges[i]
            if joined and joined[-1][0] + joined[-1][1] == offset:
                start, before = joined[-1]
                joined[-1] = (start, before + length)
            else:
                joined.append((offset, length))
            place[i] = (len(joined) - 1, offset - joined[-1][0])
        parts = [memoryview(part) for part in self._fetch(name, joined)]
        return [
            parts[part][start : start + length]
            for (part, start), (_, length) in zip(place, ranges, strict=True)
        ]

    def forget(self, name: str) -> None:
        """Drop what a cache keeps of an object whose bytes have failed a check."""
        if self._entry.place != "inline":
            self._store.forget(name)

    def read_windows(
        self, name: str, windows: Sequence[tuple[int, int]], buffer: memoryview
    ) -> Iterator[memoryview]:
        """Read ranges of an object in turn (`ObjectStore.read_windows`). Raises as `read` does."""
        if self._entry.place == "inline":
            yield from (memoryview(part) for part in self._fetch(name, windows))
            return
        try:
            yield from self._store.read_windows(name, windows, buffer)
        except NotFoundError as error:
            raise missing_object(self.locate(name), self._entry.object) from error

    def _fetch(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes | memoryview]:
        if self._entry.place == "inline":
            data = self._inline
            if any(offset + length > len(data) for offset, length in ranges):
                raise CorruptionError(f"{self.locate(name)} is truncated.")
            return [data[offset : offset + length] for offset, length in ranges]
        wanted = [each for each in ranges if each[0] < self._tail_start]
        try:
            found = iter(self._store.get_ranges(name, wanted) if wanted or not ranges else ())
        except NotFoundError as error:
            raise missing_object(self.locate(name), self._entry.object) from error
        return [
            next(found) if offset < self._tail_start else self._of_tail(name, offset, length)
            for offset, length in ranges
        ]

    def _of_tail(self, name: str, offset: int, length: int) -> memoryview:
        start = offset - self._tail_start
        if start + length > len(self._tail):
            raise CorruptionError(f"{self.locate(name)} is truncated.")
        return self._tail[start : start + length]

    @once
    def _inline(self) -> bytes:
        location = self.locate("")
        try:
            data = base64.b64decode(self._entry.data or "", validate=True)
        except (ValueError, binascii.Error) as error:
            raise CorruptionError(f"{location} is not base64.") from error
        if len(data) != self._entry.bytes:
            raise CorruptionError(f"{location} holds {len(data)} bytes, not {self._entry.bytes}.")
        return data


def tail_bytes(entry: RowSetEntry) -> int:
    """Return how many bytes at the end of a packed RowSet to read with its footer.

    A small RowSet is read whole. In a larger one, the sparse indexes are right before the footer.
    Their size is not known yet, so it is estimated from the columns and stretches of the RowSet.
    """
    if entry.bytes <= _WHOLE_BYTES:
        return entry.bytes
    stretches = -(-entry.rows // entry.cuts) if isinstance(entry.cuts, int) else len(entry.cuts)
    columns = entry.footer.length // _COLUMN_BYTES + 1
    indexes = min(columns * (2 * KIB + 128 * stretches), _MOST_TAIL_BYTES)
    return min(entry.footer.length + indexes, entry.bytes)
