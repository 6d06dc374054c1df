"""The rows of a RowSet that are inside regions, and that a reader does not show.

Indexes decide most stretches as a whole. Only stretches at the edge of a region are decoded. Where
the rows of a stretch are in the order of a region, its rows are found by bisection.
Spec: docs/spec/lifetimes.md#readers
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap

from colonnade.manifests.arrays.region_bounds import meets_each
from colonnade.manifests.model.regions import Interval, Region
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.predicate import evaluate
from colonnade.tableformat.predicate.regions import named_by_id, region_predicate
from colonnade.tableformat.rowset.stored_reader import StoredReader

Ranges = Sequence[tuple[int, int]]

_ORDERED_AS_INTEGERS = ("byte", "short", "int", "long", "date", "timestamp", "timestamp_ntz")


def hidden_rows(
    reader: StoredReader, regions: Sequence[Region], ranges: Ranges | None = None
) -> BitMap:
    """Return the numbers of the rows inside any region, among `ranges` (None: all rows).

    Ranges begin and end at cuts. Reads the indexes of the columns of the regions, and their blocks
    where an index leaves it open. Raises CorruptionError, StoreError.
    """
    found = BitMap()
    of_regions = {each.id: each for region in regions for each in region.columns}
    columns = {number: named_by_id(each) for number, each in of_regions.items()}
    stretches, bounds = reader.bounds(list(columns.values()), ranges)
    some, every = meets_each(regions, bounds)
    whole = every.any(axis=0)
    for at in np.flatnonzero(whole).tolist():
        found.add_range(*stretches[at])
    edges = np.flatnonzero(some.any(axis=0) & ~whole).tolist()
    batches = reader.read(list(columns.values()), ranges=[stretches[at] for at in edges])
    for at, (first, batch) in zip(edges, batches, strict=True):
        stretch = _Stretch(batch)
        for place in np.flatnonzero(some[:, at]).tolist():
            begin, rows = stretch.rows_in(regions[place])
            if isinstance(rows, int):
                found.add_range(first + begin, first + begin + rows)
            else:
                found |= BitMap(rows + (first + begin))
    return found


class _Stretch:
    """The columns of regions in one stretch, whose rows may be in their order."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch
        self._values: dict[str, NDArray[np.int64] | None] = {}
        self._ascending: dict[str, bool] = {}

    def rows_in(self, region: Region) -> tuple[int, int | NDArray[np.int64]]:
        """Return a first row, and how many rows from it on, or which ones, are inside a region."""
        begin, end = 0, self._batch.num_rows
        for interval, column in zip(region.intervals, region.columns, strict=True):
            values = self._integers(column)
            if values is None or not self._ascends(column, values, begin, end):
                return begin, self._evaluated(region, begin, end)
            first, last = _bisected(values[begin:end], interval, column)
            begin, end = begin + first, begin + max(first, last)
        return begin, end - begin

    def _ascends(
        self, column: SchemaField, values: NDArray[np.int64], begin: int, end: int
    ) -> bool:
        """Return whether values ascend. For the whole stretch, that is looked at once."""
        if end - begin < len(values):
            return _ascends(values[begin:end])
        name = str(column.id)
        if name not in self._ascending:
            self._ascending[name] = _ascends(values)
        return self._ascending[name]

    def _evaluated(self, region: Region, begin: int, end: int) -> NDArray[np.int64]:
        rows = self._batch.slice(begin, end - begin)
        return np.flatnonzero(evaluate(region_predicate(region), rows).fill_null(False))

    def _integers(self, column: SchemaField) -> NDArray[np.int64] | None:
        """Return the values of a column as integers in their order, or None if there are none."""
        name = str(column.id)
        if name not in self._values:
            array = self._batch.column(name)
            plain = column.type in _ORDERED_AS_INTEGERS and not array.null_count
            self._values[name] = _as_integers(array) if plain else None
        return self._values[name]


def _as_integers(array: pa.Array) -> NDArray[np.int64]:
    stored = array if pa.types.is_integer(array.type) else array.view(f"int{array.type.bit_width}")
    return np.asarray(stored.to_numpy(zero_copy_only=False), np.int64)


def _ascends(values: NDArray[np.int64]) -> bool:
    return bool((values[1:] >= values[:-1]).all())


def _bisected(
    values: NDArray[np.int64], interval: Interval, column: SchemaField
) -> tuple[int, int]:
    """Return the first and the end row of ascending values that are inside an interval."""
    low: Any
    high: Any
    low, high = interval.bounds(column)
    first, last = 0, len(values)
    if low is not None:
        first = int(np.searchsorted(values, low, "right" if interval.low_open else "left"))
    if high is not None:
        last = int(np.searchsorted(values, high, "left" if interval.high_open else "right"))
    return first, last
