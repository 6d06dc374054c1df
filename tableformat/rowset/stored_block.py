"""Blocks of one RowSet as they are stored: where they lie, and their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colonnade.tableformat.rowset.block import BlockEntry
from colonnade.tableformat.rowset.column import Column
from colonnade.tableformat.rowset.source import RowSetSource
from colonnade.tableformat.rowset.sparse_index import SparseIndex


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """A block as it is stored: its place in the index, its entry, and bytes if it has any.

    `bloom` is its Bloom filter, empty where it has none or nobody asked for it.
    """

    number: int
    entry: BlockEntry
    data: memoryview
    bloom: memoryview


@dataclass(frozen=True, slots=True)
class Stretch:
    """The rows between two cuts, for each column the blocks as they are stored.

    A column that the RowSet does not have has none.
    """

    first_row: int
    rows: int
    blocks: Sequence[Sequence[StoredBlock]]


class Piece(NamedTuple):
    """Offset and length in an object of what belongs to a column (by id) between two cuts."""

    place: tuple[int, int]
    source: RowSetSource
    name: str
    extent: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ColumnBlocks:
    """The blocks of a column; those of cut i are `at_cut[i]` up to `at_cut[i + 1]`.

    Blocks begin at `offset` of their object, Bloom filters at `filter_offset` of the index's.
    """

    column: Column
    source: RowSetSource
    offset: int
    filter_offset: int
    index: SparseIndex
    at_cut: NDArray[np.int64]

    @property
    def has_filters(self) -> bool:
        """Whether some blocks have a Bloom filter."""
        return bool(self.index.filter_offsets[-1])

    def piece(self, cut: int) -> Piece:
        """Where the blocks between two cuts are."""
        start, end = self.index.offsets[self.at_cut[cut : cut + 2]].tolist()
        extent = (self.offset + start, end - start)
        name = self.source.segment_name(self.column.id)
        return Piece((self.column.id, cut), self.source, name, extent)

    def filter_piece(self, cut: int) -> Piece:
        """Where their filters are."""
        start, end = self.index.filter_offsets[self.at_cut[cut : cut + 2]].tolist()
        extent = (self.filter_offset + start, end - start)
        name = self.source.index_name(self.column.id)
        return Piece((self.column.id, cut), self.source, name, extent)

    def stored(self, cut: int, data: memoryview, blooms: memoryview) -> tuple[StoredBlock, ...]:
        """The blocks between two cuts, from their bytes and those of their filters."""
        found, at, bloom_at = [], 0, 0
        for number in range(self.at_cut[cut], self.at_cut[cut + 1]):
            entry = self.index.entries[number]
            end, bloom_end = at + entry.length, bloom_at + entry.filter_length
            found.append(StoredBlock(number, entry, data[at:end], blooms[bloom_at:bloom_end]))
            at, bloom_at = end, bloom_end
        return tuple(found)
