"""The keys of the rows that a statement adds, in RowSets that are written and not visible yet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.commit.change import KeyGuard
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, TableState, as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.find import find_rows, stored_rows
from colonnade.tableformat.keys.key_numbers import key_numbers
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.keys.parts import part_count, part_of
from colonnade.tableformat.keys.policy import ON_DUPLICATE
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.constraints import shown_values

Places = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Rows by the numbers of their RowSets among the written ones, and their numbers therein."""


@dataclass(frozen=True)
class NewKeys:
    """A part of the keys: all rows whose key is in that part.

    `rows` has the key columns of each row in order of arrival, `places` says where it is.
    `numbers` has the number of each row's key, and `firsts` the first row of each key. `keys` has
    the keys, in the order of their numbers.
    """

    rows: pa.Table
    places: Places
    numbers: NDArray[np.int64]
    firsts: NDArray[np.int64]
    keys: KeySet

    @property
    def repeated(self) -> NDArray[np.int64]:
        """The rows with the key of an earlier row."""
        return np.setdiff1d(np.arange(self.rows.num_rows), self.firsts)

    def rows_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return all rows that have one of some keys, given by their numbers."""
        return np.flatnonzero(np.isin(self.numbers, keys))

    def without(self, gone: NDArray[np.bool_], key: TableSchema) -> NewKeys:
        """Return the part without some of its rows. `key` has the key columns."""
        left = np.flatnonzero(~gone)
        rows = self.rows.take(pa.array(left))
        numbers, firsts = key_numbers(rows, key)
        keys = KeySet.of(rows.take(pa.array(firsts)), key)
        return NewKeys(rows, (self.places[0][left], self.places[1][left]), numbers, firsts, keys)

    def shown(self, row: int) -> str:
        """Return the key of a row for an error."""
        batch = self.rows.slice(row, 1).combine_chunks().to_batches()[0]
        return shown_values(batch, 0, batch.schema.names)


def key_schema(table: TableState) -> TableSchema:
    """Return the columns of the primary key of a table, in its order."""
    return TableSchema(fields=key_fields(table.primary_key, table.schema))


def taken_key(table: TableState, key: TableSchema, shown: str, who: str) -> InvalidInputError:
    """Return the refusal of a key, `shown` as text. `who` begins the words on its other row."""
    names = ", ".join(field.name for field in key.fields)
    return InvalidInputError(
        f"The primary key ({names}) of table {table.name!r} allows a key once, but {who} the key"
        f" {shown}; write other keys, or choose what {ON_DUPLICATE} does with such rows."
    )


def new_keys(
    store: ObjectStore,
    table: TableState,
    key: TableSchema,
    written: Sequence[RowSetEntry],
    only: Collection[int] | None = None,
) -> Iterator[NewKeys]:
    """Yield the keys of written RowSets, part by part: all parts, or those with some numbers.

    `key` has the key columns of a state of the table. Rows arrive in the order of the RowSets.
    Reads the key columns once for each part, and holds those of one part. Raises InvalidInputError
    for NaN in a key column, CorruptionError, StoreError.
    """
    parts = part_count(sum(entry.rows for entry in written))
    for part in range(parts) if only is None else only:
        rowsets, numbers, batches = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], []
        for at, entry in enumerate(written):
            reader = RowSetReader(store, View.stored(table), as_written(entry))
            for first_row, batch in reader.read(key.fields):
                rows = np.arange(batch.num_rows)
                if parts > 1:
                    rows = np.flatnonzero(part_of(batch, parts) == part)
                    batch = batch.take(pa.array(rows))
                rowsets.append(np.full(len(rows), at))
                numbers.append(first_row + rows)
                batches.append(batch)
        all_rows = pa.Table.from_batches(batches, arrow_schema(key))
        codes, firsts = key_numbers(all_rows, key)
        keys = KeySet.of(all_rows.take(pa.array(firsts)), key)
        places = np.concatenate(rowsets), np.concatenate(numbers)
        yield NewKeys(all_rows, places, codes, firsts, keys)


def key_guard(
    store: ObjectStore,
    table: TableState,
    key: TableSchema,
    parts: Callable[[Sequence[LiveRowSet]], Iterable[tuple[NewKeys, Sequence[LiveRowSet]]]],
    check: Callable[[TableState], None] | None = None,
    *,
    heeds_deletions: bool = False,
) -> KeyGuard:
    """Return a guard that makes a commit fail if a concurrent writer has added one of some keys.

    `parts` returns the keys, whose columns `key` are compared by the ids that they have now. Each
    part of them comes with those of the given RowSets that may have one of its keys.
    `check` refuses a table whose rules for keys have changed. A guard that `heeds_deletions` also
    fails if a concurrent writer has deleted one of the keys with a tombstone.
    """

    def meets(rowsets: Sequence[LiveRowSet]) -> list[LiveRowSet]:
        found: list[LiveRowSet] = []
        for part, near in parts(rowsets) if rowsets else ():
            view = View.stored(table, near)
            found += (each.rowset for each in find_rows(store, view, part.keys))
            buried = [each for each in near if each.has_tombstones and heeds_deletions]
            found += (each for each in buried if len(stored_rows(store, view, each, part.keys)[0]))
        return found

    return KeyGuard(table.id, meets, frozenset(field.id for field in key.fields), check)
