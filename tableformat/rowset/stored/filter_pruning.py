"""Prune stretches of rows by the Bloom filters of their blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np
import pyarrow as pa
from google_crc32c import value as crc32c
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import BoundsFilter, BoundsTable
from colonnade.manifests.model.statistics import Bound
from colonnade.tableformat.rowset.adapt import shares_filters
from colonnade.tableformat.rowset.bloom_filter import hash_values, members
from colonnade.tableformat.rowset.column import StoredColumn
from colonnade.tableformat.rowset.stored_block import ColumnBlocks
from colonnade.tableformat.rowset.write_options import MIB

Mask = NDArray[np.bool_]
Damaged = Callable[[StoredColumn, str], NoReturn]

_WINDOW_BYTES = 8 * MIB
"""The approximate number of filter bytes that are held at once."""

_NO_FILTER = memoryview(b"")


def prune_by_filters(
    columns: Sequence[ColumnBlocks],
    cuts: NDArray[np.int64],
    bounds: BoundsTable,
    may_match: BoundsFilter,
    damaged: Damaged,
) -> Mask:
    """Return which stretches `may_match` keeps once it may ask the Bloom filters of their blocks.

    Reads filters only of columns in the filter, and only of stretches that filters could rule out.
    `damaged` raises the error for a damaged filter of a column. Raises CorruptionError, StoreError.
    """
    filtered = [
        each for each in columns if each.has_filters and shares_filters(each.column, each.wanted)
    ]
    if not filtered:
        return np.ones(len(cuts), np.bool_)
    nothing = {each.wanted.id: _holds_nothing for each in filtered}
    kept = may_match(replace(bounds, members=nothing))
    for part in _windows(np.flatnonzero(~kept), cuts, filtered):
        members = {
            each.wanted.id: _Filters(each, cuts[part], damaged).may_hold for each in filtered
        }
        kept[part] = may_match(replace(bounds.take(part), members=members))
    return kept


def _holds_nothing(things: NDArray[np.int64], values: Sequence[Bound]) -> Mask:
    return np.zeros(len(things), np.bool_)


def _windows(
    doubtful: NDArray[np.int64], cuts: NDArray[np.int64], columns: Sequence[ColumnBlocks]
) -> Iterator[NDArray[np.int64]]:
    """Divide stretches into groups whose filters are held at once."""
    sizes = [sum(each.filter_piece(cut).extent[1] for each in columns) for cut in cuts[doubtful]]
    windows = np.cumsum(np.array(sizes, np.int64)) // _WINDOW_BYTES
    for window in np.unique(windows):
        yield doubtful[windows == window]


@dataclass(slots=True)
class _Filters:
    """The filters of one column in some stretches. Each is read once, when it is first needed."""

    blocks: ColumnBlocks
    cuts: NDArray[np.int64]
    damaged: Damaged
    _found: dict[int, list[memoryview]] = field(default_factory=dict)

    def may_hold(self, things: NDArray[np.int64], values: Sequence[Bound]) -> Mask:
        """Return which of the stretches numbered `things` may hold one of `values`."""
        cuts = self.cuts[things].tolist()
        self._read([cut for cut in cuts if cut not in self._found])
        hashes = hash_values(values)
        # An empty filter belongs to a block without one, which may hold anything.
        answers = (
            any(not bloom or members(bloom, hashes).any() for bloom in self._found[cut])
            for cut in cuts
        )
        return np.fromiter(answers, np.bool_, len(cuts))

    def _read(self, cuts: Sequence[int]) -> None:
        blocks = self.blocks
        extents = {cut: blocks.filter_piece(cut).extent for cut in cuts}
        there = [cut for cut in cuts if extents[cut][1]]
        self._found.update((cut, [_NO_FILTER]) for cut in cuts)
        name = blocks.source.index_name(blocks.column.id)
        data = blocks.source.read(name, [extents[cut] for cut in there])
        for cut, part in zip(there, data, strict=True):
            self._found[cut] = [
                self._verified(each.number, each.bloom)
                for each in blocks.stored(cut, _NO_FILTER, part)
            ]

    def _verified(self, number: int, bloom: memoryview) -> memoryview:
        expected = self.blocks.index.entries[number].filter_crc32c
        if bloom and crc32c(pa.py_buffer(bloom)) != expected:
            source, column = self.blocks.source, self.blocks.column
            name = source.locate(source.index_name(column.id))
            self.damaged(
                column,
                f"block {number}: its Bloom filter in {name} does not match its checksum",
            )
        return bloom
