"""Read rows of one RowSet: choose stretches, load their blocks and decode them.

Nothing is parsed before its checksum was verified. Every disagreement is a CorruptionError that
names file, column and block.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
from google_crc32c import value as crc32c
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import BoundsFilter, BoundsTable
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.jobs import computed
from colonnade.tableformat.rowset.adapt import absent_statistics, adapt, adapt_statistics
from colonnade.tableformat.rowset.block import decode_block
from colonnade.tableformat.rowset.block_statistics import Statistics, merge
from colonnade.tableformat.rowset.bloom_filter import encode_filter
from colonnade.tableformat.rowset.column import StoredColumn, column_of
from colonnade.tableformat.rowset.sparse_index import bounds_of
from colonnade.tableformat.rowset.stored.column_segments import ColumnSegments
from colonnade.tableformat.rowset.stored.filter_pruning import prune_by_filters
from colonnade.tableformat.rowset.stored.masks import Masks
from colonnade.tableformat.rowset.stored.source import RowSetSource
from colonnade.tableformat.rowset.stored_block import (
    ColumnBlocks,
    StoredBlock,
    Stretch,
    StretchPiece,
)
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.types.storage_form import from_storage

_WINDOW_BYTES = 8 * MIB
"""The approximate number of stored bytes that are read ahead at once."""

_FAR_WINDOW_BYTES = 32 * MIB
"""The bytes that are read ahead where a request costs more than the bytes of a column."""

_NO_BYTES = memoryview(b"")

_Loaded = tuple[list[int], dict[tuple[int, int], memoryview], dict[tuple[int, int], memoryview]]
"""Some stretches, and the bytes of their blocks and filters by column id and stretch."""


class StoredReader:
    """Reads what one RowSet stores, with the current values of its columns, also of deleted rows.

    A static column is not stored, and is NULL here; `RowSetReader` has its values. Values that the
    view masks are NULL in `read`, and are as stored everywhere else.

    Creating a reader reads and verifies the RowSet's footer. Where a request costs a round, `whole`
    reads and holds the whole RowSet with it. The footers of replacements are read when their
    columns are. Raises CorruptionError when a footer does not match the log, and
    StoreError.
    """

    def __init__(
        self, store: ObjectStore, view: View, rowset: LiveRowSet, *, whole: bool = False
    ) -> None:
        self.store = store
        self._segments = ColumnSegments(store, view.prefix, rowset, whole=whole)
        self._cuts = self._segments.cuts
        self._masks = view.masks_of(rowset)

    def read(
        self,
        columns: Sequence[SchemaField],
        ranges: Sequence[tuple[int, int]] | None = None,
        may_match: BoundsFilter | None = None,
        pruning_columns: Collection[int] = (),
        window_bytes: int | None = None,
        *,
        in_threads: bool = False,
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield (first row, batch) for every stretch between two cuts, in row order.

        `ranges` are ascending (first, end) rows that begin and end at cuts; None means all rows.
        `may_match` chooses the stretches that can matter, from the bounds of the columns in
        `pruning_columns`. It then chooses among these once more, with their Bloom filters. A column
        that the RowSet does not have gets the values that `adapt.py` says. Holds one batch and a
        read-ahead of about `window_bytes`; None means 8 MiB, and 32 MiB behind a network, where it
        holds two read-aheads. Stretches are decoded `in_threads` (`computed`), which hold a batch
        each, or in the caller's own thread.

        Raises CorruptionError before any row of a damaged block is yielded.
        """
        masks = Masks(self._masks, columns)
        read = (*columns, *masks.added)
        schema = TableSchema(fields=read)
        layout = [column_of(column) for column in read]
        blocks = self._segments.open(layout)
        chosen = self._chosen_cuts(ranges)
        if may_match is not None and len(chosen):
            # Bounds of a column that is elsewhere are unknown.
            known = {each.id for each in columns if not each.static}
            wanted = [each for each in layout if each.id in pruning_columns and each.id in known]
            chosen = self._kept_cuts(chosen, masks.with_open_nulls(may_match), wanted, blocks)

        def rows(stretch: Stretch) -> tuple[int, pa.RecordBatch]:
            if not columns:
                return stretch.first_row, _rows_alone(stretch.rows)
            batch = from_storage(self.decode(read, stretch), schema)
            return stretch.first_row, masks.apply(batch)

        window = window_bytes or self._window(_WINDOW_BYTES)
        stretches = self._stretches(chosen, blocks, window)
        yield from (computed if in_threads else map)(rows, stretches)

    def stretches(self, ranges: Sequence[tuple[int, int]] | None = None) -> list[tuple[int, int]]:
        """Return the stretches of `ranges`, which begin and end at cuts: (first row, end row)."""
        chosen = self._chosen_cuts(ranges)
        return list(zip(self._cuts[chosen].tolist(), self._cuts[chosen + 1].tolist(), strict=True))

    def bounds(
        self, columns: Sequence[SchemaField], ranges: Sequence[tuple[int, int]] | None = None
    ) -> tuple[list[tuple[int, int]], BoundsTable]:
        """Return the stretches of `ranges`, and the bounds of columns in each of them.

        Reads indexes and no block. Raises CorruptionError, StoreError.
        """
        layout = [column_of(column) for column in columns if not column.static]
        known = {each.wanted.id: each for each in self._segments.open(layout) if each is not None}
        bounds = self._bounds(self._chosen_cuts(ranges), layout, known)
        return self.stretches(ranges), bounds

    def matching_ranges(
        self,
        columns: Sequence[SchemaField],
        ranges: Sequence[tuple[int, int]],
        may_match: BoundsFilter,
    ) -> tuple[tuple[int, int], ...]:
        """Return the parts of `ranges` that may match by the bounds of `columns`.

        Ends of parts are cuts. Reads indexes and no block. Raises CorruptionError.
        """
        layout = [column_of(column) for column in columns if not column.static]
        opened = self._segments.open(layout)
        chosen = self._chosen_cuts(ranges)
        known = {each.wanted.id: each for each in opened if each is not None}
        may_match = Masks(self._masks, columns).with_open_nulls(may_match)
        kept = chosen[np.flatnonzero(may_match(self._bounds(chosen, layout, known)))]
        runs = np.split(kept, np.flatnonzero(np.diff(kept) > 1) + 1) if len(kept) else []
        return tuple((int(self._cuts[run[0]]), int(self._cuts[run[-1] + 1])) for run in runs)

    def stored_bytes(self, columns: Sequence[SchemaField]) -> int:
        """Return the bytes of all blocks of some columns. Raises CorruptionError, StoreError."""
        layout = [column_of(column) for column in columns if not column.static]
        return self._segments.stored_bytes(layout)[0]

    def read_stored(
        self,
        columns: Sequence[SchemaField],
        ranges: Sequence[tuple[int, int]] | None = None,
        window_bytes: int = _WINDOW_BYTES,
        bloom_columns: Collection[int] = (),
    ) -> Iterator[Stretch]:
        """Yield every stretch between two cuts, in row order, without decoding it.

        `ranges` has the meaning of `read`. Holds one read-ahead of about `window_bytes`, including
        the Bloom filters of `bloom_columns`. Behind a network it holds two of at least 32 MiB.
        Blocks are not verified here, but by `decode` and `verify`. Raises CorruptionError for a
        damaged index.
        """
        blocks = self._segments.open([column_of(column) for column in columns])
        chosen = self._chosen_cuts(ranges)
        yield from self._stretches(chosen, blocks, self._window(window_bytes), bloom_columns)

    def statistics(self, columns: Sequence[SchemaField]) -> dict[int, Statistics]:
        """Return the footer's statistics of columns, by column id. Raises CorruptionError."""
        return {each.id: self._segments.statistics(column_of(each)) for each in columns}

    def decode(self, columns: Sequence[SchemaField], stretch: Stretch) -> list[pa.Array]:
        """Return the rows of a stretch, in the storage types of the columns it was read with.

        Raises CorruptionError that names file, column and block.
        """
        arrays = []
        for column, blocks in zip(map(column_of, columns), stretch.blocks, strict=True):
            parts = [self._decode(column, block) for block in blocks]
            stored = blocks[0].column if blocks else None
            arrays.append(adapt(parts, column, stretch.rows, stored))
        return arrays

    def verify(self, columns: Sequence[SchemaField], stretch: Stretch) -> None:
        """Verify the checksums of the blocks and filters of a stretch. Raises as `decode` does."""
        for column, blocks in zip(map(column_of, columns), stretch.blocks, strict=True):
            for block in blocks:
                problem = _problem(block)
                if problem is not None:
                    self._segments.damaged_block(column, block.number, problem)

    @staticmethod
    def is_current(columns: Sequence[SchemaField], stretch: Stretch) -> bool:
        """Return whether all blocks of a stretch have the types that the columns have now."""
        return all(
            not blocks or blocks[0].column.type_name == column.type_name
            for column, blocks in zip(map(column_of, columns), stretch.blocks, strict=True)
        )

    def with_filters(
        self, columns: Sequence[SchemaField], stretch: Stretch, bloom_columns: Collection[int]
    ) -> Stretch:
        """Return the stretch with Bloom filters for all blocks of some columns.

        A block without a filter is decoded to build it. Requires that the stretch was verified.
        Raises the errors of `decode`.
        """
        blocks = [
            [self._with_filter(column, block) for block in found]
            if column.id in bloom_columns
            else found
            for column, found in zip(map(column_of, columns), stretch.blocks, strict=True)
        ]
        return replace(stretch, blocks=blocks)

    def _with_filter(self, column: StoredColumn, block: StoredBlock) -> StoredBlock:
        if block.bloom or not block.entry.length:
            return block
        bloom = encode_filter(self._decode(column, block), block.column)
        return replace(block, bloom=memoryview(bloom))

    def _decode(self, column: StoredColumn, block: StoredBlock) -> pa.Array:
        try:
            return decode_block(pa.py_buffer(block.data), block.entry, block.column)
        except ValueError as error:
            self._segments.damaged_block(column, block.number, str(error), error)

    def _stretches(
        self,
        chosen: NDArray[np.int64],
        blocks: Sequence[ColumnBlocks | None],
        window_bytes: int,
        bloom_columns: Collection[int] = (),
    ) -> Iterator[Stretch]:
        there = [each for each in blocks if each is not None]
        filtered = [each for each in there if each.wanted.id in bloom_columns]
        windows = _windows(chosen, there, window_bytes)
        loads = [partial(self._load, window, there, filtered) for window in windows]
        for window, data, blooms in self.store.in_turn(loads):
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

    def _window(self, window_bytes: int) -> int:
        """Return a window that is worth its requests."""
        return window_bytes if self.store.parallel == 1 else max(window_bytes, _FAR_WINDOW_BYTES)

    def _load(
        self, window: list[int], there: Sequence[ColumnBlocks], filtered: Sequence[ColumnBlocks]
    ) -> _Loaded:
        data = [each.piece(cut) for each in there for cut in window]
        blooms = [each.filter_piece(cut) for each in filtered for cut in window]
        return window, _fetch(self.store, data), _fetch(self.store, blooms)

    def _chosen_cuts(self, ranges: Sequence[tuple[int, int]] | None) -> NDArray[np.int64]:
        """Return the stretches that make up the ranges."""
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
        may_match: BoundsFilter,
        wanted: Sequence[StoredColumn],
        blocks: Sequence[ColumnBlocks | None],
    ) -> NDArray[np.int64]:
        """Return the stretches that bounds and Bloom filters do not rule out."""
        known = {each.wanted.id: each for each in blocks if each is not None}
        bounds = self._bounds(chosen, wanted, known)
        kept = np.flatnonzero(may_match(bounds))
        chosen, bounds = chosen[kept], bounds.take(kept)
        columns = [known[column.id] for column in wanted if column.id in known]
        return chosen[prune_by_filters(columns, chosen, bounds, may_match, self._segments.damaged)]

    def _bounds(
        self,
        chosen: NDArray[np.int64],
        wanted: Sequence[StoredColumn],
        known: dict[int, ColumnBlocks],
    ) -> BoundsTable:
        rows = np.diff(self._cuts)[chosen]
        statistics = {
            column.id: [
                self._cut_statistics(column, known.get(column.id), int(cut), int(count))
                for cut, count in zip(chosen, rows, strict=True)
            ]
            for column in wanted
        }
        return BoundsTable(
            rows,
            {each.id: bounds_of(statistics[each.id], each.bound_prefix) for each in wanted},
        )

    @staticmethod
    def _cut_statistics(
        column: StoredColumn, blocks: ColumnBlocks | None, cut: int, rows: int
    ) -> Statistics:
        """Return the statistics of a column in one stretch, which may have several blocks."""
        if blocks is None:
            return absent_statistics(column, rows)
        parts = blocks.index.entries[blocks.at_cut[cut] : blocks.at_cut[cut + 1]]
        found = parts[0].statistics
        if len(parts) > 1:
            found = merge([part.statistics for part in parts], [part.rows for part in parts])
        return adapt_statistics(found, blocks.column, column)


