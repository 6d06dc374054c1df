"""Sort all rows of some RowSets by the z-order of several columns.

A sample tells how the values of each column are distributed. The z-value of a row interleaves the
bits of its quantile in each column, so rows that are near in all columns have near z-values. Rows
are first divided into buckets by z-value, on disk when they are too many for memory. Then each
bucket is sorted separately.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.tableformat.compaction.inputs import InputRowSet, Inputs, Rows
from colonnade.tableformat.rowset.column import Order, StoredColumn, column_of
from colonnade.tableformat.rowset.encodings.integers import as_integers, is_stored_as_integer
from colonnade.tableformat.rowset.write.spill import Spill, Spilled
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.rowset.writer import RowSetWriter
from colonnade.tableformat.scan.sorting import spill_rows, spilled_rows

BUCKET_BYTES = 32 * MIB
"""The stored bytes of rows that are sorted at once; decoded rows take a few times as much."""

_SAMPLED_STRETCHES = 64
_SAMPLED_ROWS = 100_000
_COLUMN_BITS = 12
_ALL_BITS = 63
_PIECE_ROWS = 65_536

ZValues = NDArray[np.uint64]


def zorder(inputs: Inputs, writer: RowSetWriter) -> None:
    """Write the live rows of the RowSets of a job in z-order, with the origin of each row.

    Holds one bucket in memory, and 8 bytes for each row. With several buckets it needs space for
    the decoded rows in the temporary folder. Raises CorruptionError, StoreError.
    """
    job = inputs.job
    buckets = -(-job.group.bytes_out // BUCKET_BYTES)
    curve = _sample(inputs, buckets)
    with closing(_Shelf(buckets)) as shelf:
        for source in inputs.open():
            for rows, columns in source.batches():
                _put(shelf, curve, curve.values(columns), source.origin(rows), columns)
        for bucket in range(buckets):
            inputs.stop.check()
            _write_bucket(shelf.take(bucket), writer)


@dataclass(frozen=True, slots=True)
class _Curve:
    """Computes z-values of rows. `cuts` are the quantiles of each column.

    `ends` are the last values of the buckets. `places` are the positions of the columns in the
    table.
    """

    columns: Sequence[StoredColumn]
    places: Sequence[int]
    cuts: Sequence[NDArray[Any]]
    ends: ZValues

    def values(self, columns: Sequence[pa.Array]) -> ZValues:
        """Return the z-values of rows with all columns of the table."""
        return interleave(
            [
                _ranks(columns[place], column, cuts)
                for column, place, cuts in zip(self.columns, self.places, self.cuts, strict=True)
            ]
        )


def interleave(ranks: Sequence[NDArray[np.uint64]]) -> ZValues:
    """Interleave the bits of several numbers, beginning with the highest bit of the first."""
    bits = min(_COLUMN_BITS, _ALL_BITS // len(ranks))
    found = np.zeros(len(ranks[0]), np.uint64)
    for bit in range(bits - 1, -1, -1):
        for rank in ranks:
            found = (found << np.uint64(1)) | ((rank >> np.uint64(bit)) & np.uint64(1))
    return found


def _sample(inputs: Inputs, buckets: int) -> _Curve:
    """Read some stretches of the z-order columns, and compute their quantiles."""
    job = inputs.job
    schema = job.target.table_schema
    ids = [column.id for column in schema.fields]
    fields = [schema.by_id(column) for column in job.order_by]
    columns = [column_of(field) for field in fields]
    found: list[list[pa.Array]] = [[pa.nulls(0, column.type)] for column in columns]
    each = -(-_SAMPLED_STRETCHES // len(job.view.rowsets))
    for source in inputs.open():
        for arrays in _some_stretches(replace(source, fields=fields), each):
            for parts, array in zip(found, arrays, strict=True):
                parts.append(array)
    sampled = [pa.concat_arrays(parts) for parts in found]
    step = 1 + len(sampled[0]) // _SAMPLED_ROWS
    sampled = [array.take(pa.array(np.arange(0, len(array), step))) for array in sampled]
    count = 1 << min(_COLUMN_BITS, _ALL_BITS // len(columns))
    cuts = [_quantiles(_comparable(a, c), count) for a, c in zip(sampled, columns, strict=True)]
    places = [ids.index(column) for column in job.order_by]
    curve = _Curve(columns, range(len(columns)), cuts, np.zeros(0, np.uint64))
    ends = _quantiles(curve.values(sampled), buckets) if buckets > 1 else curve.ends
    return replace(curve, places=places, ends=ends)


def _some_stretches(source: InputRowSet, count: int) -> Iterator[list[pa.Array]]:
    total = len(source.cuts) - 1
    chosen = np.zeros(total, np.bool_)
    chosen[np.linspace(0, total - 1, min(count, total)).astype(np.int64)] = True
    for stretch in source.stretches(chosen):
        yield source.decode(stretch)


def _quantiles(values: NDArray[Any], count: int) -> NDArray[Any]:
    """Return at most `count` - 1 values that divide all values into parts of similar size."""
    if not len(values):
        return values
    places = np.linspace(0, len(values) - 1, count + 1).astype(np.int64)[1:-1]
    quantiles: NDArray[Any] = np.unique(np.sort(values)[places])
    return quantiles


def _ranks(array: pa.Array, column: StoredColumn, cuts: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the quantile of each value; NULL is in the lowest one."""
    ranks = np.zeros(len(array), np.uint64)
    valid = np.flatnonzero(np.asarray(array.is_valid()))
    ranks[valid] = np.searchsorted(cuts, _comparable(array, column), side="right")
    return ranks


