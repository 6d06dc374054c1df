"""Locate the column segments of one RowSet, and read the sparse index of each.

A column is stored in the RowSet itself, or in a replacement of that column. Nothing is parsed
before its checksum was verified. Every disagreement is a CorruptionError that names file, column
and block.

Spec: docs/spec/rowset.md#footer, #sparse-index
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property, partial
from typing import NoReturn

import numpy as np
from google_crc32c import value as crc32c
from numpy.typing import NDArray

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.state.replaced_columns import stored_as
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.adapt import absent_statistics
from colonnade.tableformat.rowset.block import BlockEntry
from colonnade.tableformat.rowset.block_statistics import Statistics, from_log
from colonnade.tableformat.rowset.column import StoredColumn
from colonnade.tableformat.rowset.footer import ColumnSegment, Extent, Filters, entry_of
from colonnade.tableformat.rowset.source import RowSetSource
from colonnade.tableformat.rowset.sparse_index import SparseIndex, decode_index, index_of_one
from colonnade.tableformat.rowset.stored_block import ColumnBlocks

_NO_FILTERS = Filters(offset=0, length=0)

_LONE_BLOCK = np.arange(2)
"""The block boundaries of a column with one block, in a RowSet with one stretch."""


class _Replaced:
    """A replacement of columns. Its footer is read when one of its columns is read."""

    def __init__(self, store: ObjectStore, prefix: str, entry: RowSetEntry) -> None:
        self.source = RowSetSource(store, prefix, entry)

    @cached_property
    def segments(self) -> dict[int, ColumnSegment]:
        """The column segments by column id. Raises CorruptionError, StoreError."""
        return self.source.footer().columns


class ColumnSegments:
    """The current column segments of a RowSet. Creating one reads and verifies its footer.

    The footer of a replacement is read when one of its columns is opened. `cuts` are the first rows
    of the stretches, and the row count. Raises CorruptionError when a footer does not match the
    log, and StoreError.
    """

    def __init__(self, store: ObjectStore, prefix: str, rowset: LiveRowSet) -> None:
        self._store = store
        self._entry = entry = rowset.entry
        self._source = RowSetSource(store, prefix, entry)
        self._segments = self._source.footer().columns
        self._replaced = {
            column: each
            for replacement in rowset.amendments.replacements
            for each in [_Replaced(store, prefix, stored_as(entry, replacement))]
            for column in replacement.columns
        }
        self.cuts = _cuts_of(entry)

    def open(self, columns: Sequence[StoredColumn]) -> list[ColumnBlocks | None]:
        """Load the indexes of columns. None stands for a column that the RowSet does not have.

        Near indexes are read with one request, and others side by side. Raises CorruptionError,
        StoreError.
        """
        replaced = {id(each): each for column in columns if (each := self._replaced.get(column.id))}
        self._store.together([partial(getattr, each, "segments") for each in replaced.values()])
        places = [self._place(column) for column in columns]
        indexes = self._read_indexes(columns, places)
        return [
            None if segment is None else self._open(column, source, segment, indexes.get(column.id))
            for column, (source, segment) in zip(columns, places, strict=True)
        ]

    def _open(
        self,
        column: StoredColumn,
        source: RowSetSource,
        segment: ColumnSegment,
        index_bytes: memoryview | None,
    ) -> ColumnBlocks:
        index = self._index(column, source, segment, index_bytes)
        filters = segment.filters or _NO_FILTERS
        ends = (index.first_rows[-1], index.offsets[-1], index.filter_offsets[-1])
        if ends != (self._entry.rows, segment.length, filters.length):
            self.damaged(column, "its index describes other rows or bytes than the footer")
        at_cut: NDArray[np.int64] = _LONE_BLOCK
        if not len(index.entries) == len(self.cuts) - 1 == 1:
            at_cut = np.searchsorted(index.first_rows, self.cuts)
            if not np.array_equal(index.first_rows[at_cut], self.cuts):
                self.damaged(column, "a block lies across a cut")
        return ColumnBlocks(column, source, segment.offset, filters.offset, index, at_cut)

    def _read_indexes(
        self,
        columns: Sequence[StoredColumn],
        places: Sequence[tuple[RowSetSource, ColumnSegment | None]],
    ) -> dict[int, memoryview]:
        """Return the stored indexes by column id, as far as columns have one."""
        wanted: dict[tuple[RowSetSource, str], list[tuple[int, Extent]]] = {}
        for column, (source, segment) in zip(columns, places, strict=True):
            if segment is not None and segment.index is not None:
                objects = wanted.setdefault((source, source.index_name(column.id)), [])
                objects.append((column.id, segment.index))
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
        _, segment = self._place(column)
        if segment is None:
            return absent_statistics(column, self._entry.rows)
        try:
            return from_log(segment.statistics, column.bound_kinds)
        except CorruptionError as error:
            self.damaged(column, f"in the footer, {error.message.rstrip('.')}", error)

    def stored_bytes(self, columns: Collection[int]) -> tuple[int, int]:
        """Return the block bytes of these columns (ids), and how many of them the RowSet has.

        Raises CorruptionError, StoreError.
        """
        found = [
            (self._replaced[each].segments if each in self._replaced else self._segments).get(each)
            for each in columns
        ]
        there = [segment.length for segment in found if segment is not None]
        return sum(there), len(there)

    def damaged_block(
        self, column: StoredColumn, number: int, problem: str, cause: Exception | None = None
    ) -> NoReturn:
        """Raise CorruptionError for a block of a column that the RowSet has."""
        source, segment = self._place(column)
        assert segment is not None
        index = self._read_indexes([column], [(source, segment)]).get(column.id)
        first, end = self._index(column, source, segment, index).first_rows[number : number + 2]
        self.damaged(column, f"block {number} (rows {first} to {end - 1}): {problem}", cause)

    def damaged(
        self, column: StoredColumn, problem: str, cause: Exception | None = None
    ) -> NoReturn:
        """Raise CorruptionError for a column. The next read of it asks the store, not a cache."""
        replaced = self._replaced.get(column.id)
        source = self._source if replaced is None else replaced.source
        source.forget(source.index_name(column.id))
        source.forget(source.column_segment_name(column.id))
        location = source.locate(source.column_segment_name(column.id))
        raise CorruptionError(
            f"Column {column.name!r} (id {column.id}) in {location} is damaged: {problem}."
        ) from cause

    def _place(self, column: StoredColumn) -> tuple[RowSetSource, ColumnSegment | None]:
        """Return where a column is stored, and its column segment if the RowSet has it."""
        replaced = self._replaced.get(column.id)
        if replaced is None:
            return self._source, self._segments.get(column.id)
        if column.id not in replaced.segments:
            self.damaged(column, "the RowSet that replaces it does not have it")
        return replaced.source, replaced.segments[column.id]

    def _index(
        self,
        column: StoredColumn,
        source: RowSetSource,
        segment: ColumnSegment,
        stored: memoryview | None,
    ) -> SparseIndex:
        extent = segment.index
        if (extent is None) == (segment.block is None):
            self.damaged(column, "the footer must name either an index or a block")
        if extent is None or stored is None:
            return index_of_one(self._lone_block(column, segment))
        name = source.index_name(column.id)
        data = bytes(stored)
        if crc32c(data) != extent.crc32c:
            self.damaged(column, f"the index in {source.locate(name)} is damaged")
        try:
            return decode_index(data, column.order, segment.filters is not None)
        except ValueError as error:
            self.damaged(column, f"the index in {source.locate(name)}: {error}", error)

    def _lone_block(self, column: StoredColumn, segment: ColumnSegment) -> BlockEntry:
        assert segment.block is not None
        try:
            return entry_of(segment.block, segment, self._entry.rows, column.bound_kinds)
        except CorruptionError as error:
            self.damaged(column, f"in the footer, {error.message.rstrip('.')}", error)


def _cuts_of(entry: RowSetEntry) -> NDArray[np.int64]:
    rows, cuts = entry.rows, entry.cuts
    if isinstance(cuts, int) and cuts >= rows:
        return np.array((0, rows), np.int64)
    inner = np.arange(cuts, rows, cuts) if isinstance(cuts, int) else np.array(cuts[:-1])
    found = np.array([0, *inner, rows], np.int64)
    if (np.diff(found) < 1).any() or (not isinstance(cuts, int) and cuts[-1] != rows):
        raise CorruptionError(
            f"RowSet {entry.object} has cuts that do not ascend to its row count."
        )
    return found
