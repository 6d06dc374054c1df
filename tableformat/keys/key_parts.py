"""The keys of all rows of some RowSets, in parts that fit into memory.

Equal keys are in one part. Of three rows with the keys 7, 9 and 7 in RowSets 0 and 1, which are
one part, `key_parts` returns

    rows      7, 9, 7                    the keys of all rows, as they arrived
    places    (0, 0), (0, 1), (1, 0)     the RowSet and the row in it
    numbers   0, 1, 0                    a number for each distinct key
    firsts    0, 1                       the first row of each key
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import BoundsTable
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.once import once
from colonnade.manifests.state.snapshot import LiveRowSet, TableState, as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.kept_keys import read_key_hashes
from colonnade.tableformat.keys.key_set import (
    KeySet,
    check_values,
    key_numbers,
    key_range,
    ordered_values,
)
from colonnade.tableformat.keys.parts import Words, key_hashes, part_count, part_of
from colonnade.tableformat.predicate import BoundPredicate, bind, prune
from colonnade.tableformat.predicate.expressions import conjunction
from colonnade.tableformat.rowset.deleted_rows import read_deleted
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.write.constraints import shown_values

Integers = NDArray[np.int64]

Places = tuple[Integers, Integers]
"""Rows by the numbers of their RowSets among those that were read, and their numbers therein."""


@dataclass(frozen=True, eq=False)
class KeyPart:
    """A part of the keys of some rows: all rows whose key is in that part, as they arrived.

    `rows` has the columns of `key`, and `places` says where each row is. `numbers` has the number
    of each row's key, and `firsts` the first row of each key.
    """

    key: TableSchema
    rows: pa.Table
    places: Places
    numbers: Integers
    firsts: Integers

    @classmethod
    def of(cls, key: TableSchema, rows: pa.Table, places: Places) -> KeyPart:
        """Number the keys of rows. Raises InvalidInputError for NULL or NaN in a key column."""
        return cls(key, rows, places, *key_numbers(rows, key))

    @once
    def keys(self) -> KeySet:
        """The distinct keys, in the order of their numbers."""
        return self.key_set(self.firsts)

    @property
    def repeated(self) -> Integers:
        """The rows with the key of an earlier row."""
        return np.setdiff1d(np.arange(self.rows.num_rows), self.firsts)

    def key_set(self, rows: Integers) -> KeySet:
        """Return the keys of some rows, of which no two share one."""
        return KeySet.of(self.rows.take(pa.array(rows)), self.key)

    def rows_of(self, keys: Integers) -> Integers:
        """Return all rows that have one of some keys, given by their numbers."""
        return np.flatnonzero(np.isin(self.numbers, keys))

    def without(self, rows: NDArray[np.bool_]) -> KeyPart:
        """Return the part without the rows that a mask names."""
        left = np.flatnonzero(~rows)
        places = self.places[0][left], self.places[1][left]
        return KeyPart.of(self.key, self.rows.take(pa.array(left)), places)

    def text(self, row: int) -> str:
        """Return the key of a row for an error."""
        batch = self.rows.slice(row, 1).combine_chunks().to_batches()[0]
        return shown_values(batch, 0, batch.schema.names)


def keys_of_parts(key: TableSchema, rows: Iterable[tuple[KeyPart, Integers]]) -> KeySet:
    """Return the keys of some rows of parts, of which no two share one."""
    tables = [part.rows.take(pa.array(numbers)) for part, numbers in rows]
    return KeySet.of(pa.concat_tables(tables), key)


def key_parts(
    store: ObjectStore, view: View, key: TableSchema, only: Collection[int] | None = None
) -> Iterator[KeyPart]:
    """Yield the keys of the live rows of a view: all parts, or those with some numbers.

    `key` has the key columns of a state of the table. Reads them once for each part, and holds
    those of one part. Raises InvalidInputError for NULL or NaN in a key column, CorruptionError,
    StoreError.
    """
    parts = part_count(sum(each.row_count for each in view.rowsets))
    for part in range(parts) if only is None else only:
        rowsets, numbers = [np.zeros(0, np.int64)], list[Integers]([np.zeros(0, np.int64)])
        batches: list[pa.RecordBatch] = []
        for at, rowset in enumerate(view.rowsets):
            for rows, batch in _live_keys(store, view, rowset, key):
                if parts > 1:
                    own = np.flatnonzero(part_of(batch, parts) == part)
                    rows, batch = rows[own], batch.take(pa.array(own))
                rowsets.append(np.full(len(rows), at))
                numbers.append(rows)
                batches.append(batch)
        places = np.concatenate(rowsets), np.concatenate(numbers)
        yield KeyPart.of(key, pa.Table.from_batches(batches, arrow_schema(key)), places)


def _live_keys(
    store: ObjectStore, view: View, rowset: LiveRowSet, key: TableSchema
) -> Iterator[tuple[Integers, pa.RecordBatch]]:
    deleted = read_deleted(store, view, rowset)
    for first_row, batch in RowSetReader(store, view, rowset).read(key.fields):
        rows = np.arange(batch.num_rows)
        if deleted is not None and deleted.count_between(first_row, batch.num_rows):
            rows = np.flatnonzero(deleted.keep_mask(first_row, batch.num_rows))
            batch = batch.take(pa.array(rows))
        yield first_row + rows, batch


@dataclass(frozen=True, slots=True)
class RepeatedKey:
    """A key of several rows: its values as text, the number of rows, and the RowSets of these."""

    text: str
    rows: int
    rowsets: tuple[LiveRowSet, ...]


def repeated_keys(store: ObjectStore, view: View, key: TableSchema) -> Iterator[RepeatedKey]:
    """Yield the keys that several live rows of a view share. Costs and raises as `key_parts`."""
    for part in key_parts(store, view, key):
        counts = np.bincount(part.numbers)
        for number in np.flatnonzero(counts > 1).tolist():
            where = np.unique(part.places[0][part.numbers == number]).tolist()
            yield RepeatedKey(
                part.text(int(part.firsts[number])),
                int(counts[number]),
                tuple(view.rowsets[at] for at in where),
            )


class WrittenKeys:
    """The keys of written RowSets, which are compared with one state of a table after another.

    `key` has the key columns of a state of the table. One part is held. Of more parts, eight bytes
    a row are held, and the keys are read again when they are needed: once for each part. Hashes of
    all keys tell which RowSets may have which parts of the keys. Otherwise each comparison would
    read all keys again, a busy table would get new RowSets meanwhile, and the statement would never
    reach its slot. Methods raise InvalidInputError for NaN in a key column, CorruptionError,
    StoreError.
    """

    def __init__(
        self,
        store: ObjectStore,
        table: TableState,
        key: TableSchema,
        written: Sequence[RowSetEntry],
    ) -> None:
        self._store, self._key = store, key
        self._view = View.stored(table, map(as_written, written))
        self._parts = part_count(sum(entry.rows for entry in written))

    def __iter__(self) -> Iterator[KeyPart]:
        """Yield all keys, part by part."""
        return iter([self._held]) if self._parts == 1 else self._read(range(self._parts))

    def near(self, rowsets: Sequence[LiveRowSet]) -> Iterator[tuple[KeyPart, Sequence[LiveRowSet]]]:
        """Yield the parts of which some RowSets may have keys, each with these RowSets.

        Reads all keys of the RowSets if the written keys are more than one part.
        """
        if self._parts == 1:
            yield self._held, rowsets
            return
        near = defaultdict[int, list[LiveRowSet]](list)
        for rowset in rowsets:
            for part in self._parts_of(rowset):
                near[part].append(rowset)
        yield from zip(self._read(near), near.values(), strict=True)

    def may_match(self, bounds: BoundsTable) -> NDArray[np.bool_]:
        """Return a mask of the RowSets or blocks whose bounds allow one of the keys."""
        return self._held.keys.may_match(bounds) if self._parts == 1 else prune(self._range, bounds)

    @property
    def surely_differ(self) -> bool:
        """Whether one look at many keys tells that all of them differ; False if they are few."""
        hashes = self._hashes if self._parts > 1 else None
        return hashes is not None and not bool((hashes[1:] == hashes[:-1]).any())

    def _parts_of(self, rowset: LiveRowSet) -> list[int]:
        reader = RowSetReader(self._store, self._view, rowset)
        asked = read_key_hashes(reader, self._key.fields).hashes
        at = np.minimum(np.searchsorted(self._hashes, asked), len(self._hashes) - 1)
        found = asked[self._hashes[at] == asked]
        return sorted(set((found % np.uint64(self._parts)).tolist()))

    def _read(self, parts: Sequence[int] | dict[int, list[LiveRowSet]]) -> Iterator[KeyPart]:
        return key_parts(self._store, self._view, self._key, list(parts))

    @once
    def _held(self) -> KeyPart:
        """All keys, which are one part."""
        [only] = self._read([0])
        return only

    @property
    def _hashes(self) -> Words:
        """The hashes of all keys, in order."""
        return self._summary[0]

    @property
    def _range(self) -> BoundPredicate:
        """A condition that all keys meet."""
        return self._summary[1]

    @once
    def _summary(self) -> tuple[Words, BoundPredicate]:
        hashes: list[Words] = []
        ends: list[list[pa.Scalar]] = [[] for _ in self._key.fields]
        for rowset in self._view.rowsets:
            reader = RowSetReader(self._store, self._view, rowset)
            for _, batch in reader.read(self._key.fields):
                for field, column, seen in zip(self._key.fields, batch.columns, ends, strict=True):
                    check_values(field, column)
                    seen += pc.min_max(ordered_values(field, column)).values()
                hashes.append(key_hashes(batch))
        found = np.concatenate(hashes)
        found.sort()
        ranges = (
            key_range(field, pa.array(seen))
            for field, seen in zip(self._key.fields, ends, strict=True)
        )
        return found, bind(conjunction(ranges), self._key)
