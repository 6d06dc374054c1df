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
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from colonnade.manifests.arrays.bounds import BoundsFilter, bounds_table
from colonnade.manifests.arrays.region_bounds import meets
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.regions import Interval, Region
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.statistics import bound_prefix, decode_bound
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import Statics, View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.predicate import prune
from colonnade.tableformat.predicate.regions import region_predicate
from colonnade.tableformat.rowset.deleted_rows import read_deleted
from colonnade.tableformat.rowset.stored.reader import StoredReader
from colonnade.tableformat.rowset.view.key_codes import KeyCodes, comparable
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.types.arrow_types import arrow_schema

_KEPT_BYTES = 64 * MIB
"""The most memory of all static values that a process keeps."""

_KEPT_STATES = 64
"""The most tables, states and choices of columns whose static values a process keeps."""

_WHOLE_BYTES = 8 * MIB
"""A table of static values of at most as many stored bytes is read as a whole."""


class StaticColumns:
    """The static columns among the columns that a reader returns, and the keys that it reads."""

    def __init__(
        self,
        store: ObjectStore,
        statics: Statics | None,
        rowset: LiveRowSet,
        columns: Sequence[SchemaField],
    ) -> None:
        self._places = [at for at, column in enumerate(columns) if column.static]
        self._columns = columns
        self.added: tuple[SchemaField, ...] = ()
        """Columns of the partition key, which the reader reads beside those that it returns."""
        if self._places:
            assert statics is not None, "A view of static columns says where their values are."
            place = {column.id: at for at, column in enumerate(columns)}
            self.added = tuple(each for each in statics.key if each.id not in place)
            place.update((each.id, len(columns) + at) for at, each in enumerate(self.added))
            self._keys = [place[each.id] for each in statics.key]
            self._values = _KEPT.read(store, statics, rowset, [columns[at] for at in self._places])

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


class _Part(NamedTuple):
    """The static values of some keys; None: those of all keys."""

    near: Region | None
    values: ValuesByKey


class _Entry(NamedTuple):
    """Static values of some columns of a table at one state, the last used part last."""

    store: weakref.ref[ObjectStore]
    statics: Statics
    parts: list[_Part]
    turn: threading.Lock


