"""The values of static columns, which rows have by their partition key.

The table of static values is small. Its rows are read for the keys that a RowSet may have, and the
process keeps them for the next RowSet and the next scan.
Spec: docs/spec/static-columns.md#readers
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from colonnade.manifests.arrays.bounds import Keep, bounds_table
from colonnade.manifests.arrays.region_bounds import meets
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.regions import Interval, Region
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.amendments import StaticRows
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.predicate import prune
from colonnade.tableformat.predicate.regions import region_predicate
from colonnade.tableformat.rowset.deleted import read_deleted
from colonnade.tableformat.rowset.key_codes import KeyCodes, comparable
from colonnade.tableformat.rowset.stored_reader import StoredReader
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.types.arrow_types import arrow_schema

_KEPT_BYTES = 64 * MIB
"""The most memory of all static values that a process keeps."""

_WHOLE_BYTES = 8 * MIB
"""A table of static values of at most as many stored bytes is read as a whole."""


class StaticColumns:
    """The static columns among the columns that a reader returns, and the keys that it reads."""

    def __init__(
        self, store: ObjectStore, rowset: LiveRowSet, columns: Sequence[SchemaField]
    ) -> None:
        self._places = [at for at, column in enumerate(columns) if column.static]
        self._columns = columns
        self.added: tuple[SchemaField, ...] = ()
        """Columns of the partition key, which the reader reads beside those that it returns."""
        if self._places:
            rows = rowset.amendments.statics
            assert rows is not None, "A RowSet of a table with static columns names their rows."
            place = {column.id: at for at, column in enumerate(columns)}
            self.added = tuple(each for each in rows.key if each.id not in place)
            place.update((each.id, len(columns) + at) for at, each in enumerate(self.added))
            self._keys = [place[each.id] for each in rows.key]
            self._values = _KEPT.read(store, rows, rowset, [columns[at] for at in self._places])

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns of the reader with the static values of each row, without `added`."""
        if not self._places:
            return batch
        arrays = batch.columns[: len(self._columns)]
        keys = [batch.column(at) for at in self._keys]
        for at, values in zip(self._places, self._values.of_keys(keys), strict=True):
            arrays[at] = values
        fields = [batch.schema.field(at) for at in range(len(arrays))]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields, batch.schema.metadata))


@dataclass(frozen=True)
class ValuesByKey:
    """Static values by partition key: the columns that a reader asked for, and codes of the keys.

    Without any row, `codes` is None.
    """

    columns: tuple[pa.Array, ...]
    codes: KeyCodes | None

    @property
    def nbytes(self) -> int:
        """The memory of the values. Codes take about as much as keys."""
        keys = () if self.codes is None else (*self.codes.values, *self.codes.codes)
        return sum(each.nbytes for each in (*self.columns, *keys))

    def of_keys(self, keys: Sequence[pa.Array]) -> Iterator[pa.Array]:
        """Yield for each column the value of each key, or NULL."""
        if self.codes is None:
            yield from (pa.nulls(len(keys[0]), each.type) for each in self.columns)
            return
        found = self.codes.find([comparable(each) for each in keys])
        rows = pa.array(found, mask=found < 0)
        yield from (each.take(rows) for each in self.columns)


class _Entry(NamedTuple):
    store: weakref.ref[ObjectStore]
    rows: StaticRows
    values: ValuesByKey


