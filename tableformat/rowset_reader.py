"""Rows of one RowSet: its footer, the indexes of the columns needed, the blocks needed.

Nothing is parsed before its checksum was compared, and whatever does not agree is a
CorruptionError that names file, column and block.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NoReturn

import numpy as np
import pyarrow as pa
from google_crc32c import value as crc32c
from numpy.typing import NDArray

from manifests.bounds import BoundsTable
from manifests.entries import RowSetEntry
from manifests.errors import CorruptionError, InvalidInputError
from manifests.replacement import stored_as
from manifests.schema import SchemaField, TableSchema
from manifests.store import ObjectStore
from tableformat.arrow_types import from_storage
from tableformat.block import BlockEntry, decode_block
from tableformat.block_statistics import Statistics, merge
from tableformat.column import Column, column_of
from tableformat.footer import Segment, entry_of
from tableformat.rowset_source import RowSetSource
from tableformat.sparse_index import SparseIndex, bounds_of, decode_index, index_of
from tableformat.write_options import MIB

Keep = Callable[[BoundsTable], NDArray[np.bool_]]

_WINDOW_BYTES = 8 * MIB
"""About so many stored bytes are read ahead at once."""

_LONE_BLOCK = np.arange(2)
"""Where the blocks of cuts begin in a RowSet of one cut and a column of one block."""


@dataclass(frozen=True, slots=True)
class _Blocks:
    """The blocks of a column; those of cut i are `at_cut[i]` up to `at_cut[i + 1]`."""

    column: Column
    source: RowSetSource
    name: str
    offset: int
    index: SparseIndex
    at_cut: NDArray[np.int64]

    def extent(self, cut: int) -> tuple[int, int]:
        """Offset in the object and length of the blocks between two cuts."""
        start, end = self.index.offsets[self.at_cut[cut : cut + 2]]
        return self.offset + int(start), int(end - start)

    def stored(self, cut: int, data: memoryview) -> tuple[StoredBlock, ...]:
        """The blocks between two cuts, from their bytes."""
        found, position = [], 0
        for number in range(self.at_cut[cut], self.at_cut[cut + 1]):
            entry = self.index.entries[number]
            found.append(StoredBlock(number, entry, data[position : position + entry.length]))
            position += entry.length
        return tuple(found)


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """A block as it is stored: its place in the index, its entry, and bytes if it has any."""

    number: int
    entry: BlockEntry
    data: memoryview


@dataclass(frozen=True, slots=True)
class Stretch:
    """The rows between two cuts, for each column the blocks as they are stored.

    A column that the RowSet does not have has none.
    """

    first_row: int
    rows: int
    blocks: Sequence[Sequence[StoredBlock]]


class _Replaced:
    """Where replaced columns are: a RowSet of their own, opened when one of them is read."""

    def __init__(self, store: ObjectStore, prefix: str, entry: RowSetEntry) -> None:
        self.source = RowSetSource(store, prefix, entry)

    @cached_property
    def segments(self) -> dict[int, Segment]:
        """The segments by column id. Raises CorruptionError, StoreError."""
        return self.source.footer().columns


@dataclass(slots=True)
class RowSetReader:
    """Reads one RowSet. Making one reads and verifies its footer; those of replaced columns follow.

    Raises CorruptionError when the footer is not the one that the log means, StoreError.
    """

    store: ObjectStore
    prefix: str
    entry: RowSetEntry
    _source: RowSetSource = field(init=False)
    _segments: dict[int, Segment] = field(init=False)
    _replaced: dict[int, _Replaced] = field(init=False)
    _cuts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self._source = RowSetSource(self.store, self.prefix, self.entry)
        self._segments = self._source.footer().columns
        self._replaced = {
            column: each
            for replacement in self.entry.replacements or ()
            for each in [_Replaced(self.store, self.prefix, stored_as(self.entry, replacement))]
            for column in replacement.columns
        }
        rows, cuts = self.entry.rows, self.entry.cuts
        inner = np.arange(cuts, rows, cuts) if isinstance(cuts, int) else np.array(cuts[:-1])
        self._cuts = np.array([0, *inner, rows], np.int64)
        if (np.diff(self._cuts) < 1).any() or (not isinstance(cuts, int) and cuts[-1] != rows):
            raise CorruptionError(f"RowSet {self.entry.object} has cuts that are no cuts.")

    def read(
        self,
        columns: Sequence[SchemaField],
        ranges: Sequence[tuple[int, int]] | None = None,
        keep: Keep | None = None,
        keep_columns: Collection[int] = (),
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield (first row, batch) for every stretch between two cuts, in row order.

        `ranges` are ascending (first, end) rows whose ends are cuts (None: all). `keep` is asked
        once, with the bounds of those of `columns` whose ids are in `keep_columns`, which
        stretches can matter. A column that the RowSet does not have is NULL. Holds one read-ahead
        of about 8 MiB and one batch.
        Raises CorruptionError before any row of a damaged block is yielded.
        """
        schema = TableSchema(fields=tuple(columns))
        layout = [column_of(column) for column in columns]
        blocks = [self._open(column) for column in layout]
        chosen = self._chosen_cuts(ranges)
        if keep is not None and len(chosen):
            known = {each.column.id: each for each in blocks if each is not None}
            wanted = [column for column in layout if column.id in keep_columns]
            chosen = chosen[keep(self._bounds(chosen, wanted, known))]
        for stretch in self._stretches(chosen, blocks, _WINDOW_BYTES):
            if not columns:
                yield stretch.first_row, _rows_alone(stretch.rows)
                continue
            yield stretch.first_row, from_storage(self.decode(columns, stretch), schema)

    def read_stored(
        self,
        columns: Sequence[SchemaField],
        ranges: Sequence[tuple[int, int]] | None = None,
        window_bytes: int = _WINDOW_BYTES,
    ) -> Iterator[Stretch]:
        """Yield every stretch between two cuts, in row order, without decoding it.

        `ranges` as in `read`. Holds one read-ahead of about `window_bytes`. Blocks are not
        verified: `decode_stretch` and `verify_stretch` do. Raises CorruptionError for an index.
        """
        blocks = [self._open(column_of(column)) for column in columns]
        yield from self._stretches(self._chosen_cuts(ranges), blocks, window_bytes)

    def decode(self, columns: Sequence[SchemaField], stretch: Stretch) -> list[pa.Array]:
        """The rows of a stretch, in the storage types of the columns that it was read with.

        Raises CorruptionError naming file, column and block.
        """
        arrays = []
        for column, blocks in zip(map(column_of, columns), stretch.blocks, strict=True):
            parts = [self._decode(column, block) for block in blocks]
            if not parts:
                parts = [pa.nulls(stretch.rows, column.type)]
            arrays.append(parts[0] if len(parts) == 1 else pa.concat_arrays(parts))
        return arrays

    def verify(self, columns: Sequence[SchemaField], stretch: Stretch) -> None:
        """Compare the blocks of a stretch with their checksums. Raises as `decode`."""
        for column, blocks in zip(map(column_of, columns), stretch.blocks, strict=True):
            for block in blocks:
                data = pa.py_buffer(block.data)
                if data.size and crc32c(data) != block.entry.crc32c:
                    self._damaged_block(column, block, "its bytes do not match their checksum")

    def _decode(self, column: Column, block: StoredBlock) -> pa.Array:
        try:
            return decode_block(pa.py_buffer(block.data), block.entry, column)
        except ValueError as error:
            self._damaged_block(column, block, str(error), error)

    def _damaged_block(
        self, column: Column, block: StoredBlock, problem: str, cause: Exception | None = None
    ) -> NoReturn:
        source, segment = self._place(column)
        assert segment is not None
        index = self._index(column, source, segment)
        first, end = index.first_rows[block.number : block.number + 2]
        self._damaged(column, f"block {block.number} (rows {first} to {end - 1}): {problem}", cause)

    def _stretches(
        self, chosen: NDArray[np.int64], blocks: Sequence[_Blocks | None], window_bytes: int
    ) -> Iterator[Stretch]:
        there = [each for each in blocks if each is not None]
        for window in _windows(chosen, there, window_bytes):
            data = self._fetch(window, there)
            for cut in window:
                first, end = int(self._cuts[cut]), int(self._cuts[cut + 1])
                found = [
                    () if each is None else each.stored(cut, data.pop((each.column.id, cut)))
                    for each in blocks
                ]
                yield Stretch(first, end - first, found)

    def _open(self, column: Column) -> _Blocks | None:
        """Load the index of a column; None when the RowSet does not have it."""
        source, segment = self._place(column)
        if segment is None:
            return None
        index = self._index(column, source, segment)
        if index.first_rows[-1] != self.entry.rows or index.offsets[-1] != segment.length:
            self._damaged(column, "its index describes other rows or bytes than the footer")
        name = source.segment_name(column.id)
        if len(index.entries) == len(self._cuts) - 1 == 1:
            return _Blocks(column, source, name, segment.offset, index, _LONE_BLOCK)
        at_cut = np.searchsorted(index.first_rows, self._cuts)
        if not np.array_equal(index.first_rows[at_cut], self._cuts):
            self._damaged(column, "a block lies across a cut")
        return _Blocks(column, source, name, segment.offset, index, at_cut)

    def _place(self, column: Column) -> tuple[RowSetSource, Segment | None]:
        """Where a column is, and its segment if the RowSet has it."""
        replaced = self._replaced.get(column.id)
        if replaced is None:
            return self._source, self._segments.get(column.id)
        if column.id not in replaced.segments:
            self._damaged(column, "what replaces it does not have it")
        return replaced.source, replaced.segments[column.id]

    def _index(self, column: Column, source: RowSetSource, segment: Segment) -> SparseIndex:
        extent = segment.index
        if (extent is None) == (segment.block is None):
            self._damaged(column, "the footer must name either an index or a block")
        if extent is None:
            return index_of([self._lone_block(column, segment)])
        name = source.index_name(column.id)
        data = bytes(source.read(name, [(extent.offset, extent.length)])[0])
        if crc32c(data) != extent.crc32c:
            self._damaged(column, f"the index in {source.locate(name)} is damaged")
        try:
            return decode_index(data, column.order)
        except ValueError as error:
            self._damaged(column, f"the index in {source.locate(name)}: {error}", error)

    def _lone_block(self, column: Column, segment: Segment) -> BlockEntry:
        assert segment.block is not None
        try:
            return entry_of(segment.block, segment, self.entry.rows, column.bound_kinds)
        except CorruptionError as error:
            self._damaged(column, f"in the footer, {error.message.rstrip('.')}", error)

    def _damaged(self, column: Column, problem: str, cause: Exception | None = None) -> NoReturn:
        replaced = self._replaced.get(column.id)
        source = self._source if replaced is None else replaced.source
        location = source.locate(source.segment_name(column.id))
        raise CorruptionError(
            f"Column {column.name!r} (id {column.id}) in {location} is damaged: {problem}."
        ) from cause

    def _chosen_cuts(self, ranges: Sequence[tuple[int, int]] | None) -> NDArray[np.int64]:
        """The stretches that make up the ranges."""
        count = len(self._cuts) - 1
        if ranges is None:
            return np.arange(count)
        rows = np.array(ranges, np.int64).reshape(-1)
        at = np.searchsorted(self._cuts, rows)
        if (at > count).any() or not np.array_equal(self._cuts[at], rows):
            raise InvalidInputError(f"Row ranges {list(ranges)} do not begin and end at cuts.")
        if (np.diff(at) < 0).any():
            raise InvalidInputError(f"Row ranges {list(ranges)} are not ascending.")
        parts = [np.arange(first, end) for first, end in at.reshape(-1, 2)]
        return np.concatenate(parts) if parts else np.arange(0)

    def _bounds(
        self, chosen: NDArray[np.int64], wanted: Sequence[Column], known: dict[int, _Blocks]
    ) -> BoundsTable:
        rows = np.diff(self._cuts)[chosen]
        statistics = {
            column.id: [
                self._cut_statistics(known.get(column.id), int(cut), int(count))
                for cut, count in zip(chosen, rows, strict=True)
            ]
            for column in wanted
        }
        return BoundsTable(rows, {each: bounds_of(found) for each, found in statistics.items()})

    @staticmethod
    def _cut_statistics(blocks: _Blocks | None, cut: int, rows: int) -> Statistics:
        """What is known of a column between two cuts, whose blocks may be several."""
        if blocks is None:
            return Statistics(nulls=rows)
        parts = blocks.index.entries[blocks.at_cut[cut] : blocks.at_cut[cut + 1]]
        if len(parts) == 1:
            return parts[0].statistics
        return merge([part.statistics for part in parts], [part.rows for part in parts])

    def _fetch(
        self, window: Sequence[int], blocks: Sequence[_Blocks]
    ) -> dict[tuple[int, int], memoryview]:
        """The stored bytes by column id and stretch."""
        wanted: dict[tuple[RowSetSource, str], list[tuple[_Blocks, int]]] = {}
        found: dict[tuple[int, int], memoryview] = {}
        for each in blocks:
            for cut in window:
                if each.extent(cut)[1]:
                    wanted.setdefault((each.source, each.name), []).append((each, cut))
                else:
                    found[each.column.id, cut] = memoryview(b"")
        for (source, name), pieces in wanted.items():
            data = source.read(name, [each.extent(cut) for each, cut in pieces])
            for (each, cut), part in zip(pieces, data, strict=True):
                found[each.column.id, cut] = part
        return found


def _windows(
    chosen: NDArray[np.int64], blocks: Sequence[_Blocks], limit: int
) -> Iterator[list[int]]:
    """Divide stretches into groups that are read at once."""
    window: list[int] = []
    size = 0
    for cut in chosen.tolist():
        more = sum(each.extent(cut)[1] for each in blocks)
        if window and size + more > limit:
            yield window
            window, size = [], 0
        window.append(cut)
        size += more
    if window:
        yield window


def _rows_alone(count: int) -> pa.RecordBatch:
    """A batch without columns, which still has a number of rows."""
    return pa.RecordBatch.from_struct_array(pa.nulls(count, pa.struct([])))
