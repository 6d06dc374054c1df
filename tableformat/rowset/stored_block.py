"""Blocks of one RowSet in their stored form: their location and their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.tableformat.rowset.column import StoredColumn
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.sparse_index import SparseIndex
from colonnade.tableformat.rowset.stored.source import RowSetSource


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """A block in its stored form: its number and entry in the index, and its bytes if it has any.

    `column` is the column as the RowSet has it. `bloom` is its Bloom filter. It is empty when the
    block has none, or when it was not read.
    """

    column: StoredColumn
    number: int
    entry: BlockEntry
    data: memoryview
    bloom: memoryview


@dataclass(frozen=True, slots=True)
class Stretch:
    """The rows between two cuts, as stored blocks for each column.

    A column that the RowSet does not have has no blocks.
    """

    first_row: int
    rows: int
    blocks: Sequence[Sequence[StoredBlock]]


class StretchPiece(NamedTuple):
    """The range of an object that holds one column's bytes of one stretch.

    `place` is (column id, stretch); `extent` is (offset, length).
    """

    place: tuple[int, int]
    source: RowSetSource
    name: str
    extent: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ColumnBlocks:
    """The blocks of a column; stretch i has the blocks `at_cut[i]` to `at_cut[i + 1]`, exclusive.

    The blocks begin at `offset` of their object. The Bloom filters begin at `filter_offset` of the
    object that holds the index. `column` is the column as the RowSet has it, and `wanted` the
    column of the table. They differ if the column's type has widened since.
    """

    wanted: StoredColumn
    column: StoredColumn
    source: RowSetSource
    offset: int
    filter_offset: int
    index: SparseIndex
    at_cut: NDArray[np.int64]

    @property
    def has_filters(self) -> bool:
        """Whether some blocks have a Bloom filter."""
        return bool(self.index.filter_offsets[-1])

    def piece(self, cut: int) -> StretchPiece:
        """Return where the blocks of a stretch are stored."""
        start, end = self.index.offsets[self.at_cut[cut : cut + 2]].tolist()
        extent = (self.offset + start, end - start)
        name = self.source.column_segment_name(self.column.id)
        return StretchPiece((self.column.id, cut), self.source, name, extent)

    def filter_piece(self, cut: int) -> StretchPiece:
        """Return where the filters of a stretch are stored."""
        start, end = self.index.filter_offsets[self.at_cut[cut : cut + 2]].tolist()
        extent = (self.filter_offset + start, end - start)
        name = self.source.index_name(self.column.id)
        return StretchPiece((self.column.id, cut), self.source, name, extent)

    def stored(self, cut: int, data: memoryview, blooms: memoryview) -> tuple[StoredBlock, ...]:
        """Return the blocks of a stretch, from their bytes and the bytes of their filters."""
        found, at, bloom_at = [], 0, 0
        for number in range(self.at_cut[cut], self.at_cut[cut + 1]):
            entry = self.index.entries[number]
            end, bloom_end = at + entry.length, bloom_at + entry.filter_length
            bloom = blooms[bloom_at:bloom_end]
            found.append(StoredBlock(self.column, number, entry, data[at:end], bloom))
            at, bloom_at = end, bloom_end
        return tuple(found)
