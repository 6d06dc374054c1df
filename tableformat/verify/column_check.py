"""Check one column of a RowSet: its index, and the checksums, values and filters of its blocks.

Continues after damage, so that all of it is found. Spec: docs/spec/rowset.md
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from google_crc32c import value as crc32c

from colonnade.manifests.errors import (
    ColonnadeError,
    CorruptionError,
    NotFoundError,
    StoreError,
    UnsupportedFormatError,
)
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.statistics import LOG_BOUND_LENGTH
from colonnade.tableformat.rowset.block_statistics import contradiction, from_log, shorten
from colonnade.tableformat.rowset.column import Order, StoredColumn
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.footer import ColumnSegment, entry_of
from colonnade.tableformat.rowset.sparse_index import SparseIndex, decode_index, index_of_one
from colonnade.tableformat.rowset.stored.source import RowSetSource
from colonnade.tableformat.verify.block_check import check_block
from colonnade.tableformat.verify.findings import Kind, kind_of
from colonnade.tableformat.verify.rowset_findings import WINDOW_BYTES, RowSetFindings


@dataclass(slots=True)
class ColumnCheck:
    """Checks the index, the blocks and the filters of one column of a RowSet.

    `owner` gets what was found. `column` is None for a dropped column, whose values are not
    checked.
    """

    owner: RowSetFindings
    source: RowSetSource
    segment: ColumnSegment
    id: int
    column: StoredColumn | None

    @property
    def _name(self) -> str:
        return f"(id {self.id})" if self.column is None else f"{self.column.name!r} (id {self.id})"

    def run(self) -> None:
        """Check everything up to the depth of the job. Damage is recorded, and not raised."""
        entry = self.owner.rowset.entry
        try:
            index = self._index()
        except ValueError as error:
            self._record(f"its index: {error}", rows=(0, entry.rows - 1), of_index=True)
            return
        except (StoreError, UnsupportedFormatError) as error:
            self._record_error(error, rows=(0, entry.rows - 1), of_index=True)
            return
        filters = 0 if self.segment.filters is None else self.segment.filters.length
        ends = (index.first_rows[-1], index.offsets[-1], index.filter_offsets[-1])
        if ends != (entry.rows, self.segment.length, filters):
            self._record("its index describes other rows or bytes than the footer", of_index=True)
            return
        self._check_cuts(index)
        self._check_statistics(index)
        if self.owner.job.depth >= 3:
            self._check_blocks(index)

    def _index(self) -> SparseIndex:
        """Return the sparse index.

        Raises ValueError for damage; UnsupportedFormatError for an encoding of a later version.
        """
        extent, block = self.segment.index, self.segment.block
        try:
            if block is not None and extent is None:
                prefix = "" if self.column is None else self.column.bound_prefix
                rows = self.owner.rowset.entry.rows
                plain = self.segment
                if self.column is None:
                    plain = self.segment.model_copy(update={"statistics": ColumnStatistics()})
                return index_of_one(entry_of(block, plain, rows, prefix))
            if extent is None or block is not None:
                raise ValueError("the footer must name either an index or a block")
            name = self.source.index_name(self.id)
            data = bytes(self.source.read(name, [(extent.offset, extent.length)])[0])
        except (CorruptionError, NotFoundError) as error:
            raise ValueError(error.message) from error
        if crc32c(data) != extent.crc32c:
            raise ValueError("its bytes do not match their checksum")
        filters = self.segment.filters is not None
        if self.column is not None:
            return decode_index(data, self.column.order, filters, "its index")
        return _decode_any(data, filters)

    def _check_cuts(self, index: SparseIndex) -> None:
        rows, cuts = self.owner.rowset.entry.rows, self.owner.rowset.entry.cuts
        ends = np.arange(cuts, rows, cuts) if isinstance(cuts, int) else np.array(cuts[:-1], int)
        found = index.first_rows[np.searchsorted(index.first_rows, ends)]
        if not np.array_equal(found, ends):
            self._record("a block lies across a cut", of_index=True)

    def _check_statistics(self, index: SparseIndex) -> None:
        """Check that the footer and the log agree with the block statistics, up to shortening."""
        if self.column is None:
            return
        prefix = self.column.bound_prefix
        known = index.whole()
        logged = self.owner.rowset.entry.statistics.get(self.id)
        try:
            problem = contradiction(from_log(self.segment.statistics, prefix), known)
            if problem is None and logged is not None:
                short = shorten(known, LOG_BOUND_LENGTH)
                problem = contradiction(from_log(logged, prefix), short)
        except CorruptionError as error:
            problem = error.message.rstrip(".")
        if problem is not None:
            rows = (0, self.owner.rowset.entry.rows - 1)
            self._record(f"its statistics in footer and log: {problem}", rows=rows)

    def _check_blocks(self, index: SparseIndex) -> None:
        left = deque(_windows(index))
        while left:
            try:
                for data in self._read_windows(index, tuple(left)):
                    self.owner.bytes += len(data)
                    self._check_window(index, *left.popleft(), pa.py_buffer(data))
            except ColonnadeError as error:
                first, end = left.popleft()
                rows = (int(index.first_rows[first]), int(index.first_rows[end]) - 1)
                self._record_error(error, first, rows)

    def _read_windows(
        self, index: SparseIndex, windows: Sequence[tuple[int, int]]
    ) -> Iterator[memoryview]:
        if not self.segment.length:  # the column has no object
            yield from (memoryview(b"") for _ in windows)
            return
        at, first = index.offsets.tolist(), self.segment.offset
        extents = [(first + at[start], at[stop] - at[start]) for start, stop in windows]
        buffer = self.owner.buffer(max(length for _, length in extents))
        yield from self.source.read_windows(
            self.source.column_segment_name(self.id), extents, buffer
        )

    def _check_window(self, index: SparseIndex, first: int, end: int, data: pa.Buffer) -> None:
        """Check blocks `first` to `end` - 1, whose bytes are `data`."""
        ends = (index.offsets[first : end + 1] - index.offsets[first]).tolist()
        blocks = enumerate(pairwise(ends), first)
        filters = self._read_filters(index, first, end)
        if self.owner.job.depth < 4 or self.column is None:
            for number, (start, stop) in blocks:
                # This loop makes no other call: there are very many blocks, and it takes most of
                # the time.
                length = stop - start
                if length and crc32c(data.slice(start, length)) != index.checksums[number]:
                    self._record_block(index, number, "its bytes do not match their checksum")
            return
        for number, (start, stop) in blocks:
            entry, bloom = index.entries[number], filters.get(number, memoryview(b""))
            self._check_block(index, number, data.slice(start, stop - start), entry, bloom)

    def _check_block(
        self, index: SparseIndex, number: int, data: pa.Buffer, entry: BlockEntry, bloom: memoryview
    ) -> None:
        """Check the values and the filter of a block."""
        assert self.column is not None
        problem = check_block(data, entry, self.column, bloom)
        if problem is not None:
            self._record_block(index, number, problem)

    def _read_filters(self, index: SparseIndex, first: int, end: int) -> dict[int, memoryview]:
        """Return the intact Bloom filters of blocks `first` to `end` - 1."""
        ends = index.filter_offsets[first : end + 1].tolist()
        if self.segment.filters is None or ends[0] == ends[-1]:
            return {}
        extent = (self.segment.filters.offset + ends[0], ends[-1] - ends[0])
        try:
            [data] = self.source.read(self.source.index_name(self.id), [extent])
        except ColonnadeError as error:
            rows = (int(index.first_rows[first]), int(index.first_rows[first + 1]) - 1)
            self._record_error(error, first, rows, of_filter=True)
            return {}
        self.owner.bytes += len(data)
        found = {}
        for number, start, stop in zip(range(first, end), ends, ends[1:], strict=False):
            bloom = data[start - ends[0] : stop - ends[0]]
            if not bloom:
                continue
            if crc32c(pa.py_buffer(bloom)) == index.entries[number].filter_crc32c:
                found[number] = bloom
            else:
                problem = "its Bloom filter does not match its checksum"
                self._record_block(index, number, problem, of_filter=True)
        return found

    def _record_block(
        self, index: SparseIndex, number: int, problem: str, *, of_filter: bool = False
    ) -> None:
        rows = (int(index.first_rows[number]), int(index.first_rows[number + 1]) - 1)
        told = f"block {number} (rows {rows[0]} to {rows[1]}): {problem}"
        self._record(told, number, rows, of_filter=of_filter)

    def _record(
        self,
        problem: str,
        block: int | None = None,
        rows: tuple[int, int] | None = None,
        *,
        of_index: bool = False,
        of_filter: bool = False,
        kind: Kind = "damage",
    ) -> None:
        alone = of_filter or (of_index and self.segment.index is not None)
        file = (
            self.source.index_name(self.id) if alone else self.source.column_segment_name(self.id)
        )
        told = None if self.column is None else self.column.name
        location = self.source.locate(file)
        state = "is damaged" if kind == "damage" else "cannot be checked"
        sentence = f"Column {self._name} in {location} {state}: {problem}."
        self.owner.add(sentence, file, told, block, rows, kind)

    def _record_error(
        self,
        error: ColonnadeError,
        block: int | None = None,
        rows: tuple[int, int] | None = None,
        **of: bool,
    ) -> None:
        self._record(error.message.rstrip("."), block, rows, kind=kind_of(error), **of)


def _decode_any(data: bytes, filters: bool) -> SparseIndex:
    """Decode the index of a dropped column, whose type is unknown. Raises as `decode_index`."""
    for order in Order:
        try:
            return decode_index(data, order, filters, "its index")
        except ValueError:
            continue
    raise ValueError("it does not fit any type of column")


def _windows(index: SparseIndex) -> Iterator[tuple[int, int]]:
    """Yield ranges (first, end) of adjacent blocks that take about the bytes of a window."""
    first, count = 0, len(index.checksums)
    while first < count:
        limit = int(index.offsets[first]) + WINDOW_BYTES
        end = max(first + 1, int(np.searchsorted(index.offsets, limit, side="right")) - 1)
        yield first, min(end, count)
        first = end
