"""The sparse index of a column segment: one row per block.

    first row | rows | offset | length | decoded | crc32c | encoding | base
    | nulls | nans | min | max | exact | filter_length | filter_crc32c

A stored index is one Arrow IPC stream. The last two columns exist only where blocks have Bloom
filters, which are stored back to back like the blocks. A segment of exactly one block has no stored
index: its footer states the same in JSON, and its bounds are those of the segment. Both forms
become a `SparseIndex`.

Spec: docs/spec/rowset.md#sparse-index
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import Bounds, bound_array
from colonnade.manifests.model.codec import unknown_word
from colonnade.manifests.model.statistics import Bound
from colonnade.manifests.once import once
from colonnade.tableformat.rowset import ipc_stream
from colonnade.tableformat.rowset.block_statistics import Statistics, merge
from colonnade.tableformat.rowset.bloom_filter import is_filter_length
from colonnade.tableformat.rowset.column import Order
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.encodings.registry import ENCODINGS
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.stored_value import booleans, to_numpy

_BOUND_TYPES = {
    Order.INTEGER: pa.int64(),
    Order.FLOAT: pa.float64(),
    Order.DECIMAL: pa.decimal128(38, 0),
    Order.STRING: pa.string(),
    Order.BINARY: pa.binary(),
}

_FIELDS = (
    pa.field("first_row", pa.int64(), nullable=False),
    pa.field("rows", pa.int64(), nullable=False),
    pa.field("offset", pa.int64(), nullable=False),
    pa.field("length", pa.int64(), nullable=False),
    pa.field("decoded", pa.int64(), nullable=False),
    pa.field("crc32c", pa.uint32(), nullable=False),
    pa.field("encoding", pa.string(), nullable=False),
    pa.field("base", pa.int64()),
    pa.field("nulls", pa.int64(), nullable=False),
    pa.field("nans", pa.int64(), nullable=False),
)

_FILTER_FIELDS = (
    pa.field("filter_length", pa.int64(), nullable=False),
    pa.field("filter_crc32c", pa.uint32(), nullable=False),
)

INDEX_LIMIT = 2**30
"""The most decoded bytes of an index."""

BLOCK_LIMIT = 2**20
"""The most blocks of an index. Colonnade's writers need about one for each 8 MiB of a column."""

SIZE_LIMIT = 2**32
"""A block has fewer rows and fewer bytes than this, so that their sums cannot overflow."""

_NULLABLE = {"base", "min", "max"}


@lru_cache
def _schema(order: Order, filters: bool) -> pa.Schema:
    fields = list(_FIELDS)
    bound = _BOUND_TYPES.get(order)
    if bound is not None:
        fields += [pa.field("min", bound), pa.field("max", bound)]
        fields.append(pa.field("exact", pa.bool_(), nullable=False))
    return pa.schema([*fields, *_FILTER_FIELDS] if filters else fields)


@dataclass(frozen=True, slots=True)
class _BlockValues:
    """Blocks given as values."""

    entries: Sequence[BlockEntry]

    def whole(self) -> Statistics:
        return merge([e.statistics for e in self.entries], [e.rows for e in self.entries])


@dataclass(frozen=True)
class _BlockColumns:
    """Blocks as the columns of a stored index; their values are built when first needed."""

    columns: Mapping[str, pa.Array]
    order: Order

    @once
    def entries(self) -> Sequence[BlockEntry]:
        return _entries({name: each.to_pylist() for name, each in self.columns.items()}, self.order)

    def whole(self) -> Statistics:
        """Return what `merge` would return for the statistics of all entries."""
        nulls, nans = (to_numpy(self.columns[name]) for name in ("nulls", "nans"))
        counts = int(nulls.sum()), int(nans.sum())
        if self.order not in _BOUND_TYPES:
            return Statistics(*counts, exact=False)
        low, high = self.columns["min"], self.columns["max"]
        if low.null_count or high.null_count:
            bounded = pc.and_(low.is_valid(), high.is_valid())
            empty = booleans(nulls + nans >= to_numpy(self.columns["rows"]))
            if pc.or_(bounded, empty).false_count:
                return Statistics(*counts, exact=False)
            low, high = low.filter(bounded), high.filter(bounded)
        exact = not self.columns["exact"].false_count
        if not len(low):
            return Statistics(*counts, exact=exact)
        return Statistics(*counts, *_outermost(low, high, self.order), exact)


