"""Plan what a scan has to read, as a plain value.

A plan is made from a snapshot alone: RowSets are pruned by what the log knows, and no footer or
index is opened. It converts to JSON and back, so that any executor can run it. It contains
everything that its reader needs: row ranges between cuts, footer checks, deletion vectors and
inline bytes. The reader prunes blocks by the indexes of its own ranges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, TypeAdapter

from colonnade.manifests.arrays.bounds import BoundsFilter, BoundsTable
from colonnade.manifests.arrays.expired_regions import without_expired_bounds
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.entries import Count, RowCount, RowSetEntry, RowSetNumber
from colonnade.manifests.model.schema import CLOSED, TableSchema, without_metadata
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import Statics, View
from colonnade.tableformat.partition.prune import partition_test
from colonnade.tableformat.predicate import (
    BoundPredicate,
    Predicate,
    bind,
    from_json,
    prune,
    to_json,
)
from colonnade.tableformat.rowset.column import asked_columns
from colonnade.tableformat.scan.order import RowOrder

Ranges = tuple[tuple[Count, RowCount], ...]
"""Ascending rows (first, end) that begin and end at cuts."""


@dataclass(frozen=True, slots=True)
class RowSetScan:
    """The part of one RowSet that a plan reads."""

    rowset: LiveRowSet
    ranges: Ranges

    @classmethod
    def whole(cls, rowset: LiveRowSet) -> RowSetScan:
        """Return the scan of all rows of a RowSet."""
        return cls(rowset, ((0, rowset.entry.rows),))

    @property
    def row_count(self) -> int:
        """The number of rows in the ranges, deleted rows included."""
        return sum(end - start for start, end in self.ranges)

    @property
    def byte_count(self) -> int:
        """Estimated stored bytes of the ranges, over all columns."""
        rowset = self.rowset
        return max(1, rowset.byte_count * self.row_count // rowset.entry.rows)


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """A view of the RowSets to read, in order, and how to treat their rows.

    `epoch` is that of the state that the user reads. `projection` names the columns to return, and
    `predicate` is the JSON form of the filter that every returned row meets. `order` is the order
    of the returned rows; None means that RowSets are read one after another. `ranges` has the rows
    to read, by id, of the RowSets that are not read whole.
    """

    __pydantic_config__: ClassVar[ConfigDict] = CLOSED

    view: View
    epoch: Count
    projection: tuple[str, ...]
    predicate: Any = None
    order: RowOrder | None = None
    ranges: Mapping[RowSetNumber, Ranges] = field(default_factory=dict)

    @property
    def rowsets(self) -> tuple[RowSetScan, ...]:
        """The RowSets to read, in order, each with the rows to read."""
        return tuple(
            RowSetScan(each, self.ranges[each.id])
            if each.id in self.ranges
            else RowSetScan.whole(each)
            for each in self.view.rowsets
        )

    def of(self, parts: Iterable[RowSetScan], **changes: Any) -> ScanPlan:
        """Return the plan that reads some parts of its RowSets alone, with changes of its fields.

        Adjacent parts of a RowSet are joined, so that its footer is read once.
        """
        rowsets: dict[int, LiveRowSet] = {}
        ranges: dict[int, Ranges] = {}
        for part in parts:
            number, (start, end), *others = part.rowset.id, *part.ranges
            *before, last = ranges.get(number, ((start, start),))
            joined = ((last[0], end),) if last[1] == start else (last, (start, end))
            rowsets[number] = part.rowset
            ranges[number] = (*before, *joined, *others)
        some = {
            number: each
            for number, each in ranges.items()
            if each != ((0, rowsets[number].entry.rows),)
        }
        view = self.view.of(rowsets.values())
        return replace(self, view=view, ranges=some, **changes)

    @property
    def table(self) -> str:
        """The name of the table."""
        return self.view.table

    @property
    def known_rows(self) -> int | None:
        """The number of rows that a plan of whole RowSets returns, or None if a read must tell."""
        if self.predicate is not None or self.view.hidden:
            return None
        return sum(each.row_count for each in self.view.rowsets)

    def to_json(self) -> str:
        """Return the plan for the jar, and for tasks in Python, as one JSON object.

        Values that are the defaults are left out.
        """
        return _json().dump_json(self, exclude_defaults=True).decode()

    @classmethod
    def from_json(cls, text: str) -> ScanPlan:
        """Read a plan that `to_json` has written. Raises pydantic's ValidationError."""
        return _json().validate_json(text)

    @property
    def output_schema(self) -> TableSchema:
        """The columns that the scan returns, in order."""
        return self.view.columns.select(self.projection)

    @property
    def byte_count(self) -> int:
        """Estimated stored bytes of all ranges of the plan, over all columns."""
        return sum(each.byte_count for each in self.rowsets)

    def bound_predicate(self) -> BoundPredicate | None:
        """Return the filter, resolved against the table's columns."""
        if self.predicate is None:
            return None
        return bind(from_json(self.predicate), self.view.columns)


@cache
def _json() -> TypeAdapter[ScanPlan]:  # A plan that stays in its process needs none.
    return TypeAdapter(ScanPlan)


def rowset_filter(table: TableState, predicate: Predicate | None) -> BoundsFilter | None:
    """Return a function that says by bounds and partitions which RowSets may match; None for all.

    Raises InvalidInputError when the predicate does not fit the table's columns.
    """
    if predicate is None:
        return None
    bound = bind(predicate, table.schema)
    test = partition_test(bound, table)

    def may_match(bounds: BoundsTable) -> NDArray[np.bool_]:
        found = prune(bound, without_expired_bounds(table, bounds))
        if test is not None and bounds.partitions is not None:
            found &= bounds.partitions.where(test)
        return found

    return may_match


