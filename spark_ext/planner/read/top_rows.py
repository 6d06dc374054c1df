"""Choose the RowSets that may hold the first rows of a table, with or without an order; pure.

Spark sorts and limits the rows again. A RowSet is left out only if none of its rows can be among
the first rows. Deleted rows are not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import bound_prefix, decode_bound
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View


@dataclass(frozen=True, slots=True)
class ColumnOrder:
    """An order by one column, with NaN as the greatest value; other columns may break ties."""

    field: SchemaField
    descending: bool
    nulls_first: bool


def first_rows(view: View, count: int) -> View:
    """Return the view of the first RowSets that together have at least `count` rows."""
    totals = accumulate((_certain_rows(view, each) for each in view.rowsets), initial=0)
    found = zip(view.rowsets, totals, strict=False)
    return view.of(rowset for rowset, before in found if before < count)


def top_rows(view: View, order: ColumnOrder, count: int) -> View:
    """Return the view of the RowSets that may hold one of the first `count` rows in `order`."""
    ranges = [_Range.of(view, rowset, order) for rowset in view.rowsets]
    limit = _limit(ranges, order, count)
    if limit is None:
        return view
    return view.of(
        rowset
        for rowset, each in zip(view.rowsets, ranges, strict=True)
        if each is None or each.may_precede(limit, order)
    )


def _certain_rows(view: View, rowset: LiveRowSet) -> int:
    """Return a number of rows that a view shows at least."""
    return rowset.row_count if view.is_counted(rowset) else 0


@dataclass(frozen=True, slots=True)
class _Range:
    """The known range of the values of one RowSet; `first` and `last` are None without values.

    `certain` is a lower bound on the live values between `first` and `last`.
    """

    first: Any
    last: Any
    certain: int
    nulls: int
    nans: int

    @classmethod
    def of(cls, view: View, rowset: LiveRowSet, order: ColumnOrder) -> _Range | None:
        statistics = rowset.entry.statistics.get(order.field.id)
        if statistics is None or not _bounded(statistics, rowset.entry.rows):
            return None
        if view.is_masked(rowset, order.field):
            return None
        prefix = bound_prefix(order.field.type)
        low, high = (
            None if text is None else decode_bound(text, prefix)
            for text in (statistics.min, statistics.max)
        )
        first, last = (high, low) if order.descending else (low, high)
        certain = max(0, _certain_rows(view, rowset) - statistics.nulls - statistics.nans)
        return cls(first, last, certain, statistics.nulls, statistics.nans)

    def may_precede(self, limit: Any, order: ColumnOrder) -> bool:
        """Whether the RowSet may hold a row that sorts before, or equal to, the value `limit`."""
        if (self.nulls and order.nulls_first) or (self.nans and order.descending):
            return True
        if self.first is None:
            return False
        return bool(self.first >= limit if order.descending else self.first <= limit)


def _bounded(statistics: ColumnStatistics, rows: int) -> bool:
    if statistics.nulls + statistics.nans == rows:
        return True
    return statistics.min is not None and statistics.max is not None


def _limit(ranges: Sequence[_Range | None], order: ColumnOrder, count: int) -> Any:
    """Return a value that at least `count` rows certainly sort before or equal; None if none."""
    known = [each for each in ranges if each is not None and each.first is not None]
    known.sort(key=lambda each: each.last, reverse=order.descending)
    totals = accumulate(each.certain for each in known)
    return next((e.last for e, total in zip(known, totals, strict=True) if total >= count), None)
