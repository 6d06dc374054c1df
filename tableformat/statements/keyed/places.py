"""Where the rows with some keys are in a table, followed from one state to later ones.

Each RowSet is read once. A row that stays where it is, with the same values, has not moved.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.arrays.origins import NEW, Rows, origins_of
from colonnade.manifests.commit.change import DeletedRows
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import Shown, View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.expired import are_expired
from colonnade.tableformat.keys.find import MatchingRows, find_rows
from colonnade.tableformat.keys.key_set import KeySet

Mask = NDArray[np.bool_]

_Values = tuple[int | str, ...]
"""A RowSet, and the objects that hold its values."""

_NOWHERE = -1

_NO_ROWS: Mapping[int, FrozenBitMap] = {}


class KeyPlaces:
    """The places of `count` keys; at first, no key has a row.

    A row that has expired at `now_ms` is replaced, and its key does not count as there.
    """

    def __init__(
        self, store: ObjectStore, keys: KeySet, count: int, now_ms: int | None = None
    ) -> None:
        self._store, self._now_ms = store, now_ms
        self._keys = keys
        self._rowset = np.full(count, _NOWHERE, np.int64)
        self._row = np.full(count, _NOWHERE, np.int64)
        self._expired = np.zeros(count, np.bool_)
        self._known: list[_Values] = []
        self._numbers: dict[_Values, int] = {}
        self._view: View | None = None
        self._live: dict[_Values, Shown] = {}

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
        not count. Raises CorruptionError, StoreError.
        """
        live = {_values(each): view.shows(each) for each in view.rowsets}
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

    def origins(self, keys: NDArray[np.int64]) -> Rows:
        """Return which row each new row replaces, given the number of its key; else `NEW`."""
        origins = np.full(len(self._row), NEW, np.int64)
        for each in self._rows(np.arange(len(self._row)), self.is_there):
            origins[each.keys] = origins_of(each.rowset.id, each.rows)
        return origins[keys]

    def found(self, keys: Mask) -> list[MatchingRows]:
        """Return the rows of some keys by RowSet. The chosen keys are numbered without gaps."""
        return self._rows(np.cumsum(keys) - 1, keys & self.is_there)

    def _rows(self, numbers: NDArray[np.int64], keys: Mask) -> list[MatchingRows]:
        rows = []
        for rowset in np.flatnonzero(np.bincount(self._rowset[keys])).tolist():
            chosen = np.flatnonzero(keys & (self._rowset == rowset))
            chosen = chosen[np.argsort(self._row[chosen])]
            live, *_ = self._live[self._known[rowset]]
            assert self._view is not None, "A row was found in a view."
            rows.append(MatchingRows(self._view, live, self._row[chosen], numbers[chosen]))
        return rows

    def replaced(self, table: str) -> tuple[DeletedRows, ...]:
        """Return the rows of all keys as rows that a merge replaces, also those that expired."""
        numbers, stored = np.arange(len(self._row)), self._rowset != _NOWHERE
        return tuple(
            DeletedRows(table, each.rowset, "merge", BitMap(each.rows))
            for each in self._rows(numbers, stored)
        )

    def _number(self, values: _Values) -> int:
        if values not in self._numbers:
            self._numbers[values] = len(self._known)
            self._known.append(values)
        return self._numbers[values]


def _values(rowset: LiveRowSet) -> _Values:
    objects = (each.object for each in rowset.replacements)
    return (rowset.id, rowset.entry.object, *objects)