def _outermost(low: pa.Array, high: pa.Array, order: Order) -> tuple[Bound, Bound]:
    """Return the least and the largest bound of blocks that all have bounds."""
    if order is Order.INTEGER or order is Order.FLOAT:
        return np.fmin.reduce(to_numpy(low)).item(), np.fmax.reduce(to_numpy(high)).item()
    least, most = pc.min(low).as_py(), pc.max(high).as_py()
    return (int(least), int(most)) if order is Order.DECIMAL else (least, most)


@dataclass(frozen=True, slots=True)
class SparseIndex:
    """The blocks of a segment in row order.

    `first_rows`, `offsets` and `filter_offsets` have one element for each block, and one more for
    the end: the rows and bytes of the segment, and the bytes of all filters. Filter offsets count
    from the first filter. `checksums` are CRC32C of the stored bytes.
    """

    first_rows: NDArray[np.int64]
    offsets: NDArray[np.int64]
    filter_offsets: NDArray[np.int64]
    checksums: Sequence[int]
    _blocks: _BlockValues | _BlockColumns

    @property
    def entries(self) -> Sequence[BlockEntry]:
        """The blocks as values."""
        return self._blocks.entries

    def whole(self) -> Statistics:
        """Return the statistics of all rows. Cheaper than building the values of the blocks."""
        return self._blocks.whole()


def index_of(entries: Sequence[BlockEntry]) -> SparseIndex:
    """Return the index of blocks that are stored back to back, from row 0 and byte 0."""
    return SparseIndex(
        np.array([0, *accumulate(entry.rows for entry in entries)], np.int64),
        np.array([0, *accumulate(entry.length for entry in entries)], np.int64),
        np.array([0, *accumulate(entry.filter_length for entry in entries)], np.int64),
        [entry.crc32c for entry in entries],
        _BlockValues(entries),
    )


def index_of_one(entry: BlockEntry) -> SparseIndex:
    """Return what `index_of` returns for one block, but faster: it dominates small reads."""
    rows, offsets, filter_offsets = (
        np.array((0, end), np.int64) for end in (entry.rows, entry.length, entry.filter_length)
    )
    return SparseIndex(rows, offsets, filter_offsets, (entry.crc32c,), _BlockValues((entry,)))


def encode_index(entries: Sequence[BlockEntry], order: Order) -> bytes:
    """Encode the index of blocks that are stored back to back."""
    index = index_of(entries)
    statistics = [entry.statistics for entry in entries]
    columns: list[Any] = [
        index.first_rows[:-1],
        [entry.rows for entry in entries],
        index.offsets[:-1],
        [entry.length for entry in entries],
        [entry.decoded for entry in entries],
        index.checksums,
        [entry.encoding for entry in entries],
        [entry.base for entry in entries],
        [each.nulls for each in statistics],
        [each.nans for each in statistics],
    ]
    if order in _BOUND_TYPES:
        columns += [
            [each.low for each in statistics],
            [each.high for each in statistics],
            [each.exact for each in statistics],
        ]
    filters = bool(index.filter_offsets[-1])
    if filters:
        columns += [
            [entry.filter_length for entry in entries],
            [entry.filter_crc32c for entry in entries],
        ]
    schema = _schema(order, filters)
    arrays = [pa.array(c, field.type) for c, field in zip(columns, schema, strict=True)]
    batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
    return ipc_stream.encode_batch(batch, batch.nbytes).to_pybytes()  # type: ignore[no-any-return]


