"""Where the rows with some keys are in a table, followed from one state to later ones.

Each RowSet is read once. A row that stays where it is, with the same values, has not moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.commit.change import DeletedRows
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.find import MatchingRows, find_rows
from colonnade.tableformat.keys.key_set import KeySet

Mask = NDArray[np.bool_]

_Values = tuple[str, ...]
"""The objects that hold the values of a RowSet."""

_NOWHERE = -1

_NO_ROWS: Mapping[int, FrozenBitMap] = {}


class KeyPlaces:
    """The places of `count` keys; at first, no key has a row."""

    def __init__(self, store: ObjectStore, keys: KeySet, count: int) -> None:
        self._store = store
        self._keys = keys
        self._rowset = np.full(count, _NOWHERE, np.int64)
        self._row = np.full(count, _NOWHERE, np.int64)
        self._known: list[_Values] = []
        self._live: dict[_Values, LiveRowSet] = {}

    @property
    def is_there(self) -> Mask:
        """Which keys have a row."""
        return np.asarray(self._rowset != _NOWHERE, np.bool_)

    def follow(
        self,
        table: TableState,
        rowsets: Sequence[LiveRowSet],
        leaving: Mapping[int, FrozenBitMap] = _NO_ROWS,
    ) -> Mask:
        """Find the keys in the RowSets of a state. Returns which of them have moved.

        `rowsets` are those that may have one of the keys. Rows in `leaving`, by RowSet id, do not
        count. Raises CorruptionError, StoreError.
        """
        live = {_values(each): each for each in rowsets}
        changed = [each for each in rowsets if self._live.get(_values(each)) != each]
        again = {_values(each) for each in changed}
        gone = [i for i, each in enumerate(self._known) if each in again or each not in live]
        before = self._rowset.copy(), self._row.copy()
        lost = np.isin(self._rowset, gone)
        self._rowset[lost] = self._row[lost] = _NOWHERE
        for found in find_rows(self._store, table, changed, self._keys):
            gone_rows = np.asarray(leaving.get(found.rowset.id, FrozenBitMap()).to_array())
            stays = ~np.isin(found.rows, gone_rows)
            keys = found.keys[stays]
            self._rowset[keys] = self._number(_values(found.rowset))
            self._row[keys] = found.rows[stays]
        self._live = live
        return np.asarray((self._rowset != before[0]) | (self._row != before[1]), np.bool_)

    def found(self, keys: Mask) -> list[MatchingRows]:
        """Return the rows of some keys by RowSet. The chosen keys are numbered without gaps."""
        numbers = np.cumsum(keys) - 1
        rows = []
        for rowset in np.unique(self._rowset[keys & self.is_there]).tolist():
            chosen = np.flatnonzero(keys & (self._rowset == rowset))
            chosen = chosen[np.argsort(self._row[chosen])]
            live = self._live[self._known[rowset]]
            rows.append(MatchingRows(live, self._row[chosen], numbers[chosen]))
        return rows

    def replaced(self, table: str) -> tuple[DeletedRows, ...]:
        """Return the rows of all keys as rows that a merge replaces."""
        every = np.ones(len(self._row), np.bool_)
        return tuple(
            DeletedRows(table, each.rowset, "merge", BitMap(each.rows))
            for each in self.found(every)
        )

    def _number(self, values: _Values) -> int:
        if values not in self._known:
            self._known.append(values)
        return self._known.index(values)


def _values(rowset: LiveRowSet) -> _Values:
    return (rowset.entry.object, *(each.object for each in rowset.amendments.replacements))
