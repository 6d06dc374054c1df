"""RowSets as the picker sees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manifests.bounds import Bounds
from manifests.entry_table import EntryTable
from manifests.snapshot import TableState
from manifests.vectors import Integers


@dataclass(frozen=True, slots=True, eq=False)
class RowSetFacts:
    """RowSets in the order of their ids; every array has one element for each.

    `rows` are stored, `deleted` of them are gone. For a sorted table `first` and `last` are the
    ends of the range of its first key column, as ranks: any numbers that compare as the keys do.
    """

    ids: Integers
    rows: Integers
    deleted: Integers
    byte_counts: Integers
    first: Integers | None = None
    last: Integers | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def live_bytes(self) -> Integers:
        """About how many bytes the rows take that are left, at least one."""
        shares = (self.rows - self.deleted) / self.rows
        return np.maximum(1, (self.byte_counts * shares).astype(np.int64))


def facts_of(table: TableState, entries: EntryTable) -> RowSetFacts:
    """What the log knows about some RowSets of a table."""
    first = last = None
    if table.sort_key:
        first, last = _ranks(entries.bounds(table.sort_key[0].column), entries.rows)
        if table.sort_key[0].descending:
            first, last = -last, -first
    return RowSetFacts(entries.ids, entries.rows, entries.deleted, entries.byte_counts, first, last)


def _ranks(bounds: Bounds, rows: Integers) -> tuple[Integers, Integers]:
    """Key ranges by rank: NULL is 0, NaN above all values, and what is unknown may be both."""
    known = np.flatnonzero(bounds.known)
    values, ranks = np.unique(
        np.concatenate([bounds.low[known], bounds.high[known]]), return_inverse=True
    )
    beyond = len(values) + 1
    first, last = np.full(len(rows), beyond, np.int64), np.zeros(len(rows), np.int64)
    first[known], last[known] = np.split(ranks.reshape(-1) + 1, 2)
    counted = (bounds.nulls >= 0) & (bounds.nans >= 0)
    open_ended = ~bounds.known & ~(counted & (bounds.nulls + bounds.nans >= rows))
    first[(bounds.nulls != 0) | open_ended] = 0
    last[(bounds.nans != 0) | open_ended] = beyond
    return first, last
