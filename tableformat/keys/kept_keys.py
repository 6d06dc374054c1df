"""Keys of RowSets that this process has read, so that it finds further keys without a read.

Random keys are in all blocks of a large table. Each of its upserts would read and decode the key
columns of the whole table. A RowSet never changes, so its keys are kept as sorted numbers instead.

A key of whole numbers, dates or times is one number: its distance from the least key that the
bounds of the RowSet allow. Numbers of 4 bytes are enough for most RowSets. Of other keys, hashes of
8 bytes are kept. They say which RowSets need not be read, and not where a row is.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.candidates import whole_numbers
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.keys.parts import Words, key_hashes
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.view.key_codes import comparable
from colonnade.tableformat.rowset.write_options import MIB

LIMIT_BYTES = 256 * MIB
"""The most memory of all kept keys of a process."""

_RECENT_SEARCHES = 4
"""Keys that one of the last `_RECENT_SEARCHES` searches has used do not make room for others.

Otherwise a table whose keys do not fit would push them all out in each search.
"""

Integers = NDArray[np.int64]
_Numbers = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, slots=True)
class _Numbering:
    """How the values of some columns become one number, which has their order.

    `lows` are the least values of the columns, and `spans` how many values each of them may have.
    """

    lows: tuple[int, ...]
    spans: tuple[int, ...]
    dtype: type[np.unsignedinteger[Any]]

    @classmethod
    def of(cls, bounds: Sequence[tuple[int, int]]) -> _Numbering | None:
        """Return a numbering of the values within bounds; None if 8 bytes are not enough."""
        spans = tuple(high - low + 1 for low, high in bounds)
        count = 1
        for span in spans:
            count *= span
        if count > 2**64:
            return None
        lows, dtype = tuple(low for low, _ in bounds), np.uint32 if count <= 2**32 else np.uint64
        return cls(lows, spans, dtype)

    def numbers(self, columns: Sequence[Integers]) -> _Numbers:
        """Return the number of each row. Requires values within the bounds."""
        total: NDArray[np.uint64] | None = None
        for values, low, span in zip(columns, self.lows, self.spans, strict=True):
            # Modulo 2**64, in which all these numbers are exact.
            place = values.view(np.uint64) - np.uint64(low % 2**64)
            total = place if total is None else total * np.uint64(span % 2**64) + place
        assert total is not None
        return total.astype(self.dtype, copy=False)

    def inside(self, columns: Sequence[Integers]) -> NDArray[np.bool_]:
        """Return which rows have values within the bounds."""
        inside = np.ones(len(columns[0]), np.bool_)
        for values, low, span in zip(columns, self.lows, self.spans, strict=True):
            inside &= (values >= low) & (values <= low + span - 1)
        return inside

    def has_all(self, columns: Sequence[Integers]) -> bool:
        """Return whether all rows, at least one, have values within the bounds."""
        return all(
            low <= int(values.min()) and int(values.max()) < low + span
            for values, low, span in zip(columns, self.lows, self.spans, strict=True)
        )


@dataclass(frozen=True, eq=False)
class RowSetKeys:
    """The keys of all stored rows of a RowSet as ascending numbers.

    `rows` has the row of each number; None means that the rows are in the order of the numbers.
    """

    numbering: _Numbering
    numbers: _Numbers
    rows: NDArray[np.uint32] | None

    @property
    def nbytes(self) -> int:
        """The memory that they take."""
        return self.numbers.nbytes + (0 if self.rows is None else self.rows.nbytes)

    def find(self, columns: Sequence[Integers], places: Integers) -> tuple[Integers, Integers]:
        """Return the rows that have one of some ascending keys, in order, and the place of each.

        `columns` has the values of the keys, and `places` a number for each key.
        """
        inside = self.numbering.inside(columns)
        wanted, places = self.numbering.numbers([c[inside] for c in columns]), places[inside]
        first = np.searchsorted(self.numbers, wanted, side="left")
        found = np.flatnonzero(self.numbers[np.minimum(first, len(self.numbers) - 1)] == wanted)
        first, wanted, places = first[found], wanted[found], places[found]
        counts = np.searchsorted(self.numbers, wanted, side="right") - first
        starts = np.repeat(first - (np.cumsum(counts) - counts), counts)
        at, places = starts + np.arange(int(counts.sum())), np.repeat(places, counts)
        if self.rows is None:
            return at, places
        rows = self.rows[at].astype(np.int64)
        order = np.argsort(rows)
        return rows[order], places[order]


@dataclass(frozen=True, eq=False)
class RowSetHashes:
    """Ascending hashes of the keys of all stored rows of a RowSet, without those with NULL."""

    hashes: Words

    @property
    def nbytes(self) -> int:
        """The memory that they take."""
        return self.hashes.nbytes

    def may_hold(self, asked: Words) -> bool:
        """Return whether a row may have a key with one of some hashes."""
        if not len(self.hashes):
            return False
        at = np.searchsorted(self.hashes, asked)
        return bool((self.hashes[np.minimum(at, len(self.hashes) - 1)] == asked).any())


def read_key_hashes(reader: RowSetReader, fields: Sequence[SchemaField]) -> RowSetHashes:
    """Read the keys of a whole RowSet, and return their hashes.

    Raises CorruptionError, StoreError.
    """
    parts: list[Words] = [np.zeros(0, np.uint64)]
    for _, batch in reader.read(fields):
        whole = batch.drop_null()
        columns = [comparable(column) for column in whole.columns]
        parts.append(key_hashes(pa.RecordBatch.from_arrays(columns, names=batch.schema.names)))
    return RowSetHashes(np.unique(np.concatenate(parts)))


def read_all_keys(
    reader: RowSetReader, rowset: LiveRowSet, fields: Sequence[SchemaField]
) -> RowSetKeys | None:
    """Read the keys of a whole RowSet; None for keys that are not kept.

    Raises CorruptionError, StoreError.
    """
    numbering = _numbering_of(reader, fields)
    if numbering is None or rowset.entry.rows * np.dtype(numbering.dtype).itemsize > LIMIT_BYTES:
        return None
    numbers: _Numbers = np.empty(rowset.entry.rows, numbering.dtype)
    for first_row, batch in reader.read(fields):
        found = (whole_numbers(comparable(column)) for column in batch.columns)
        columns = [each for each in found if each is not None]
        if len(columns) < len(fields) or not numbering.has_all(columns):
            return None
        numbers[first_row : first_row + batch.num_rows] = numbering.numbers(columns)
    if bool((numbers[1:] >= numbers[:-1]).all()):
        return RowSetKeys(numbering, numbers, None)
    order = np.argsort(numbers, kind="stable")
    return RowSetKeys(numbering, numbers[order], order.astype(np.uint32))


def _numbering_of(reader: RowSetReader, fields: Sequence[SchemaField]) -> _Numbering | None:
    statistics = reader.statistics(fields)
    bounds = []
    for field in fields:
        found = statistics[field.id]
        if type(found.low) is not int or type(found.high) is not int or found.nulls:
            return None
        bounds.append((found.low, found.high))
    return _Numbering.of(bounds)


class KeptKeys:
    """The keys of RowSets, up to a number of bytes. Any thread may call it."""

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self._limit = limit_bytes
        self._lock = threading.Lock()
        self._search = 0
        self.byte_count = 0
        self._kept: OrderedDict[tuple[object, ...], _CacheEntry] = OrderedDict()

    def begin_search(self) -> None:
        """Tell that the RowSets of a table are searched."""
        with self._lock:
            self._search += 1

    def get(
        self, store: ObjectStore, rowset: LiveRowSet, keys: KeySet
    ) -> RowSetKeys | RowSetHashes | None:
        """Return the keys of a RowSet, if they are kept."""
        name = _name(store, rowset, keys)
        with self._lock:
            found = self._kept.get(name)
            if found is None or found.is_gone:
                return None
            found.search = self._search
            self._kept.move_to_end(name)
            return found.keys

    def keep(
        self,
        store: ObjectStore,
        rowset: LiveRowSet,
        keys: KeySet,
        found: RowSetKeys | RowSetHashes,
    ) -> None:
        """Keep the keys of a RowSet, if there is room beside those that were used lately."""
        name = _name(store, rowset, keys)
        with self._lock:
            self._drop(name)
            if self._has_room(found.nbytes):
                only = weakref.ref(store) if _is_alone(store) else None
                self._kept[name] = _CacheEntry(found, self._search, only)
                self.byte_count += found.nbytes

    def _has_room(self, byte_count: int) -> bool:
        """Make room for keys, if those that make room were not used lately."""
        while self.byte_count + byte_count > self._limit:
            # The first keys are those that were used the longest ago.
            name, kept = next(iter(self._kept.items()), (None, None))
            if name is None or kept is None or kept.search + _RECENT_SEARCHES >= self._search:
                return False
            self._drop(name)
        return True

    def _drop(self, name: tuple[object, ...]) -> None:
        kept = self._kept.pop(name, None)
        self.byte_count -= kept.keys.nbytes if kept is not None else 0


@dataclass(slots=True)
class _CacheEntry:
    """Kept keys, the search that has used them last, and the only store that may use them."""

    keys: RowSetKeys | RowSetHashes
    search: int
    only: weakref.ref[ObjectStore] | None

    @property
    def is_gone(self) -> bool:
        return self.only is not None and self.only() is None


def _is_alone(store: ObjectStore) -> bool:
    """Return whether another store of the same address has other objects, as one in memory has."""
    return store.url.startswith("memory:")


def _name(store: ObjectStore, rowset: LiveRowSet, keys: KeySet) -> tuple[object, ...]:
    """Return what tells the stored values of key columns from all others.

    Names of objects are random, so an address never gets another RowSet of the same name.
    """
    return (
        id(store) if _is_alone(store) else store.address,
        rowset.entry.object,
        tuple(each.object for each in rowset.replacements),
        tuple((field.id, str(field.type)) for field in keys.fields),
    )
