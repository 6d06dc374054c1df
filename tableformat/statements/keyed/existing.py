"""Existing rows with the keys of incoming rows, from one state of their table to later ones.

Each RowSet is read once. Of the keys 7, 8 and 9, after an update of the row with the key 9:

    follow(state 4)    7 is row 2 of RowSet 0, 8 is nowhere, 9 is row 0 of RowSet 1: all have moved
    follow(state 5)    9 is row 0 of RowSet 2: it alone has moved
    follow(state 6)    a compaction has made RowSet 3 of RowSet 0: 7 alone has moved

Deletions that the table remembers are followed in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.arrays.origins import NEW, Rows, origins_of
from colonnade.manifests.commit.change import DeletedRows
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import RowSetView, View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.expired_rows import are_expired
from colonnade.tableformat.keys.find import MatchingRows, find_rows
from colonnade.tableformat.keys.key_parts import KeyPart
from colonnade.tableformat.keys.tombstones import find_deletions
from colonnade.tableformat.statements.keyed.incoming import IncomingRows, Integers

Mask = NDArray[np.bool_]

_Values = tuple[int | str, ...]
"""A RowSet, and the objects that hold its values."""

_NOWHERE = -1

_NO_ROWS: Mapping[int, FrozenBitMap] = {}


class ExistingRows:
    """The existing rows of the keys of a part; at first, no key has a row.

    A row that has expired at `now_ms` is replaced, and its key does not count as there.
    """

    def __init__(self, store: ObjectStore, part: KeyPart, now_ms: int | None = None) -> None:
        self._store, self._now_ms, self._keys = store, now_ms, part.keys
        count = len(part.firsts)
        self._rowset = np.full(count, _NOWHERE, np.int64)
        self._row = np.full(count, _NOWHERE, np.int64)
        self._expired = np.zeros(count, np.bool_)
        self._known: list[_Values] = []
        self._numbers: dict[_Values, int] = {}
        self._view: View | None = None
        self._live: dict[_Values, RowSetView] = {}

    @property
    def is_there(self) -> Mask:
        """Which keys have a row that has not expired."""
        return np.asarray((self._rowset != _NOWHERE) & ~self._expired, np.bool_)

    @property
    def expired_count(self) -> int:
        """The number of keys whose row has expired."""
        return int(self._expired.sum())

    def follow(
        self,
        table: TableState,
        view: View,
        leaving: Mapping[int, FrozenBitMap] = _NO_ROWS,
    ) -> Mask:
        """Find the keys in a view of a state. Returns which of them have moved.

        The view has the RowSets that may have one of the keys. Rows in `leaving`, by RowSet id, do
        not count. A row that stays where it is, with the same values, has not moved. Raises
        CorruptionError, StoreError.
        """
        live = {_values(each): view.of_rowset(each) for each in view.rowsets}
        changed = [each for each in view.rowsets if self._live.get(v := _values(each)) != live[v]]
        again = {_values(each) for each in changed}
        gone = [i for i, each in enumerate(self._known) if each in again or each not in live]
        before = self._rowset.copy(), self._row.copy()
        lost = np.isin(self._rowset, gone)
        self._rowset[lost] = self._row[lost] = _NOWHERE
        self._expired[lost] = False
        for found in find_rows(self._store, view.of(changed), self._keys):
            gone_rows = np.asarray(leaving.get(found.rowset.id, FrozenBitMap()).to_array())
            stays = ~np.isin(found.rows, gone_rows)
            keys = found.keys[stays]
            self._rowset[keys] = self._number(_values(found.rowset))
            rows = self._row[keys] = found.rows[stays]
            self._expired[keys] = are_expired(self._store, table, found.rowset, rows, self._now_ms)
        self._live, self._view = live, view
        return np.asarray((self._rowset != before[0]) | (self._row != before[1]), np.bool_)

    def origins(self, keys: Integers) -> Rows:
        """Return which row each new row replaces, given the number of its key; else `NEW`."""
        origins = np.full(len(self._row), NEW, np.int64)
        for each in self._rows(np.arange(len(self._row)), self.is_there):
            origins[each.keys] = origins_of(each.rowset.id, each.rows)
        return origins[keys]

    def matching(self, keys: Mask) -> list[MatchingRows]:
        """Return the rows of some keys by RowSet. The chosen keys are numbered without gaps."""
        return self._rows(np.cumsum(keys) - 1, keys & self.is_there)

    def replaced(self, table: str) -> tuple[DeletedRows, ...]:
        """Return the rows of all keys as rows that a merge replaces, also those that expired."""
        numbers, stored = np.arange(len(self._row)), self._rowset != _NOWHERE
        return tuple(
            DeletedRows(table, each.rowset, "merge", BitMap(each.rows))
            for each in self._rows(numbers, stored)
        )

    def _rows(self, numbers: Integers, keys: Mask) -> list[MatchingRows]:
        rows = []
        for rowset in np.flatnonzero(np.bincount(self._rowset[keys])).tolist():
            chosen = np.flatnonzero(keys & (self._rowset == rowset))
            chosen = chosen[np.argsort(self._row[chosen])]
            live, *_ = self._live[self._known[rowset]]
            assert self._view is not None, "A row was found in a view."
            rows.append(MatchingRows(self._view, live, self._row[chosen], numbers[chosen]))
        return rows

    def _number(self, values: _Values) -> int:
        if values not in self._numbers:
            self._numbers[values] = len(self._known)
            self._known.append(values)
        return self._numbers[values]


def _values(rowset: LiveRowSet) -> _Values:
    objects = (each.object for each in rowset.replacements)
    return (rowset.id, rowset.entry.object, *objects)


class LateRows:
    """Which rows of a part are older than a deletion of their key: the mask `late`, at first none.

    Spec: docs/spec/keys.md#tombstones
    """

    def __init__(self, store: ObjectStore, incoming: IncomingRows, part: KeyPart) -> None:
        policy = incoming.policy
        wanted = policy.row_sequence if policy.remembers_deletions else None
        self._store, self._incoming, self._part = store, incoming, part
        self._sequence = next((each for each in incoming.schema.fields if each.id == wanted), None)
        self._known: tuple[str, ...] = ()
        self.late = np.zeros(part.rows.num_rows, np.bool_)

    def follow(self, table: TableState, tombstones: Sequence[LiveRowSet]) -> bool:
        """Compare the rows with the deletions of a state. Returns whether `late` has changed.

        `tombstones` are the RowSets of tombstones that may have one of the keys. Reads nothing if
        none of them is new. Raises CorruptionError, StoreError.
        """
        known = tuple(each.entry.object for each in tombstones)
        if self._sequence is None or known == self._known:
            return False
        part = self._part
        found = find_deletions(self._store, table, tombstones, part.keys, self._sequence)
        late, rows = np.zeros_like(self.late), part.rows_of(found.keys)
        if len(rows):
            late[rows] = found.late(part.numbers[rows], self._sequence_of(rows))
        self._known, before = known, self.late
        self.late = late
        return not np.array_equal(late, before)

    def _sequence_of(self, rows: Integers) -> pa.Array:
        assert self._sequence is not None
        values = self._incoming.read(self._part, rows)[self._sequence.name].combine_chunks()
        # Rows without the column are the oldest, whatever its default is.
        has_values = self._sequence.id in self._incoming.columns
        return values if has_values else pa.nulls(len(values), values.type)