class _ValueCache:
    """Static values that a process has read, up to a number of bytes. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[object, ...], _Entry] = OrderedDict()

    def read(
        self,
        store: ObjectStore,
        statics: Statics,
        rowset: LiveRowSet,
        columns: Sequence[SchemaField],
    ) -> ValuesByKey:
        """Return static values of all keys that a RowSet may have.

        One thread at a time reads those of a table, so that the others find what it has read.
        Raises CorruptionError, StoreError.
        """
        near = keys_near(statics, [rowset])
        state = tuple((each.id, each.row_count) for each in statics.view.rowsets)
        name = (id(store), statics.view.prefix, state, tuple(columns))
        with self._lock:
            turn = self._entry(name, store, statics).turn
        with turn:
            return self._read_in_turn(name, store, statics, near, columns)

    def _read_in_turn(
        self,
        name: tuple[object, ...],
        store: ObjectStore,
        statics: Statics,
        near: Region | None,
        columns: Sequence[SchemaField],
    ) -> ValuesByKey:
        with self._lock:
            parts = self._entry(name, store, statics).parts
            for at, part in enumerate(parts):
                if _covers(part.near, near):
                    parts.append(parts.pop(at))
                    return part.values
            near = _joined(statics, near, [part.near for part in parts])
        found = _read(store, statics, near, columns)
        with self._lock:
            parts = self._entry(name, store, statics).parts
            parts[:] = [part for part in parts if not _covers(near, part.near)]
            parts.append(_Part(near, found))
            self._forget()
        return found

    def _entry(self, name: tuple[object, ...], store: ObjectStore, statics: Statics) -> _Entry:
        entry = self._kept.pop(name, None)
        if entry is None or entry.store() is not store or entry.statics != statics:
            entry = _Entry(weakref.ref(store), statics, [], threading.Lock())
        # Rows that are the same object are compared fast, from the next RowSet on.
        self._kept[name] = entry._replace(statics=statics)
        return entry

    def _forget(self) -> None:
        kept = sum(part.values.nbytes for each in self._kept.values() for part in each.parts)
        while kept > _KEPT_BYTES or len(self._kept) > _KEPT_STATES:
            _, entry = next(iter(self._kept.items()))
            if entry.parts:
                kept -= entry.parts.pop(0).values.nbytes
            if not entry.parts:
                self._kept.popitem(last=False)


_KEPT = _ValueCache()


def read_values(
    store: ObjectStore, statics: Statics, columns: Sequence[SchemaField], may_match: BoundsFilter
) -> ValuesByKey:
    """Return static columns for all partition keys in the blocks that may match by their bounds.

    Raises CorruptionError, StoreError.
    """
    return _loaded(store, statics, statics.view.rowsets, columns, may_match)


def keys_near(statics: Statics, rowsets: Sequence[LiveRowSet]) -> Region | None:
    """Return the keys that RowSets of a table may have, as a range of the first column of the key.

    None means that all static values are to be read: they are few, or the keys are not known.
    """
    first = statics.key[0]
    if sum(each.byte_count for each in statics.view.rowsets) <= _WHOLE_BYTES:
        return None
    bounds = [each.entry.statistics.get(first.id) for each in rowsets]
    known = [each for each in bounds if each is not None and None not in (each.min, each.max)]
    if not known or len(known) < len(bounds):
        return None
    return _between(
        first, [Interval(column=first.id, low=each.min, high=each.max) for each in known]
    )


def _covers(wide: Region | None, narrow: Region | None) -> bool:
    """Whether a range of keys has all keys of another one; None is all keys."""
    if wide is None or narrow is None:
        return wide is None
    (low, high), (other_low, other_high) = _ends(wide), _ends(narrow)
    return bool(low <= other_low and other_high <= high)


def _joined(statics: Statics, near: Region | None, kept: Sequence[Region | None]) -> Region | None:
    """Return a range of keys that also has the kept ranges that overlap, if its values are few.

    Many small RowSets have almost the same keys. Without this, each would read the values again.
    """
    for other in kept:
        if near is None or other is None:
            return near
        (low, high), (other_low, other_high) = _ends(near), _ends(other)
        if low <= other_high and other_low <= high:
            wider = _between(near.columns[0], [near.intervals[0], other.intervals[0]])
            if sum(each.byte_count for each in rowsets_near(statics, wider)) <= 2 * _WHOLE_BYTES:
                near = wider
    return near


def _ends(near: Region) -> tuple[Any, Any]:
    return near.intervals[0].bounds(near.columns[0])


def _between(column: SchemaField, intervals: Sequence[Interval]) -> Region:
    """Return the least range of a column that has some ranges, which are bounded and closed."""
    lows = [each.low for each in intervals if each.low is not None]
    highs = [each.high for each in intervals if each.high is not None]
    value = partial(decode_bound, prefix=bound_prefix(column.type))
    interval = Interval(column=column.id, low=min(lows, key=value), high=max(highs, key=value))
    return Region(intervals=(interval,), columns=(column,))


def _read(
    store: ObjectStore, statics: Statics, near: Region | None, columns: Sequence[SchemaField]
) -> ValuesByKey:
    may_match = None if near is None else partial(prune, region_predicate(near))
    return _loaded(store, statics, rowsets_near(statics, near), columns, may_match)


def _loaded(
    store: ObjectStore,
    statics: Statics,
    rowsets: Sequence[LiveRowSet],
    columns: Sequence[SchemaField],
    may_match: BoundsFilter | None,
) -> ValuesByKey:
    key, view = statics.key, statics.view
    read = (*key, *columns)
    names = [str(at) for at in range(len(read))]
    ids = [each.id for each in key]
    parts = [
        pa.RecordBatch.from_arrays(batch.columns, names=names)
        for rowset in rowsets
        for batch in _live(store, view, rowset, read, may_match, ids)
    ]
    if not parts:
        schema = arrow_schema(TableSchema(fields=tuple(columns)))
        return ValuesByKey(tuple(pa.nulls(0, each.type) for each in schema), None)
    whole = pa.Table.from_batches(parts).combine_chunks()
    arrays = [pa.concat_arrays(each.chunks) for each in whole.columns]
    keys = [comparable(each) for each in arrays[: len(key)]]
    return ValuesByKey(tuple(arrays[len(key) :]), KeyCodes.of(keys))


def rowsets_near(statics: Statics, near: Region | None) -> Sequence[LiveRowSet]:
    """Return the RowSets of static values that may have keys of `keys_near`."""
    if near is None:
        return statics.view.rowsets
    statistics: list[dict[int, ColumnStatistics]] = [
        dict(each.entry.statistics) for each in statics.view.rowsets
    ]
    counts = [each.entry.rows for each in statics.view.rowsets]
    schema = TableSchema(fields=near.columns)
    found = meets(near, bounds_table(statistics, counts, schema, lambda at: f"RowSet {at}"))[0]
    return [statics.view.rowsets[at] for at in np.flatnonzero(found)]


def _live(
    store: ObjectStore,
    view: View,
    rowset: LiveRowSet,
    columns: Sequence[SchemaField],
    may_match: BoundsFilter | None,
    pruning_columns: Sequence[int],
) -> Iterator[pa.RecordBatch]:
    deleted = read_deleted(store, view, rowset)
    reader = StoredReader(store, view, rowset)
    for first, batch in reader.read(columns, may_match=may_match, pruning_columns=pruning_columns):
        if deleted is None:
            yield batch
        else:
            yield batch.filter(pa.array(deleted.keep_mask(first, batch.num_rows)))
