"""One RowSet on its way to the store.

Encoded blocks are kept in memory until they are too many for a packed RowSet; from then on every
column goes to a file of its own. What is small in the end becomes one object, or no object at all:

    packed or inline   segments, in column order | indexes, in column order | footer
    directory          <id>.col ... , then <id>.idx ... , then rowset.json

Spec: docs/spec/rowset.md#places
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Literal

import pyarrow as pa

from manifests import names
from manifests.codec import byte_check, crc32c, encode_model
from manifests.entries import ByteCheck, ColumnStatistics, RowSetEntry
from manifests.errors import ColonnadeError
from manifests.ids import ObjectId
from manifests.store import ObjectStore, ObjectWriter
from tableformat.block import BlockEntry, encode_block
from tableformat.block_statistics import LOG_BOUND_LENGTH, from_log, merge, shorten, to_log
from tableformat.column import Column
from tableformat.footer import Extent, Footer, Segment, block_of
from tableformat.sparse_index import encode_index
from tableformat.write_options import WriteOptions

_MOST_OPEN_FILES = 256
"""A wider RowSet waits in memory instead, and its files are written one after another."""


class _Part:
    """One column: its blocks so far, and where their bytes are."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.entries: list[BlockEntry] = []
        self.waiting: list[pa.Buffer] = []
        self.file: ObjectWriter | None = None

    @property
    def length(self) -> int:
        return sum(entry.length for entry in self.entries)


