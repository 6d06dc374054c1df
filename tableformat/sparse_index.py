"""The sparse index of a column segment: one row per block.

    first row | rows | offset | length | decoded | crc32c | encoding | base
    | nulls | nans | min | max | exact

As a file it is one Arrow IPC stream. A segment of exactly one block has none: its footer says the
same in JSON, and its bounds are those of the segment. Both become a `SparseIndex`.
Spec: docs/spec/rowset.md#sparse-index
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from manifests.bounds import Bounds, bound_array
from manifests.statistics import Bound
from tableformat import ipc_stream
from tableformat.block import ENCODINGS, BlockEntry
from tableformat.block_statistics import Statistics
from tableformat.column import Order

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

INDEX_LIMIT = 2**30
"""No index is larger when decoded, in bytes."""


def _schema(order: Order) -> pa.Schema:
    bound = _BOUND_TYPES.get(order)
    if bound is None:
        return pa.schema(_FIELDS)
    last = pa.field("exact", pa.bool_(), nullable=False)
    return pa.schema([*_FIELDS, pa.field("min", bound), pa.field("max", bound), last])


@dataclass(frozen=True, slots=True)
class SparseIndex:
    """The blocks of a segment in row order, each array one element a block.

    `first_rows` and `offsets` have one element more: the rows and bytes of the segment.
    """

    first_rows: NDArray[np.int64]
    offsets: NDArray[np.int64]
    entries: Sequence[BlockEntry]

    def statistics(self) -> list[Statistics]:
        """What is known about each block."""
        return [entry.statistics for entry in self.entries]


def index_of(entries: Sequence[BlockEntry]) -> SparseIndex:
    """Line up blocks that lie back to back from row and byte 0 on."""
    return SparseIndex(
        np.array([0, *accumulate(entry.rows for entry in entries)], np.int64),
        np.array([0, *accumulate(entry.length for entry in entries)], np.int64),
        entries,
    )


def encode_index(entries: Sequence[BlockEntry], order: Order) -> bytes:
    """Write the index of blocks that lie back to back."""
    index = index_of(entries)
    statistics = index.statistics()
    columns: list[Any] = [
        index.first_rows[:-1],
        [entry.rows for entry in entries],
        index.offsets[:-1],
        [entry.length for entry in entries],
        [entry.decoded for entry in entries],
        [entry.crc32c for entry in entries],
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
    schema = _schema(order)
    arrays = [pa.array(c, field.type) for c, field in zip(columns, schema, strict=True)]
    batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
    return ipc_stream.encode_batch(batch, batch.nbytes).to_pybytes()  # type: ignore[no-any-return]


def decode_index(data: bytes, order: Order) -> SparseIndex:
    """Read an index. Requires: its checksum was verified.

    Raises ValueError when it is not the index of blocks that lie back to back.
    """
    batch = ipc_stream.decode_batch(pa.py_buffer(data), INDEX_LIMIT)
    if batch.schema != _schema(order):
        raise ValueError("its columns are not those of an index of this column type")
    if any(
        not field.nullable and array.null_count
        for field, array in zip(batch.schema, batch.columns, strict=True)
    ):
        raise ValueError("it has NULL where a value must be")
    values = {name: batch.column(name) for name in batch.schema.names}
    entries = _entries({name: array.to_pylist() for name, array in values.items()}, order)
    index = index_of(entries)
    if not entries or any(
        entry.rows < 1 or entry.length < 0 or entry.encoding not in ENCODINGS for entry in entries
    ):
        raise ValueError("it describes a block that cannot be")
    if not (
        np.array_equal(index.first_rows[:-1], values["first_row"].to_numpy())
        and np.array_equal(index.offsets[:-1], values["offset"].to_numpy())
    ):
        raise ValueError("its blocks do not lie back to back")
    return index


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
        )
    )


def bounds_of(statistics: Sequence[Statistics]) -> Bounds:
    """Arrange statistics for pruning."""
    return Bounds(
        bound_array([each.low for each in statistics]),
        bound_array([each.high for each in statistics]),
        np.array([each.low is not None for each in statistics], dtype=np.bool_),
        np.array([each.nulls for each in statistics], dtype=np.int64),
        np.array([each.nans for each in statistics], dtype=np.int64),
    )