def plan_scan(
    view: View,
    epoch: int,
    columns: Sequence[str] | None = None,
    predicate: Predicate | None = None,
    order: RowOrder | None = None,
) -> ScanPlan:
    """Plan to read `columns` (None: all) of the RowSets of a view, which the caller has pruned.

    `order` is the order of the rows, if one is wanted (`key_order`). Raises as `asked_columns`.
    """
    asked = view.columns if columns is None else asked_columns(view.columns, columns)
    names = asked.names
    begins = () if order is None else (order.fields[0].column,)
    statics = _statics(view, names, predicate)
    if statics is not None:
        begins = (*begins, statics.key[0].id)
    needed = replace(
        view,
        columns=without_metadata(view.columns),
        rowsets=_with_bounds(view.rowsets, begins),
        statics=statics,
    )
    return ScanPlan(
        view=needed,
        epoch=epoch,
        projection=names,
        predicate=None if predicate is None else to_json(predicate),
        order=order,
    )


def _statics(view: View, names: Collection[str], predicate: Predicate | None) -> Statics | None:
    """Return the static values that a plan reads; None if it reads no static column."""
    if view.statics is None:
        return None
    filtered = frozenset[int]() if predicate is None else bind(predicate, view.columns).column_ids
    wanted = [
        each for each in static_fields(view.columns) if each.name in names or each.id in filtered
    ]
    if not wanted:
        return None
    # The key has the types of the plan, which may have the columns of another epoch.
    key = tuple(view.columns.by_id(each.id) for each in view.statics.key)
    plain = (each.model_copy(update={"static": None}) for each in wanted)
    found = replace(
        view.statics.view,
        columns=without_metadata(TableSchema(fields=(*key, *plain))),
        rowsets=_with_bounds(view.statics.view.rowsets, (key[0].id,)),
    )
    return Statics(key, found)


def _with_bounds(rowsets: Iterable[LiveRowSet], columns: Collection[int]) -> tuple[LiveRowSet, ...]:
    """Return RowSets with the bounds of some columns alone.

    The other bounds were used for pruning. A task needs only the locations of bytes, and the least
    key of each RowSet if it merges rows.
    """
    return tuple(
        replace(
            each,
            entry=each.entry.model_copy(
                update={
                    "statistics": {c: s for c, s in each.entry.statistics.items() if c in columns}
                }
            ),
        )
        for each in rowsets
    )


def split_plan(plan: ScanPlan, target_bytes: int) -> list[ScanPlan]:
    """Divide a plan into plans of about `target_bytes` stored bytes, keeping the row order.

    Small RowSets share a plan, and a large one is divided between cuts. Returns at least one plan.
    """
    shares: list[list[RowSetScan]] = [[]]
    filled = 0
    for piece in (p for each in plan.rowsets for p in _pieces(each, target_bytes)):
        if filled and filled + piece.byte_count > target_bytes:
            shares.append([])
            filled = 0
        shares[-1].append(piece)
        filled += piece.byte_count
    return [plan.of(share) for share in shares]


def divide_plan(plan: ScanPlan, count: int, *, apart: bool = False) -> list[ScanPlan]:
    """Divide a plan into at most `count` plans of similar stored bytes, keeping the row order.

    With `apart`, no plan reads more than one RowSet, which may take more plans. A plan without
    RowSets returns an empty list.
    """
    if count == 1 and not apart:
        return [plan] if plan.view.rowsets else []
    target = max(1, plan.byte_count // (16 * count))  # pieces this small keep shares similar
    pieces = [piece for each in plan.rowsets for piece in _pieces(each, target)]
    total = sum(piece.byte_count for piece in pieces)
    shares: dict[tuple[int, int], list[RowSetScan]] = {}
    before = 0
    for piece in pieces:
        middle = before + piece.byte_count // 2
        share = (middle * count // total, piece.rowset.id if apart else 0)
        shares.setdefault(share, []).append(piece)
        before += piece.byte_count
    return [plan.of(share) for share in shares.values()]


def divide_by_rowset(plan: ScanPlan, count: int) -> list[ScanPlan]:
    """Divide a plan into `count` plans of whole RowSets, some of which may have none.

    Plan i reads the RowSets whose ids leave the remainder i when divided by `count`, by their ids.
    """
    shares: list[list[RowSetScan]] = [[] for _ in range(count)]
    for each in sorted(plan.rowsets, key=lambda scan: scan.rowset.id):
        shares[each.rowset.id % count].append(each)
    return [plan.of(share) for share in shares]


def cut_rows(entry: RowSetEntry) -> list[int]:
    """Return the cuts of a RowSet from 0 to its row count, both included."""
    if isinstance(entry.cuts, tuple):
        return [0, *entry.cuts]
    return [*range(0, entry.rows, entry.cuts), entry.rows]


def stretches(whole: RowSetScan) -> Iterator[RowSetScan]:
    """Yield the parts of a RowSet that lie between two cuts, in order. Costs no I/O."""
    return _pieces(whole, 1)


def _pieces(whole: RowSetScan, target_bytes: int) -> Iterator[RowSetScan]:
    """Divide the ranges of one RowSet between cuts into pieces of at most `target_bytes`."""
    if whole.byte_count <= target_bytes:
        yield whole
        return
    entry = whole.rowset.entry
    rows_wanted = max(1, target_bytes * entry.rows // whole.rowset.byte_count)
    cuts = cut_rows(entry)
    for first, last in whole.ranges:
        start = first
        for cut, following in pairwise([*(c for c in cuts if first < c < last), last, last]):
            if following - start > rows_wanted or cut == last:
                yield RowSetScan(whole.rowset, ((start, cut),))
                start = cut
