"""The picker's view of RowSets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import Bounds, bound_array
from colonnade.manifests.arrays.entry_table import EntryTable
from colonnade.manifests.arrays.json_arrays import Integers
from colonnade.manifests.arrays.partitions import NO_PARTITION, PartitionKey, Partitions
from colonnade.manifests.model.statistics import LOG_BOUND_LENGTH, Bound, value_after
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.state.sort_order import following_orders


@dataclass(frozen=True, slots=True, eq=False)
class CompactionFacts:
    """RowSets, ordered by id. Every array has one element for each RowSet.

    `rows` counts stored rows, and `deleted` the deleted ones among them. For a sorted table,
    `first` and `last` are the range of the first key column as ranks: numbers in the order of the
    keys. If `partitions` is None, all RowSets have the same partition. `earlier_order` marks
    RowSets whose rows are not in the order of the present sort key; None means that there are none.
    """

    ids: Integers
    rows: Integers
    deleted: Integers
    byte_counts: Integers
    first: Integers | None = None
    last: Integers | None = None
    partitions: Partitions | None = None
    earlier_order: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def by_partition(self) -> list[tuple[PartitionKey, CompactionFacts]]:
        """Divide the RowSets by partition."""
        if self.partitions is None:
            return [(NO_PARTITION, self)]
        order = np.argsort(self.partitions.index, kind="stable")
        ends = np.cumsum(np.bincount(self.partitions.index)).tolist()
        pairs = zip(self.partitions.keys, pairwise((0, *ends)), strict=False)
        return [(key, self.take(order[start:end])) for key, (start, end) in pairs]

    def take(self, rows: Integers) -> CompactionFacts:
        """Return the RowSets at these indexes."""
        return CompactionFacts(
            self.ids[rows],
            self.rows[rows],
            self.deleted[rows],
            self.byte_counts[rows],
            None if self.first is None else self.first[rows],
            None if self.last is None else self.last[rows],
            None if self.partitions is None else self.partitions.take(rows),
            earlier_order=None if self.earlier_order is None else self.earlier_order[rows],
        )

    @property
    def live_bytes(self) -> Integers:
        """The approximate stored bytes of the live rows of each RowSet, at least one."""
        shares = (self.rows - self.deleted) / self.rows
        return np.maximum(1, (self.byte_counts * shares).astype(np.int64))


def facts_of(table: TableState, entries: EntryTable) -> CompactionFacts:
    """Return what the log knows about some RowSets of a table."""
    first = last = None
    if table.sort_key:
        column = table.schema.by_id(table.sort_key[0].column)
        first, last = _ranks(entries.bounds(column), entries.rows)
        if table.sort_key[0].descending:
            first, last = -last, -first
    return CompactionFacts(
        entries.ids,
        entries.rows,
        entries.deleted,
        entries.byte_counts,
        first,
        last,
        entries.partitions() if table.partition_layouts else None,
        _in_earlier_order(table, entries),
    )


def _in_earlier_order(table: TableState, entries: EntryTable) -> NDArray[np.bool_] | None:
    if len(table.sort_orders) == 1:
        return None
    return ~np.isin(entries.sort_orders, list(following_orders(table)))


def _ranks(bounds: Bounds, rows: Integers) -> tuple[Integers, Integers]:
    """Return key ranges as ranks. NULL has rank 0, and NaN the highest rank.

    An unknown range reaches from rank 0 to the highest.
    """
    known = np.flatnonzero(bounds.known)
    low, high = bounds.low[known], bounds.high[known]
    if high.dtype == object:
        high = bound_array([_last(*ends) for ends in zip(low, high, strict=True)])
    values, ranks = np.unique(np.concatenate([low, high]), return_inverse=True)
    beyond = len(values) + 1
    first, last = np.full(len(rows), beyond, np.int64), np.zeros(len(rows), np.int64)
    first[known], last[known] = np.split(ranks.reshape(-1) + 1, 2)
    counted = (bounds.nulls >= 0) & (bounds.nans >= 0)
    open_ended = ~bounds.known & ~(counted & (bounds.nulls + bounds.nans >= rows))
    first[(bounds.nulls != 0) | open_ended] = 0
    last[(bounds.nans != 0) | open_ended] = beyond
    return first, last


def _last(low: Bound, high: Bound) -> Bound:
    """Return the end of a key range. The range is a point if all keys begin with the same cut text.

    The log cuts long texts. Without this rule, RowSets of such keys would seem to overlap in any
    order, and each run would merge them again.
    """
    if not isinstance(low, str | bytes) or len(low) < LOG_BOUND_LENGTH:
        return high
    return low if high == value_after(low) else high
