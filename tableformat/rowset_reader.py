"""Rows of one RowSet: its footer, the indexes of the columns needed, the blocks needed.

Nothing is parsed before its checksum was compared, and whatever does not agree is a
CorruptionError that names file, column and block.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
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
from tableformat.bloom_filter import encode_filter
from tableformat.column import Column, column_of
from tableformat.filter_pruning import Keep, prune_by_filters
from tableformat.footer import Filters, Segment, entry_of
from tableformat.rowset_source import RowSetSource
from tableformat.sparse_index import SparseIndex, bounds_of, decode_index, index_of
from tableformat.stored_block import ColumnBlocks, Piece, StoredBlock, Stretch
from tableformat.write_options import MIB

_WINDOW_BYTES = 8 * MIB
"""About so many stored bytes are read ahead at once."""

_NO_BYTES = memoryview(b"")
_NO_FILTERS = Filters(offset=0, length=0)

_LONE_BLOCK = np.arange(2)
"""Where the blocks of cuts begin in a RowSet of one cut and a column of one block."""


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

        `ranges` are ascending (first, end) rows whose ends are cuts (None: all). `keep` is asked,
        with the bounds of those of `columns` whose ids are in `keep_columns`, which stretches can
        matter, and of those that do once more with their Bloom filters. A column that the RowSet
        does not have is NULL. Holds one read-ahead of about 8 MiB and one batch.
        Raises CorruptionError before any row of a damaged block is yielded.
        """
        schema = TableSchema(fields=tuple(columns))
        layout = [column_of(column) for column in columns]
        blocks = [self._open(column) for column in layout]
        chosen = self._chosen_cuts(ranges)
        if keep is not None and len(chosen):
            wanted = [column for column in layout if column.id in keep_columns]
            chosen = self._kept_cuts(chosen, keep, wanted, blocks)
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
        bloom_columns: Collection[int] = (),
    ) -> Iterator[Stretch]:
        """Yield every stretch between two cuts, in row order, without decoding it.

        `ranges` as in `read`. Holds one read-ahead of about `window_bytes`, and the Bloom filters
        of `bloom_columns` in it. Blocks are not verified: `decode` and `verify` do. Raises
        CorruptionError for an index.
        """
        blocks = [self._open(column_of(column)) for column in columns]
        chosen = self._chosen_cuts(ranges)
        yield from self._stretches(chosen, blocks, window_bytes, bloom_columns)

    def stored_bytes(self, columns: Collection[int]) -> tuple[int, int]:
        """Bytes of the blocks of these columns (ids), and how many of them the RowSet has.

        Raises CorruptionError, StoreError.
        """
        found = [
            (self._replaced[each].segments if each in self._replaced else self._segments).get(each)
            for each in columns
        ]
        there = [segment.length for segment in found if segment is not None]
        return sum(there), len(there)

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
        """Compare the blocks and filters of a stretch with their checksums. Raises as `decode`."""
        for column, blocks in zip(map(column_of, columns), stretch.blocks, strict=True):
            for block in blocks:
                data = pa.py_buffer(block.data)
                if data.size and crc32c(data) != block.entry.crc32c:
                    self._damaged_block(column, block, "its bytes do not match their checksum")
                bloom = pa.py_buffer(block.bloom)
                if bloom.size and crc32c(bloom) != block.entry.filter_crc32c:
                    problem = "its Bloom filter does not match its checksum"
                    self._damaged_block(column, block, problem)

    def with_filters(
        self, columns: Sequence[SchemaField], stretch: Stretch, bloom_columns: Collection[int]
    ) -> Stretch:
        """The same stretch, in which all blocks of some columns have their Bloom filters.

        Blocks without one are decoded to make it. Requires: it was verified. Raises as `decode`.
        """
        blocks = [
            [self._with_filter(column, block) for block in found]
            if column.id in bloom_columns
            else found
            for column, found in zip(map(column_of, columns), stretch.blocks, strict=True)
        ]
        return replace(stretch, blocks=blocks)

    def _with_filter(self, column: Column, block: StoredBlock) -> StoredBlock:
        if block.bloom or not block.entry.length:
            return block
        bloom = encode_filter(self._decode(column, block), column)
        return replace(block, bloom=memoryview(bloom))

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
        self,
        chosen: NDArray[np.int64],
        blocks: Sequence[ColumnBlocks | None],
        window_bytes: int,
        bloom_columns: Collection[int] = (),
    ) -> Iterator[Stretch]:
        there = [each for each in blocks if each is not None]
        filtered = [each for each in there if each.column.id in bloom_columns]
        for window in _windows(chosen, there, window_bytes):
            data = _fetch(each.piece(cut) for each in there for cut in window)
            blooms = _fetch(each.filter_piece(cut) for each in filtered for cut in window)
            for cut in window:
                first, end = int(self._cuts[cut]), int(self._cuts[cut + 1])
                found = [
                    ()
                    if each is None
                    else each.stored(
                        cut,
                        data.pop((each.column.id, cut)),
                        blooms.pop((each.column.id, cut), _NO_BYTES),
                    )
                    for each in blocks
                ]
                yield Stretch(first, end - first, found)

    def _open(self, column: Column) -> ColumnBlocks | None:
        """Load the index of a column; None when the RowSet does not have it."""
        source, segment = self._place(column)
        if segment is None:
            return None
        index = self._index(column, source, segment)
        filters = segment.filters or _NO_FILTERS
        ends = (index.first_rows[-1], index.offsets[-1], index.filter_offsets[-1])
        if ends != (self.entry.rows, segment.length, filters.length):
            self._damaged(column, "its index describes other rows or bytes than the footer")
        at_cut: NDArray[np.int64] = _LONE_BLOCK
        if not len(index.entries) == len(self._cuts) - 1 == 1:
            at_cut = np.searchsorted(index.first_rows, self._cuts)
            if not np.array_equal(index.first_rows[at_cut], self._cuts):
                self._damaged(column, "a block lies across a cut")
        return ColumnBlocks(column, source, segment.offset, filters.offset, index, at_cut)

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
            return decode_index(data, column.order, segment.filters is not None)
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

    def _kept_cuts(
        self,
        chosen: NDArray[np.int64],
        keep: Keep,
        wanted: Sequence[Column],
        blocks: Sequence[ColumnBlocks | None],
    ) -> NDArray[np.int64]:
        """Those of some stretches that bounds and Bloom filters do not rule out."""
        known = {each.column.id: each for each in blocks if each is not None}
        bounds = self._bounds(chosen, wanted, known)
        kept = np.flatnonzero(keep(bounds))
        chosen, bounds = chosen[kept], bounds.take(kept)
        columns = [known[column.id] for column in wanted if column.id in known]
        return chosen[prune_by_filters(columns, chosen, bounds, keep, self._damaged)]

    def _bounds(
        self, chosen: NDArray[np.int64], wanted: Sequence[Column], known: dict[int, ColumnBlocks]
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
    def _cut_statistics(blocks: ColumnBlocks | None, cut: int, rows: int) -> Statistics:
        """What is known of a column between two cuts, whose blocks may be several."""
        if blocks is None:
            return Statistics(nulls=rows)
        parts = blocks.index.entries[blocks.at_cut[cut] : blocks.at_cut[cut + 1]]
        if len(parts) == 1:
            return parts[0].statistics
        return merge([part.statistics for part in parts], [part.rows for part in parts])


def _fetch(pieces: Iterable[Piece]) -> dict[tuple[int, int], memoryview]:
    """Stored bytes by column id and stretch; neighbours in an object are read as one."""
    wanted: dict[tuple[RowSetSource, str], list[Piece]] = {}
    found: dict[tuple[int, int], memoryview] = {}
    for piece in pieces:
        if piece.extent[1]:
            wanted.setdefault((piece.source, piece.name), []).append(piece)
        else:
            found[piece.place] = memoryview(b"")
    for (source, name), parts in wanted.items():
        data = source.read(name, [piece.extent for piece in parts])
        found.update(zip((piece.place for piece in parts), data, strict=True))
    return found


def _windows(
    chosen: NDArray[np.int64], blocks: Sequence[ColumnBlocks], limit: int
) -> Iterator[list[int]]:
    """Divide stretches into groups that are read at once."""
    window: list[int] = []
    size = 0
    for cut in chosen.tolist():
        more = sum(each.piece(cut).extent[1] for each in blocks)
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