class _Kept:
    """Static values that a process has read, up to a number of bytes. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[object, ...], _Entry] = OrderedDict()

    def read(
        self,
        store: ObjectStore,
        rows: StaticRows,
        rowset: LiveRowSet,
        columns: Sequence[SchemaField],
    ) -> ValuesByKey:
        """Return static values of all keys that a RowSet may have.

        Raises CorruptionError, StoreError.
        """
        near = _near(rows, rowset)
        name = (id(store), rows.prefix, near, tuple(columns))
        with self._lock:
            kept = self._kept.pop(name, None)
            if kept is not None and kept.store() is store and kept.rows == rows:
                # Rows that are the same object are compared fast, from the next RowSet on.
                self._kept[name] = kept._replace(rows=rows)
                return kept.values
        found = _read(store, rows, near, columns)
        with self._lock:
            self._kept[name] = _Entry(weakref.ref(store), rows, found)
            while sum(each.values.nbytes for each in self._kept.values()) > _KEPT_BYTES:
                self._kept.popitem(last=False)
        return found


_KEPT = _Kept()


def read_values(
    store: ObjectStore, rows: StaticRows, columns: Sequence[SchemaField], keep: Keep
) -> ValuesByKey:
    """Return static columns for all partition keys in the blocks that `keep` selects by its bounds.

    Raises CorruptionError, StoreError.
    """
    return _loaded(store, rows.prefix, rows.key, rows.rowsets, columns, keep)


def _near(rows: StaticRows, rowset: LiveRowSet) -> Region | None:
    """Return the keys that a RowSet may have; None means that all static values are read."""
    first = rows.key[0]
    bounds = rowset.entry.statistics.get(first.id)
    if bounds is None or bounds.min is None or bounds.max is None:
        return None
    if sum(each.byte_count for each in rows.rowsets) <= _WHOLE_BYTES:
        return None
    interval = Interval(column=first.id, low=bounds.min, high=bounds.max)
    return Region(intervals=(interval,), columns=(first,))


def _read(
    store: ObjectStore, rows: StaticRows, near: Region | None, columns: Sequence[SchemaField]
) -> ValuesByKey:
    keep = None if near is None else partial(prune, region_predicate(near))
    return _loaded(store, rows.prefix, rows.key, _met(rows, near), columns, keep)


def _loaded(
    store: ObjectStore,
    prefix: str,
    key: Sequence[SchemaField],
    rowsets: Sequence[LiveRowSet],
    columns: Sequence[SchemaField],
    keep: Keep | None,
) -> ValuesByKey:
    read = (*key, *columns)
    names = [str(at) for at in range(len(read))]
    ids = [each.id for each in key]
    parts = [
        pa.RecordBatch.from_arrays(batch.columns, names=names)
        for rowset in rowsets
        for batch in _live(store, prefix, rowset, read, keep, ids)
    ]
    if not parts:
        schema = arrow_schema(TableSchema(fields=tuple(columns)))
        return ValuesByKey(tuple(pa.nulls(0, each.type) for each in schema), None)
    whole = pa.Table.from_batches(parts).combine_chunks()
    arrays = [pa.concat_arrays(each.chunks) for each in whole.columns]
    keys = [comparable(each) for each in arrays[: len(key)]]
    return ValuesByKey(tuple(arrays[len(key) :]), KeyCodes.of(keys))


def _met(rows: StaticRows, near: Region | None) -> Sequence[LiveRowSet]:
    if near is None:
        return rows.rowsets
    statistics: list[dict[int, ColumnStatistics]] = [
        dict(each.entry.statistics) for each in rows.rowsets
    ]
    counts = [each.entry.rows for each in rows.rowsets]
    schema = TableSchema(fields=near.columns)
    found = meets(near, bounds_table(statistics, counts, schema, lambda at: f"RowSet {at}"))[0]
    return [rows.rowsets[at] for at in np.flatnonzero(found)]


def _live(
    store: ObjectStore,
    prefix: str,
    rowset: LiveRowSet,
    columns: Sequence[SchemaField],
    keep: Keep | None,
    keep_columns: Sequence[int],
) -> Iterator[pa.RecordBatch]:
    deleted = read_deleted(store, prefix, rowset)
    reader = StoredReader(store, prefix, rowset)
    for first, batch in reader.read(columns, keep=keep, keep_columns=keep_columns):
        if deleted is None:
            yield batch
        else:
            yield batch.filter(pa.array(deleted.keep_mask(first, batch.num_rows)))