def _problem(block: StoredBlock) -> str | None:
    data, bloom = pa.py_buffer(block.data), pa.py_buffer(block.bloom)
    if data.size and crc32c(data) != block.entry.crc32c:
        return "its bytes do not match their checksum"
    if bloom.size and crc32c(bloom) != block.entry.filter_crc32c:
        return "its Bloom filter does not match its checksum"
    return None


def _fetch(store: ObjectStore, pieces: Iterable[StretchPiece]) -> dict[tuple[int, int], memoryview]:
    """Return stored bytes by column id and stretch. Adjacent ranges are read as one."""
    wanted: dict[tuple[RowSetSource, str], list[StretchPiece]] = {}
    found: dict[tuple[int, int], memoryview] = {}
    for piece in pieces:
        if piece.extent[1]:
            wanted.setdefault((piece.source, piece.name), []).append(piece)
        else:
            found[piece.place] = memoryview(b"")
    calls = [
        partial(source.read, name, [piece.extent for piece in parts])
        for (source, name), parts in wanted.items()
    ]
    for parts, data in zip(wanted.values(), store.together(calls), strict=True):
        found.update(zip((piece.place for piece in parts), data, strict=True))
    return found


def _windows(
    chosen: NDArray[np.int64], blocks: Sequence[ColumnBlocks], limit: int
) -> Iterator[list[int]]:
    """Divide stretches into groups that are read at once."""
    if len(chosen) == 1:
        yield chosen.tolist()
        return
    window: list[int] = []
    size = 0
    sizes = np.zeros(len(chosen), np.int64)
    for each in blocks:
        ends = each.index.offsets[each.at_cut]
        sizes += (ends[1:] - ends[:-1])[chosen]
    for cut, more in zip(chosen.tolist(), sizes.tolist(), strict=True):
        if window and size + more > limit:
            yield window
            window, size = [], 0
        window.append(cut)
        size += more
    if window:
        yield window


def _rows_alone(count: int) -> pa.RecordBatch:
    """Return a batch without columns that still has a number of rows."""
    return pa.RecordBatch.from_struct_array(pa.nulls(count, pa.struct([])))
