"""The RowSets of a table that a query may need. Each is made into an object on demand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

import numpy as np

from colonnade.manifests.arrays.bounds import Bounds, BoundsFilter, concat_bounds
from colonnade.manifests.arrays.entry_block import Entries
from colonnade.manifests.arrays.json_arrays import Integers
from colonnade.manifests.arrays.partitions import Partitions, concat_partitions
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import bound_prefix
from colonnade.manifests.once import once
from colonnade.manifests.state.snapshot import LiveRowSet

Which: TypeAlias = Literal["live", "tombstones", "all"]
"""RowSets with live rows, RowSets of tombstones, or both."""


class EntryTable(Sequence[LiveRowSet]):
    """RowSets, ordered by id. Every array has one element for each RowSet."""

    ids: Integers
    """RowSet ids, ascending."""
    rows: Integers
    """The numbers of stored rows, including deleted ones."""
    deleted: Integers
    """The numbers of rows that deletion vectors delete."""
    byte_counts: Integers
    """Stored bytes."""

    def __init__(
        self, parts: Sequence[Entries], may_match: BoundsFilter | None = None, which: Which = "all"
    ) -> None:
        """Prune `parts` with `may_match`, and order the remaining RowSets by id."""
        self._parts: tuple[Entries, ...] = tuple(parts)
        self._chosen = [_chosen(part, _kept(part, may_match), which) for part in parts]
        ids = _join([part.ids[rows] for part, rows in zip(parts, self._chosen, strict=True)])
        self._order = np.argsort(ids, kind="stable")
        self.ids = ids[self._order]
        self.rows = self._arranged(part.rows for part in parts)
        self.deleted = self._arranged(part.deleted for part in parts)
        self.byte_counts = self._arranged(part.byte_counts for part in parts)
        numbers = np.repeat(np.arange(len(parts)), [len(rows) for rows in self._chosen])
        self._part = numbers[self._order]
        self._row = _join(self._chosen)[self._order]

    def _arranged(self, arrays: Iterable[Integers]) -> Integers:
        """Select the chosen elements of an array of each part, ordered by RowSet id."""
        parts = zip(arrays, self._chosen, strict=True)
        return _join([array[rows] for array, rows in parts])[self._order]

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> LiveRowSet:  # type: ignore[override]
        """Return one RowSet, a new object at each call. Use the arrays instead of slices."""
        part = self._parts[int(self._part[index])]
        return part.live(np.array([self._row[index]]))[0]

    @once
    def epochs(self) -> Integers:
        """The epochs that added the RowSets."""
        return self._arranged(part.epochs for part in self._parts)

    @once
    def sort_orders(self) -> Integers:
        """The numbers of the sort orders that the RowSets were written in."""
        return self._arranged(part.sort_orders for part in self._parts)

    def __iter__(self) -> Iterator[LiveRowSet]:
        return iter(self.to_list())

    def bounds(self, column: SchemaField) -> Bounds:
        """Return the bounds of a column, ordered by RowSet id."""
        prefix = bound_prefix(column.type)
        parts = [part.bounds().of(column.id, prefix) for part in self._parts]
        lengths = [len(part.ids) for part in self._parts]
        return concat_bounds(parts, lengths, prefix).take(self._kept_places())

    def partitions(self) -> Partitions:
        """Return the partitions of the RowSets, ordered by RowSet id."""
        whole = concat_partitions([part.partitions() for part in self._parts])
        return whole.take(self._kept_places())

    def _kept_places(self) -> Integers:
        """Return the indexes of the RowSets in the concatenation of all parts."""
        starts = np.cumsum([0, *(len(part.ids) for part in self._parts[:-1])])
        kept = _join([s + rows for s, rows in zip(starts, self._chosen, strict=False)])
        return kept[self._order]

    def object_ids(self) -> list[str]:
        """Return the ids of all objects of all RowSets (pruned ones too) and their vectors."""
        return [name for part in self._parts for name in part.object_ids()]

    def to_list(self) -> list[LiveRowSet]:
        """Return all RowSets. Cheaper than one call for each."""
        return self.at(np.arange(len(self)))

    def at(self, indexes: Integers) -> list[LiveRowSet]:
        """Return the RowSets at these indexes. Cheaper than one call for each."""
        rowsets: list[LiveRowSet | None] = [None] * len(indexes)
        for number, part in enumerate(self._parts):
            places = np.flatnonzero(self._part[indexes] == number)
            found = part.live(self._row[indexes[places]])
            for place, rowset in zip(places.tolist(), found, strict=True):
                rowsets[place] = rowset
        return [rowset for rowset in rowsets if rowset is not None]


def _kept(part: Entries, may_match: BoundsFilter | None) -> Integers:
    if may_match is None or not len(part.ids):
        return np.arange(len(part.ids))
    return np.flatnonzero(may_match(part.bounds()))


def _chosen(part: Entries, rowsets: Integers, which: Which) -> Integers:
    if which == "all":
        return rowsets
    buried = part.deleted[rowsets] == part.rows[rowsets]
    return np.asarray(rowsets[buried if which == "tombstones" else ~buried], np.int64)


def _join(arrays: Sequence[Integers]) -> Integers:
    return np.concatenate([np.zeros(0, np.int64), *arrays])