class RowSetOutput:
    """Takes cuts of rows, gives an entry for the log. Not visible to readers before the commit."""

    def __init__(
        self,
        store: ObjectStore,
        prefix: str,
        object_id: ObjectId,
        columns: Sequence[Column],
        options: WriteOptions,
    ) -> None:
        self._store = store
        self._prefix = prefix
        self._object = object_id
        self._options = options
        self._parts = [_Part(column) for column in columns]
        self._names: list[str] = []
        self._in_files = False
        self._cuts: list[int] = []
        self.byte_count = 0

    @property
    def rows(self) -> int:
        """Rows taken so far."""
        return self._cuts[-1] if self._cuts else 0

    def add_cut(self, chunks: Sequence[list[pa.Array]], rows: int) -> None:
        """Append rows up to the next cut: for every column the arrays that make them up.

        Empties the lists, so that what is encoded is not kept. Raises InvalidInputError for a
        value that is too large, StoreError.
        """
        for part, arrays in zip(self._parts, chunks, strict=True):
            array = arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)
            arrays.clear()
            self._encode(part, array)
        self._cuts.append(self.rows + rows)

    def add_stored(
        self, columns: Sequence[Sequence[tuple[BlockEntry, memoryview]]], rows: int
    ) -> None:
        """Append a stretch between two cuts as it is stored elsewhere: for every column its blocks.

        A column without blocks is NULL. Requires: blocks that were verified. Raises StoreError.
        """
        for part, blocks in zip(self._parts, columns, strict=True):
            if not blocks:
                self._encode(part, pa.nulls(rows, part.column.type))
            for entry, data in blocks:
                part.entries.append(entry)
                if entry.length:
                    self._append(part, pa.py_buffer(data))
        self._cuts.append(self.rows + rows)

    def add_sorted(self, columns: Iterable[pa.Array], order: pa.Array, cut_rows: int) -> None:
        """Append the rows that `order` names, in its order, with a cut every `cut_rows`.

        Takes one column after another, so that only one has to exist in both orders. Raises as
        `add_cut`.
        """
        pieces = [order.slice(at, cut_rows) for at in range(0, len(order), cut_rows)]
        for part, array in zip(self._parts, columns, strict=True):
            for piece in pieces:
                self._encode(part, array.take(piece))
            del array  # before the next one is made
        for piece in pieces:
            self._cuts.append(self.rows + len(piece))

    def _encode(self, part: _Part, array: pa.Array) -> None:
        for piece in _pieces(array, self._options.block_bytes):
            entry, data = encode_block(piece, part.column)
            part.entries.append(entry)
            if data is not None:
                self._append(part, data)

    def _append(self, part: _Part, data: pa.Buffer) -> None:
        part.waiting.append(data)
        self.byte_count += data.size
        if not self._in_files:
            if self.byte_count <= self._options.packed_bytes:
                return
            if len(self._parts) > _MOST_OPEN_FILES:
                return
            self._in_files = True
            for each in self._parts:
                self._flush(each)
        self._flush(part)

    def _flush(self, part: _Part) -> None:
        if not part.waiting:
            return
        if part.file is None:
            name = names.segment_name(self._prefix, self._object, part.column.id)
            part.file = self._create(name)
        for data in part.waiting:
            part.file.write(memoryview(data))
        part.waiting.clear()

    def _create(self, name: str) -> ObjectWriter:
        writer = self._store.create(name, sync=self._options.sync)
        self._names.append(name)
        return writer

    def finish(self) -> RowSetEntry:
        """Write what is missing. Requires: at least one cut. Raises StoreError."""
        if self._in_files or self.byte_count > self._options.packed_bytes:
            return self._finish_directory()
        return self._finish_string()

    def _finish_directory(self) -> RowSetEntry:
        segments: dict[int, Segment] = {}
        for part in self._parts:
            self._flush(part)
            if part.file is not None:
                part.file.close()
            index = _index(part)
            if index is not None:
                self._put(names.index_name(self._prefix, self._object, part.column.id), index)
                self.byte_count += len(index)
            segments[part.column.id] = _segment(part, 0, index, 0)
        footer = self._footer(segments)
        self._put(names.footer_name(self._prefix, self._object), footer)
        return self._entry("directory", footer, segments, self.byte_count + len(footer))

    def _finish_string(self) -> RowSetEntry:
        indexes = [_index(part) for part in self._parts]
        segments: dict[int, Segment] = {}
        offset, index_offset = 0, self.byte_count
        for part, index in zip(self._parts, indexes, strict=True):
            segments[part.column.id] = _segment(part, offset, index, index_offset)
            offset += part.length
            index_offset += len(index or b"")
        footer = self._footer(segments)
        blocks = (memoryview(data) for part in self._parts for data in part.waiting)
        data = b"".join((*blocks, *(index for index in indexes if index), footer))
        if len(data) <= self._options.inline_bytes:
            return self._entry("inline", footer, segments, len(data), data)
        self._put(names.packed_name(self._prefix, self._object), data)
        return self._entry("packed", footer, segments, len(data))

    def _put(self, name: str, data: bytes) -> None:
        with self._create(name) as writer:
            writer.write(data)

    def _footer(self, segments: dict[int, Segment]) -> bytes:
        return encode_model(Footer(rows=self.rows, cuts=self._log_cuts(), columns=segments))

    def _log_cuts(self) -> int | tuple[int, ...]:
        first = self._cuts[0]
        regular = [*range(first, self.rows, first), self.rows]
        if self._cuts == regular:
            return max(self._options.block_rows, first) if len(regular) == 1 else first
        return tuple(self._cuts)

    def _entry(
        self,
        place: Literal["directory", "packed", "inline"],
        footer: bytes,
        segments: dict[int, Segment],
        size: int,
        data: bytes | None = None,
    ) -> RowSetEntry:
        check: ByteCheck = byte_check(footer)
        return RowSetEntry(
            object=self._object,
            place=place,
            rows=self.rows,
            bytes=size,
            cuts=self._log_cuts(),
            footer=check,
            statistics={
                column: _for_log(segment.statistics)
                for column, segment in segments.items()
                if column in self._options.indexed_columns
            },
            data=None if data is None else base64.b64encode(data).decode("ascii"),
            unsynced=not self._options.sync and data is None,
        )

    def abort(self) -> None:
        """Remove what was written. What cannot be removed stays for vacuum to find."""
        for part in self._parts:
            if part.file is not None:
                part.file.abort()
            part.waiting.clear()
        for name in self._names:
            with suppress(ColonnadeError):
                self._store.delete(name)
        self._names.clear()
        with suppress(ColonnadeError):
            # Random id: the folder, if there is one, is this RowSet's alone.
            self._store.remove_folder(names.rowset_folder(self._prefix, self._object))


def _index(part: _Part) -> bytes | None:
    return encode_index(part.entries, part.column.order) if len(part.entries) > 1 else None


def _segment(part: _Part, offset: int, index: bytes | None, index_offset: int) -> Segment:
    entries = part.entries
    statistics = merge([entry.statistics for entry in entries], [entry.rows for entry in entries])
    return Segment(
        offset=offset,
        length=part.length,
        decoded=sum(entry.decoded for entry in entries),
        index=None
        if index is None
        else Extent(offset=index_offset, length=len(index), crc32c=crc32c(index)),
        block=block_of(entries[0]) if index is None else None,
        statistics=to_log(statistics),
    )


def _for_log(statistics: ColumnStatistics) -> ColumnStatistics:
    bounds = (statistics.min, statistics.max)
    if all(bound is None or len(bound) <= LOG_BOUND_LENGTH for bound in bounds):
        return statistics
    return to_log(shorten(from_log(statistics), LOG_BOUND_LENGTH))


def _pieces(array: pa.Array, block_bytes: int) -> Iterator[pa.Array]:
    """Divide rows into runs below `block_bytes`; a larger row is alone."""
    if array.nbytes <= block_bytes or len(array) == 1:
        yield array
        return
    half = len(array) // 2
    yield from _pieces(array.slice(0, half), block_bytes)
    yield from _pieces(array.slice(half), block_bytes)
