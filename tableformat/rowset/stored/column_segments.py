"""Locate the column segments of one RowSet, and read the sparse index of each.

A column is stored in the RowSet itself, or in a replacement of that column. Nothing is parsed
before its checksum was verified. Every disagreement is a CorruptionError that names file, column
and block.

Spec: docs/spec/rowset.md#footer, #sparse-index
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, NoReturn

import numpy as np
from google_crc32c import value as crc32c
from numpy.typing import NDArray

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.once import once
from colonnade.manifests.state.replaced_columns import stored_as as replacement_as_entry
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.adapt import absent_statistics, adapt_statistics
from colonnade.tableformat.rowset.block_statistics import Statistics, from_log
from colonnade.tableformat.rowset.column import StoredColumn, stored_as
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.footer import ColumnSegment, Extent, Filters, entry_of
from colonnade.tableformat.rowset.sparse_index import (
    BLOCK_LIMIT,
    SparseIndex,
    decode_index,
    index_of_one,
)
from colonnade.tableformat.rowset.stored.source import RowSetSource
from colonnade.tableformat.rowset.stored_block import ColumnBlocks

_NO_FILTERS = Filters(offset=0, length=0)

_LONE_BLOCK = np.arange(2)
"""The block boundaries of a column with one block, in a RowSet with one stretch."""


class _Replaced:
    """A replacement of columns. Its footer is read when one of its columns is read."""

    def __init__(self, store: ObjectStore, prefix: str, entry: RowSetEntry) -> None:
        self.source = RowSetSource(store, prefix, entry)

    @once
    def segments(self) -> dict[int, ColumnSegment]:
        """The column segments by column id. Raises CorruptionError, StoreError."""
        return self.source.footer().columns


class _ColumnPlace(NamedTuple):
    """The place of a stored column. `column` is the column as the RowSet has it."""

    column: StoredColumn
    source: RowSetSource
    segment: ColumnSegment


class ColumnSegments:
    """The current column segments of a RowSet. Creating one reads and verifies its footer.

    `whole` is as in `RowSetReader`. The footer of a replacement is read when one of its columns is
    opened. `cuts` are the first rows of the stretches, and the row count. Raises CorruptionError
    when a footer does not match the log, and StoreError.
    """

    def __init__(
        self, store: ObjectStore, prefix: str, rowset: LiveRowSet, *, whole: bool = False
    ) -> None:
        self._store = store
        self._entry = entry = rowset.entry
        self._source = RowSetSource(store, prefix, entry)
        self._segments = self._source.footer(whole=whole).columns
        self._replaced = {
            column: each
            for replacement in rowset.replacements
            for each in [_Replaced(store, prefix, replacement_as_entry(entry, replacement))]
            for column in replacement.columns
        }
        self._opened: dict[StoredColumn, ColumnBlocks | None] = {}
        self.cuts = _cuts_of(entry)

    def open(self, columns: Sequence[StoredColumn]) -> list[ColumnBlocks | None]:
        """Load the indexes of columns. Returns None for a column that the RowSet does not have.

        A column that was opened before costs nothing. Indexes that are close together are read by
        one request. The requests are made side by side. Raises CorruptionError, StoreError.
        """
        new = [column for column in columns if column not in self._opened]
        if new:
            self._opened.update(zip(new, self._load(new), strict=True))
        return [self._opened[column] for column in columns]

    def _load(self, columns: Sequence[StoredColumn]) -> list[ColumnBlocks | None]:
        replaced = {id(each): each for c in columns if (each := self._replaced.get(c.id))}
        self._store.together([partial(getattr, each, "segments") for each in replaced.values()])
        places = [self._place(column) for column in columns]
        indexes = self._read_indexes(columns, places)
        return [
            None if place is None else self._open(column, place, indexes.get(column.id))
            for column, place in zip(columns, places, strict=True)
        ]

    def _open(
        self, column: StoredColumn, place: _ColumnPlace, index_bytes: memoryview | None
    ) -> ColumnBlocks:
        stored, source, segment = place
        index = self._index(column, place, index_bytes)
        filters = segment.filters or _NO_FILTERS
        ends = (index.first_rows[-1], index.offsets[-1], index.filter_offsets[-1])
        if ends != (self._entry.rows, segment.length, filters.length):
            self.damaged(column, "its index describes other rows or bytes than the footer")
        at_cut: NDArray[np.int64] = _LONE_BLOCK
        if not len(index.entries) == len(self.cuts) - 1 == 1:
            at_cut = np.searchsorted(index.first_rows, self.cuts)
            if not np.array_equal(index.first_rows[at_cut], self.cuts):
                self.damaged(column, "a block lies across a cut")
        return ColumnBlocks(column, stored, source, segment.offset, filters.offset, index, at_cut)

    def _read_indexes(
        self,
        columns: Sequence[StoredColumn],
        places: Sequence[_ColumnPlace | None],
    ) -> dict[int, memoryview]:
        """Return the stored indexes by column id of the table, without columns that have none."""
        wanted: dict[tuple[RowSetSource, str], list[tuple[int, Extent]]] = {}
        for column, place in zip(columns, places, strict=True):
            if place is not None and place.segment.index is not None:
                name = place.source.index_name(place.column.id)
                objects = wanted.setdefault((place.source, name), [])
                objects.append((column.id, place.segment.index))
        calls = [
            partial(source.read, name, [(each.offset, each.length) for _, each in indexes])
            for (source, name), indexes in wanted.items()
        ]
        return {
            column: data
            for indexes, found in zip(wanted.values(), self._store.together(calls), strict=True)
            for (column, _), data in zip(indexes, found, strict=True)
        }

    def statistics(self, column: StoredColumn) -> Statistics:
        """Return the footer's statistics of a column, or those of a column that the RowSet lacks.

        Raises CorruptionError, StoreError.
        """
        place = self._place(column)
        if place is None:
            return absent_statistics(column, self._entry.rows)
        try:
            found = from_log(place.segment.statistics, place.column.bound_prefix)
        except CorruptionError as error:
            self.damaged(column, f"in the footer, {error.message.rstrip('.')}", error)
        return adapt_statistics(found, place.column, column)

    def stored_bytes(self, columns: Sequence[StoredColumn]) -> tuple[int, int]:
        """Return the block bytes of these columns, and how many of them the RowSet has.

        Raises CorruptionError, StoreError.
        """
        places = [self._place(each) for each in columns]
        there = [place.segment.length for place in places if place is not None]
        return sum(there), len(there)

    def damaged_block(
        self, column: StoredColumn, number: int, problem: str, cause: Exception | None = None
    ) -> NoReturn:
        """Raise CorruptionError for a block of a column that the RowSet has."""
        place = self._place(column)
        assert place is not None
        stored = self._read_indexes([column], [place]).get(column.id)
        first, end = self._index(column, place, stored).first_rows[number : number + 2]
        self.damaged(column, f"block {number} (rows {first} to {end - 1}): {problem}", cause)

    def damaged(
        self, column: StoredColumn, problem: str, cause: Exception | None = None
    ) -> NoReturn:
        """Raise CorruptionError for a column. The next read of it asks the store, not a cache."""
        source = self._source_of(column)
        source.forget(source.index_name(column.id))
        source.forget(source.column_segment_name(column.id))
        location = source.locate(source.column_segment_name(column.id))
        raise CorruptionError(
            f"Column {column.name!r} (id {column.id}) in {location} is damaged: {problem}."
        ) from cause

    def _source_of(self, column: StoredColumn) -> RowSetSource:
        """Return where a column is stored, if the RowSet has it."""
        replaced = self._replaced.get(column.id)
        return self._source if replaced is None else replaced.source

    def _place(self, column: StoredColumn) -> _ColumnPlace | None:
        """Return where a column is stored, or None if the RowSet does not have it."""
        replaced = self._replaced.get(column.id)
        segments = self._segments if replaced is None else replaced.segments
        segment = segments.get(column.id)
        if segment is None:
            if replaced is not None:
                self.damaged(column, "the RowSet that replaces it does not have it")
            return None
        stored = stored_as(column, segment.type)
        if stored is None:
            self.damaged(
                column, f"the footer states the type {segment.type!r:.100}, which is not its type"
            )
        return _ColumnPlace(stored, self._source_of(column), segment)

    def _index(
        self, column: StoredColumn, place: _ColumnPlace, stored: memoryview | None
    ) -> SparseIndex:
        segment, source = place.segment, place.source
        extent = segment.index
        if (extent is None) == (segment.block is None):
            self.damaged(column, "the footer must name either an index or a block")
        if extent is None or stored is None:
            return index_of_one(self._lone_block(column, place))
        name = source.index_name(place.column.id)
        data = bytes(stored)
        if crc32c(data) != extent.crc32c:
            self.damaged(column, f"the index in {source.locate(name)} is damaged")
        where = f"the index in {source.locate(name)}"
        try:
            return decode_index(
                data,
                place.column.order,
                segment.filters is not None,
                f"Column {column.name!r} (id {column.id}), {where},",
            )
        except ValueError as error:
            self.damaged(column, f"{where}: {error}", error)

    def _lone_block(self, column: StoredColumn, place: _ColumnPlace) -> BlockEntry:
        segment, prefix = place.segment, place.column.bound_prefix
        assert segment.block is not None
        try:
            return entry_of(segment.block, segment, self._entry.rows, prefix)
        except CorruptionError as error:
            self.damaged(column, f"in the footer, {error.message.rstrip('.')}", error)


def _cuts_of(entry: RowSetEntry) -> NDArray[np.int64]:
    rows, cuts = entry.rows, entry.cuts
    stretches = -(-rows // cuts) if isinstance(cuts, int) else len(cuts)
    if stretches > BLOCK_LIMIT:
        raise CorruptionError(
            f"RowSet {entry.object} has {stretches} stretches; at most {BLOCK_LIMIT} are allowed."
        )
    if isinstance(cuts, int) and cuts >= rows:
        return np.array((0, rows), np.int64)
    inner = np.arange(cuts, rows, cuts) if isinstance(cuts, int) else np.array(cuts[:-1])
    found = np.array([0, *inner, rows], np.int64)
    if (np.diff(found) < 1).any() or (not isinstance(cuts, int) and cuts[-1] != rows):
        raise CorruptionError(
            f"RowSet {entry.object} has cuts that do not ascend to its row count."
        )
    return found