def decode_index(data: bytes, order: Order, filters: bool, name: str) -> SparseIndex:
    """Decode an index. `filters` says whether its rows describe Bloom filters.

    Requires that its checksum was verified. Raises ValueError unless it is the index of blocks that
    are stored back to back. Raises UnsupportedFormatError, which names the index by `name`, for an
    encoding that this version does not know.
    """
    batch = ipc_stream.decode_batch(pa.py_buffer(data), INDEX_LIMIT)
    if batch.schema != _schema(order, filters):
        raise ValueError("its columns are not those of an index of this column type")
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    if any(column.null_count for name, column in columns.items() if name not in _NULLABLE):
        raise ValueError("it has NULL where a value is required")
    if batch.num_rows > BLOCK_LIMIT:
        raise ValueError(f"it describes {batch.num_rows} blocks; at most {BLOCK_LIMIT} are allowed")
    rows, lengths = to_numpy(columns["rows"]), to_numpy(columns["length"])
    blooms = to_numpy(columns["filter_length"]) if filters else None
    if (
        not len(rows)
        or not 1 <= rows.min() <= rows.max() < SIZE_LIMIT
        or not 0 <= lengths.min() <= lengths.max() < SIZE_LIMIT
        or (blooms is not None and not is_filter_length(blooms).all())
    ):
        raise ValueError("it describes an impossible block")
    first_rows, offsets = _running(rows), _running(lengths)
    if (first_rows[:-1] != to_numpy(columns["first_row"])).any() or (
        offsets[:-1] != to_numpy(columns["offset"])
    ).any():
        raise ValueError("its blocks are not stored back to back")
    newer = [each for each in columns["encoding"].unique().to_pylist() if each not in ENCODINGS]
    if newer:
        raise unknown_word(name, f"the encoding {newer[0]!r:.100}")
    filter_offsets = np.zeros(len(rows) + 1, np.int64) if blooms is None else _running(blooms)
    checksums = to_numpy(columns["crc32c"]).tolist()
    blocks = _BlockColumns(columns, order)
    return SparseIndex(first_rows, offsets, filter_offsets, checksums, blocks)


def _running(parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 0, followed by the sum of the parts up to each one."""
    sums = np.zeros(len(parts) + 1, np.int64)
    np.add.accumulate(parts, out=sums[1:])
    return sums


def _entries(values: dict[str, list[Any]], order: Order) -> tuple[BlockEntry, ...]:
    count = len(values["rows"])
    lows: Sequence[Bound | None] = values.get("min", [None] * count)
    highs: Sequence[Bound | None] = values.get("max", [None] * count)
    if order is Order.DECIMAL:
        lows = [None if low is None else int(low) for low in lows]
        highs = [None if high is None else int(high) for high in highs]
    statistics = map(
        Statistics,
        values["nulls"],
        values["nans"],
        (low if high is not None else None for low, high in zip(lows, highs, strict=True)),
        (high if low is not None else None for low, high in zip(lows, highs, strict=True)),
        values.get("exact", [False] * count),
    )
    return tuple(
        map(
            BlockEntry,
            values["rows"],
            values["length"],
            values["decoded"],
            values["crc32c"],
            values["encoding"],
            values["base"],
            statistics,
            values.get("filter_length", [0] * count),
            values.get("filter_crc32c", [0] * count),
        )
    )


def bounds_of(statistics: Sequence[Statistics], prefix: str) -> Bounds:
    """Return statistics in the form that pruning uses. `prefix` is that of the column."""
    return Bounds(
        prefix,
        bound_array([each.low for each in statistics]),
        bound_array([each.high for each in statistics]),
        np.array([each.low is not None for each in statistics], dtype=np.bool_),
        np.array([each.nulls for each in statistics], dtype=np.int64),
        np.array([each.nans for each in statistics], dtype=np.int64),
    )