def _comparable(array: pa.Array, column: StoredColumn) -> NDArray[Any]:
    """Return the values that are not NULL for numpy; wide decimals become approximate."""
    present = array.drop_null()
    if column.order is Order.INTEGER:
        integers = as_integers(present) if is_stored_as_integer(column.type) else present
        return np.asarray(integers.cast(pa.int64()))
    if column.order in (Order.FLOAT, Order.DECIMAL):
        return np.asarray(present.cast(pa.float64()))
    return np.asarray(present.to_numpy(zero_copy_only=False), object)


def _put(
    shelf: _Shelf, curve: _Curve, values: ZValues, origin: Rows, columns: list[pa.Array]
) -> None:
    """Divide rows among the buckets."""
    arrays = [*columns, pa.array(values), pa.array(origin)]
    batch = pa.RecordBatch.from_arrays(arrays, [str(i) for i in range(len(arrays))])
    buckets = np.searchsorted(curve.ends, values, side="right")
    for bucket in np.unique(buckets).tolist():
        rows = np.flatnonzero(buckets == bucket)
        shelf.put(bucket, batch if len(rows) == len(batch) else batch.take(pa.array(rows)))


def _write_bucket(batches: Sequence[pa.RecordBatch], writer: RowSetWriter) -> None:
    if not batches:
        return
    rows = pa.Table.from_batches(batches).combine_chunks()
    *columns, values, origin = (column.chunk(0) for column in rows.columns)
    order = np.argsort(np.asarray(values), kind="stable")
    for start in range(0, len(order), _PIECE_ROWS):
        rows = order[start : start + _PIECE_ROWS]
        piece = pa.array(rows)
        writer.write_storage([column.take(piece) for column in columns], np.asarray(origin)[rows])


class _Shelf:
    """The rows of the buckets: in memory if there is one bucket, else on local disk."""

    def __init__(self, buckets: int) -> None:
        self._spill = Spill() if buckets > 1 else None
        self._spilled: list[list[Spilled]] = [[] for _ in range(buckets)]
        self._held: list[pa.RecordBatch] = []

    def put(self, bucket: int, batch: pa.RecordBatch) -> None:
        if self._spill is None:
            self._held.append(batch)
        else:
            self._spilled[bucket].append(spill_rows(self._spill, batch))

    def take(self, bucket: int) -> list[pa.RecordBatch]:
        if self._spill is None:
            return self._held
        return [*spilled_rows(self._spill, self._spilled[bucket])]

    def close(self) -> None:
        """Remove what is on disk."""
        if self._spill is not None:
            self._spill.close()
