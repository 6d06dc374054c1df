"""Write one RowSet to the store.

Encoded blocks stay in memory until they exceed the size of a packed RowSet. A RowSet that stays
small becomes one object, or is stored inline in the log. For a larger one the store decides. Where
files are cheap, every column is written to its own file from then on. Elsewhere the RowSet becomes
one object, too, and its blocks wait on local disk (`spill.py`) until the last one is there. The
blocks of very many columns also wait there.

    packed or inline   segments | Bloom filters | indexes, each in column order | footer
    directory          <id>.col ... , <id>.idx (filters, then index) ... , then rowset.json

Spec: docs/spec/rowset.md#places
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Literal

import numpy as np
import pyarrow as pa

from colonnade.manifests import object_names
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.ids import ObjectId
from colonnade.manifests.model.codec import byte_check, crc32c, encode_model
from colonnade.manifests.model.entries import ColumnStatistics, RowSetEntry
from colonnade.manifests.model.statistics import LOG_BOUND_LENGTH, read_bound
from colonnade.manifests.store import ObjectStore, ObjectWriter
from colonnade.manifests.store.base import Data
from colonnade.tableformat.jobs import computed
from colonnade.tableformat.rowset.adapt import absent_values
from colonnade.tableformat.rowset.block import encode_block
from colonnade.tableformat.rowset.block_statistics import from_log, merge, shorten, to_log
from colonnade.tableformat.rowset.bloom_filter import encode_filter
from colonnade.tableformat.rowset.column import StoredColumn
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.footer import (
    ColumnSegment,
    Extent,
    Filters,
    Footer,
    block_of,
    written_ms,
)
from colonnade.tableformat.rowset.sparse_index import encode_index
from colonnade.tableformat.rowset.stored_block import StoredBlock
from colonnade.tableformat.rowset.write.spill import Spill, Spilled
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.types.array_size import array_bytes
from colonnade.tableformat.types.chosen_rows import chosen_rows


class _Part:
    """One column: its blocks so far, and where the bytes of blocks and filters are.

    Its blocks take `length` bytes, and their filters `filter_length` bytes.
    """

    def __init__(self, column: StoredColumn, *, has_filters: bool) -> None:
        self.column = column
        self.has_filters = has_filters
        self.entries: list[BlockEntry] = []
        self.waiting: list[pa.Buffer] = []
        self.spilled: list[Spilled] = []
        self.file: ObjectWriter | None = None
        self.filters: list[bytes] = []
        self.spilled_filters: list[Spilled] = []
        self.index_file: ObjectWriter | None = None
        self.length = 0
        self.filter_length = 0


_Encoded = tuple[_Part, BlockEntry, tuple[pa.Buffer, ...], bytes]
"""A column, and a block of it with its entry and its Bloom filter."""

_ROWS_OF_ONE_THREAD = 2**14


class RowSetOutput:
    """Takes rows cut by cut, and returns an entry for the log.

    Readers see nothing before the commit. Many rows are encoded in threads (`computed`), on
    whose number their bytes do not depend.
    """

    def __init__(
        self,
        store: ObjectStore,
        prefix: str,
        object_id: ObjectId,
        columns: Sequence[StoredColumn],
        options: WriteOptions,
        cuts: int | tuple[int, ...] | None = None,
    ) -> None:
        """`cuts` is the form of the cuts in the log when another RowSet has the same cuts."""
        self._store = store
        self._prefix = prefix
        self._object = object_id
        self._options = options
        self._parts = [
            _Part(column, has_filters=column.id in options.bloom_columns) for column in columns
        ]
        self._names: list[str] = []
        self._packed_limit = options.packed_limit(len(columns))
        cheap = store.files_are_cheap if options.one_object is None else not options.one_object
        self._one_object = not cheap
        self._in_files = cheap and len(columns) <= options.open_files
        self._large = False
        self._spill: Spill | None = None
        self._cuts: list[int] = []
        self._stated_cuts = cuts
        self.byte_count = 0

    @property
    def rows(self) -> int:
        """The rows added so far."""
        return self._cuts[-1] if self._cuts else 0

    def add_cut(self, chunks: Sequence[list[pa.Array]], rows: int) -> None:
        """Append the rows up to the next cut. `chunks` has the arrays of each column.

        Empties the lists, so that encoded rows are released. Raises InvalidInputError for a value
        that is too large, and StoreError.
        """
        self._encode(zip(self._parts, map(drained, chunks), strict=True), rows)
        self._cuts.append(self.rows + rows)

    def add_stored(self, columns: Sequence[Sequence[StoredBlock]], rows: int) -> None:
        """Append a stretch from the stored blocks of each column, without decoding them.

        A column without blocks gets the values of an absent column. Requires verified blocks, with
        the filters that `options` ask for (`RowSetReader.with_filters`). Raises StoreError.
        """
        for part, blocks in zip(self._parts, columns, strict=True):
            if not blocks:
                self._encode([(part, absent_values(part.column, rows))], rows)
            for block in blocks:
                data = (pa.py_buffer(block.data),) if block.entry.length else ()
                bloom = bytes(block.bloom) if part.has_filters else b""
                self._add_block(part, block.entry, data, bloom)
        self._cuts.append(self.rows + rows)

    def add_sorted(self, columns: Iterable[pa.Array], order: pa.Array, cut_rows: int) -> None:
        """Append the rows that `order` names, in its order, with a cut every `cut_rows` rows.

        Handles one column at a time, so that only one column exists in both orders. Rows that are
        in order already are not copied. Raises the errors of `add_cut`.
        """
        numbers = np.asarray(order)
        pieces = [numbers[at : at + cut_rows] for at in range(0, len(numbers), cut_rows)]

        def chosen() -> Iterator[tuple[_Part, pa.Array]]:
            for part, array in zip(self._parts, columns, strict=True):
                for piece in pieces:
                    yield part, chosen_rows(array, piece)
                del array  # before the next one is made

        self._encode(chosen(), len(numbers))
        for piece in pieces:
            self._cuts.append(self.rows + len(piece))

    def _encode(self, columns: Iterable[tuple[_Part, pa.Array]], rows: int) -> None:
        """Append arrays of columns. Those of one column have `rows` rows together."""
        pieces = (
            (part, piece)
            for part, array in columns
            for piece in _pieces(array, self._options.block_bytes)
        )
        # Fewer rows are encoded in less time than threads take to start.
        blocks = (computed if rows > _ROWS_OF_ONE_THREAD else map)(_encoded, pieces)
        for part, entry, data, bloom in blocks:
            self._add_block(part, entry, data, bloom)

    def _add_block(
        self, part: _Part, entry: BlockEntry, data: Sequence[pa.Buffer], bloom: bytes
    ) -> None:
        if bloom or entry.filter_length:
            found = crc32c(bloom) if bloom else 0
            entry = replace(entry, filter_length=len(bloom), filter_crc32c=found)
        part.entries.append(entry)
        part.length += entry.length
        part.filter_length += entry.filter_length
        if not data:
            return
        part.waiting += data
        if bloom:
            part.filters.append(bloom)
        self.byte_count += entry.length + len(bloom)
        if not self._large and self.byte_count > self._packed_limit:
            self._large = True
            for each in self._parts:
                self._move(each)
        elif self._large:
            self._move(part)

    def _move(self, part: _Part) -> None:
        """Move blocks and filters out of the memory."""
        if self._in_files:
            self._flush(part)
        elif part.waiting:
            self._spill = self._spill or Spill()
            part.spilled += [self._spill.add(memoryview(data)) for data in part.waiting]
            part.spilled_filters += [self._spill.add(bloom) for bloom in part.filters]
            part.waiting.clear()
            part.filters.clear()

    def _blocks(self, part: _Part) -> Iterator[Data]:
        yield from self._spill.read(part.spilled) if self._spill else ()
        yield from (memoryview(data) for data in part.waiting)

    def _blooms(self, part: _Part) -> Iterator[Data]:
        yield from self._spill.read(part.spilled_filters) if self._spill else ()
        yield from part.filters

    def _flush(self, part: _Part) -> None:
        """Write blocks and filters to the files of the column."""
        if not part.waiting and not part.spilled:
            return
        if part.file is None:
            name = object_names.column_segment_name(self._prefix, self._object, part.column.id)
            part.file = self._create(name)
        for data in self._blocks(part):
            part.file.write(data)
        for bloom in self._blooms(part):
            self._index_file(part).write(bloom)
        for done in (part.waiting, part.spilled, part.filters, part.spilled_filters):
            done.clear()

    def _index_file(self, part: _Part) -> ObjectWriter:
        if part.index_file is None:
            name = object_names.index_name(self._prefix, self._object, part.column.id)
            part.index_file = self._create(name)
        return part.index_file

    def _create(self, name: str) -> ObjectWriter:
        writer = self._store.create(name, sync=self._options.sync)
        self._names.append(name)
        return writer

    def finish(self) -> RowSetEntry:
        """Write the rest, and return the entry. Requires at least one cut. Raises StoreError."""
        in_directory = self._large and not self._one_object
        entry = self._finish_directory() if in_directory else self._finish_string()
        # A task may write very many RowSets, and only their names are needed to remove them.
        self._parts.clear()
        self._close_spill()
        return entry

    def _close_spill(self) -> None:
        if self._spill is not None:
            self._spill.close()

    def _finish_directory(self) -> RowSetEntry:
        segments: dict[int, ColumnSegment] = {}
        step = max(1, self._options.open_files // 2)
        for start in range(0, len(self._parts), step):
            group = self._parts[start : start + step]
            for part in group:
                self._flush(part)
                index = _index(part)
                if index is not None:
                    self._index_file(part).write(index)
                    self.byte_count += len(index)
                segments[part.column.id] = _segment(part, 0, 0, index, part.filter_length)
            files = [file for part in group for file in (part.file, part.index_file)]
            self._store.close_all([file for file in files if file is not None])
        footer = self._footer(segments)
        self._put(object_names.footer_name(self._prefix, self._object), [footer])
        return self._entry("directory", footer, segments, self.byte_count + len(footer))

    def _finish_string(self) -> RowSetEntry:
        indexes = [_index(part) for part in self._parts]
        segments: dict[int, ColumnSegment] = {}
        offset, index_offset = 0, self.byte_count
        filter_offset = sum(part.length for part in self._parts)
        for part, index in zip(self._parts, indexes, strict=True):
            segments[part.column.id] = _segment(part, offset, filter_offset, index, index_offset)
            offset += part.length
            filter_offset += part.filter_length
            index_offset += len(index or b"")
        footer = self._footer(segments)
        blocks = chain.from_iterable(map(self._blocks, self._parts))
        blooms = chain.from_iterable(map(self._blooms, self._parts))
        pieces = chain(blocks, blooms, filter(None, indexes), [footer])
        size = index_offset + len(footer)
        if size <= self._options.inline_bytes:
            return self._entry("inline", footer, segments, size, b"".join(pieces))
        self._put(object_names.packed_name(self._prefix, self._object), pieces)
        return self._entry("packed", footer, segments, size)

    def _put(self, name: str, pieces: Iterable[Data]) -> None:
        with self._create(name) as writer:
            for data in pieces:
                writer.write(data)

    def _footer(self, segments: dict[int, ColumnSegment]) -> bytes:
        return encode_model(Footer(rows=self.rows, cuts=self._log_cuts(), columns=segments))

    def _log_cuts(self) -> int | tuple[int, ...]:
        if self._stated_cuts is not None:
            return self._stated_cuts
        first = self._cuts[0]
        regular = [*range(first, self.rows, first), self.rows]
        if self._cuts == regular:
            return max(self._options.block_rows, first) if len(regular) == 1 else first
        return tuple(self._cuts)

    def _entry(
        self,
        place: Literal["directory", "packed", "inline"],
        footer: bytes,
        segments: dict[int, ColumnSegment],
        size: int,
        data: bytes | None = None,
    ) -> RowSetEntry:
        return RowSetEntry(
            object=self._object,
            place=place,
            rows=self.rows,
            bytes=size,
            cuts=self._log_cuts(),
            footer=byte_check(footer),
            statistics={
                column: _for_log(segment.statistics)
                for column, segment in segments.items()
                if column in self._options.indexed_columns
            },
            written_ms=written_ms(segments),
            data=None if data is None else base64.b64encode(data).decode("ascii"),
            unsynced=not self._options.sync and data is None,
        )

    def abort(self) -> None:
        """Remove what was written. Vacuum removes what cannot be removed here."""
        for part in self._parts:
            for file in (part.file, part.index_file):
                if file is not None:
                    file.abort()
            part.waiting.clear()
            part.filters.clear()
        self._close_spill()
        for name in self._names:
            with suppress(ColonnadeError):
                self._store.delete(name)
        self._names.clear()
        with suppress(ColonnadeError):
            # The id is random, so no other RowSet uses the folder.
            self._store.remove_folder(object_names.rowset_folder(self._prefix, self._object))


def drained(arrays: list[pa.Array]) -> pa.Array:
    """Return the arrays as one. Empties the list, so that its arrays can be released."""
    whole = arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)
    arrays.clear()
    return whole


def _encoded(piece: tuple[_Part, pa.Array]) -> _Encoded:
    part, array = piece
    entry, data = encode_block(array, part.column)
    bloom = encode_filter(array, part.column) if part.has_filters and data else b""
    return part, entry, data, bloom


def _index(part: _Part) -> bytes | None:
    return encode_index(part.entries, part.column.order) if len(part.entries) > 1 else None


def _segment(
    part: _Part, offset: int, filter_offset: int, index: bytes | None, index_offset: int
) -> ColumnSegment:
    entries = part.entries
    statistics = merge([entry.statistics for entry in entries], [entry.rows for entry in entries])
    return ColumnSegment(
        type=part.column.type_name,
        offset=offset,
        length=part.length,
        decoded=sum(entry.decoded for entry in entries),
        index=None
        if index is None
        else Extent(offset=index_offset, length=len(index), crc32c=crc32c(index)),
        block=block_of(entries[0]) if index is None else None,
        filters=None
        if not part.filter_length
        else Filters(
            offset=filter_offset,
            length=part.filter_length,
            crc32c=entries[0].filter_crc32c if index is None else None,
        ),
        statistics=to_log(statistics, part.column.bound_prefix),
    )


def _for_log(statistics: ColumnStatistics) -> ColumnStatistics:
    bounds = (statistics.min, statistics.max)
    if all(bound is None or len(bound) <= LOG_BOUND_LENGTH for bound in bounds):
        return statistics
    prefix, _ = read_bound(statistics.min or "")
    return to_log(shorten(from_log(statistics, prefix), LOG_BOUND_LENGTH), prefix)


def _pieces(array: pa.Array, block_bytes: int) -> Iterator[pa.Array]:
    """Divide rows into pieces of at most `block_bytes`; a larger row becomes its own piece."""
    if len(array) == 1 or array_bytes(array) <= block_bytes:
        yield array
        return
    half = len(array) // 2
    yield from _pieces(array.slice(0, half), block_bytes)
    yield from _pieces(array.slice(half), block_bytes)
