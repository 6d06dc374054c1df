"""Plan what a scan has to read, as a plain value.

A plan is made from a snapshot alone: RowSets are pruned by what the log knows, and no footer or
index is opened. It converts to JSON and back, so that any executor can run it. It contains
everything that its reader needs: row ranges between cuts, footer checks, deletion vectors and
inline bytes. The reader prunes blocks by the indexes of its own ranges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import field_serializer

from colonnade.manifests.arrays.bounds import BoundsTable, Keep
from colonnade.manifests.arrays.expired import without_expired_bounds
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import Count, RowCount, RowSetEntry
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import Model, SchemaField, TableSchema, without_metadata
from colonnade.manifests.model.statics import SUFFIX, static_fields
from colonnade.manifests.state.amendments import StaticRows
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.tableformat.partition.prune import partition_test
from colonnade.tableformat.predicate import (
    BoundPredicate,
    Predicate,
    bind,
    from_json,
    prune,
    to_json,
)
from colonnade.tableformat.rowset.column import check_names
from colonnade.tableformat.scan.order import RowOrder


class RowSetScan(Model):
    """The part of one RowSet that a plan reads: ascending row ranges that begin and end at cuts."""

    rowset: LiveRowSet
    ranges: tuple[tuple[Count, RowCount], ...]

    @property
    def row_count(self) -> int:
        """The number of rows in the ranges, deleted rows included."""
        return sum(end - start for start, end in self.ranges)

    @property
    def byte_count(self) -> int:
        """Estimated stored bytes of the ranges, over all columns."""
        rowset = self.rowset
        return max(1, rowset.byte_count * self.row_count // rowset.entry.rows)


class ScanPlan(Model):
    """The RowSets to read, in order, and how to treat their rows.

    `projection` names the columns to return, and `table_schema` has all columns at the epoch.
    `predicate` is the JSON form of the filter that every returned row meets. `order` is the order
    of the returned rows; None means that RowSets are read one after another. `statics` says where
    the values of static columns are, if the plan reads any.
    """

    table: str
    prefix: str
    epoch: Count
    table_schema: TableSchema
    projection: tuple[str, ...]
    predicate: Any = None
    order: RowOrder | None = None
    rowsets: tuple[RowSetScan, ...]
    statics: StaticsPlan | None = None

    @property
    def known_rows(self) -> int | None:
        """The number of rows that a plan of whole RowSets returns, or None if a read must tell."""
        if self.predicate is not None or not all(each.rowset.is_counted for each in self.rowsets):
            return None
        return sum(each.rowset.row_count for each in self.rowsets)

    @field_serializer("table_schema")
    def _whole_schema(self, schema: TableSchema) -> dict[str, Any]:
        # `to_json` leaves defaults out, and the tags of nested types are among them.
        return schema.model_dump(mode="json")

    def to_json(self) -> str:
        """Return the plan for the jar, and for tasks in Python, as one JSON object.

        Values of RowSets that are the defaults, such as empty amendments, are left out.
        """
        return self.model_dump_json(exclude_defaults=True)

    @classmethod
    def from_json(cls, text: str) -> ScanPlan:
        """Read a plan that `to_json` has written. Raises pydantic's ValidationError."""
        plan = cls.model_validate_json(text)
        if plan.statics is None:
            return plan
        rows = plan.statics.rows()
        found = tuple(
            each.model_copy(update={"rowset": _with_statics(each.rowset, rows)})
            for each in plan.rowsets
        )
        return plan.model_copy(update={"rowsets": found})

    @property
    def output_schema(self) -> TableSchema:
        """The columns that the scan returns, in order."""
        return self.table_schema.select(self.projection)

    @property
    def byte_count(self) -> int:
        """Estimated stored bytes of all ranges of the plan, over all columns."""
        return sum(each.byte_count for each in self.rowsets)

    def bound_predicate(self) -> BoundPredicate | None:
        """Return the filter, resolved against the table's columns."""
        if self.predicate is None:
            return None
        return bind(from_json(self.predicate), self.table_schema)


class StaticsPlan(Model):
    """Where the static values are that a plan reads.

    `scan` reads them from the table of static values. Its columns `key` are the partition key.
    """

    key: tuple[str, ...]
    scan: ScanPlan

    def rows(self) -> StaticRows:
        """Return the place of the rows, as the RowSets of a plan carry it."""
        scan = self.scan
        key = scan.table_schema.select(self.key).fields
        return StaticRows(scan.prefix, key, tuple(each.rowset for each in scan.rowsets))


def rowset_filter(table: TableState, predicate: Predicate | None) -> Keep | None:
    """Return a function that says by bounds and partitions which RowSets may match; None for all.

    Raises InvalidInputError when the predicate does not fit the table's columns.
    """
    if predicate is None:
        return None
    bound = bind(predicate, table.schema)
    test = partition_test(bound, table)

    def keep(bounds: BoundsTable) -> NDArray[np.bool_]:
        found = prune(bound, without_expired_bounds(table, bounds))
        if test is not None and bounds.partitions is not None:
            found &= bounds.partitions.where(test)
        return found

    return keep


def plan_scan(
    table: TableState,
    epoch: int,
    rowsets: Iterable[LiveRowSet],
    columns: Sequence[str] | None = None,
    predicate: Predicate | None = None,
    order: RowOrder | None = None,
) -> ScanPlan:
    """Plan to read `columns` (None: all) of `rowsets`, which the caller has pruned.

    `order` is the order of the rows, if one is wanted (`key_order`). Raises NotFoundError for an
    unknown column. Raises InvalidInputError for a column that is named twice, and when `columns` is
    not a list of names.
    """
    names = table.schema.names
    if columns is not None:
        names = table.schema.select(check_names(columns, "columns")).names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidInputError(f"Column {twice!r} is asked for more than once; name it once.")
    begins = () if order is None else (order.fields[0].column,)
    found = tuple(rowsets)
    statics = _statics(table, epoch, found, names, predicate)
    if statics is not None:
        begins = (*begins, table.schema.field(statics.key[0]).id)
        key = table.schema.select(statics.key).fields
        found = tuple(_keyed_by(each, key) for each in found)
    return ScanPlan(
        table=table.name,
        prefix=table.prefix,
        epoch=epoch,
        table_schema=without_metadata(table.schema),
        projection=names,
        predicate=None if predicate is None else to_json(predicate),
        order=order,
        rowsets=tuple(
            RowSetScan(
                rowset=_with_bounds(rowset, begins),
                ranges=((0, rowset.entry.rows),),
            )
            for rowset in found
        ),
        statics=statics,
    )


def _statics(
    table: TableState,
    epoch: int,
    rowsets: Sequence[LiveRowSet],
    names: Collection[str],
    predicate: Predicate | None,
) -> StaticsPlan | None:
    """Return the static values that a plan of RowSets reads; None if it reads no static column."""
    if not rowsets or not static_fields(table.schema):
        return None
    filtered = frozenset[int]() if predicate is None else bind(predicate, table.schema).column_ids
    wanted = [
        each for each in static_fields(table.schema) if each.name in names or each.id in filtered
    ]
    rows = rowsets[0].amendments.statics if wanted else None
    if rows is None:
        return None
    key = key_fields(table.partition_key, table.schema)
    plain = (each.model_copy(update={"static": None}) for each in wanted)
    schema = TableSchema(fields=(*key, *plain))
    bounds = (key[0].id,)
    scan = ScanPlan(
        table=table.name + SUFFIX,
        prefix=rows.prefix,
        epoch=epoch,
        table_schema=without_metadata(schema),
        projection=schema.names,
        rowsets=tuple(
            RowSetScan(rowset=_with_bounds(each, bounds), ranges=((0, each.entry.rows),))
            for each in rows.rowsets
        ),
    )
    return StaticsPlan(key=tuple(each.name for each in key), scan=scan)


def _with_statics(rowset: LiveRowSet, rows: StaticRows) -> LiveRowSet:
    return replace(rowset, amendments=replace(rowset.amendments, statics=rows))


def _keyed_by(rowset: LiveRowSet, key: tuple[SchemaField, ...]) -> LiveRowSet:
    """Return a RowSet whose static values have the partition key as a plan reads it.

    Its types differ from those of the table if the plan has the columns of another epoch.
    """
    rows = rowset.amendments.statics
    return (
        rowset if rows is None or rows.key == key else _with_statics(rowset, replace(rows, key=key))
    )


def _with_bounds(rowset: LiveRowSet, columns: Collection[int]) -> LiveRowSet:
    """Return a RowSet with the bounds of some columns alone.

    The other bounds were used for pruning. A task needs only the locations of bytes, and the least
    key of each RowSet if it merges rows.
    """
    kept = {each: found for each, found in rowset.entry.statistics.items() if each in columns}
    return replace(rowset, entry=rowset.entry.model_copy(update={"statistics": kept}))


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
    return [plan.model_copy(update={"rowsets": tuple(share)}) for share in shares]


def divide_plan(plan: ScanPlan, count: int, *, apart: bool = False) -> list[ScanPlan]:
    """Divide a plan into at most `count` plans of similar stored bytes, keeping the row order.

    With `apart`, no plan reads more than one RowSet, which may take more plans. A plan without
    RowSets returns an empty list.
    """
    if count == 1 and not apart:
        return [plan] if plan.rowsets else []
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
    return [plan.model_copy(update={"rowsets": _joined(share)}) for share in shares.values()]


def divide_by_rowset(plan: ScanPlan, count: int) -> list[ScanPlan]:
    """Divide a plan into `count` plans of whole RowSets, some of which may have none.

    Plan i reads the RowSets whose ids leave the remainder i when divided by `count`, by their ids.
    """
    shares: list[list[RowSetScan]] = [[] for _ in range(count)]
    for each in sorted(plan.rowsets, key=lambda scan: scan.rowset.id):
        shares[each.rowset.id % count].append(each)
    return [plan.model_copy(update={"rowsets": tuple(share)}) for share in shares]


def _joined(pieces: Iterable[RowSetScan]) -> tuple[RowSetScan, ...]:
    """Join adjacent pieces of a RowSet, so that its footer is read once."""
    joined: list[RowSetScan] = []
    for piece in pieces:
        if joined and joined[-1].rowset.id == piece.rowset.id:
            *ranges, (start, end) = (*joined[-1].ranges, *piece.ranges)
            if ranges and ranges[-1][1] == start:
                ranges[-1] = (ranges[-1][0], end)
            else:
                ranges.append((start, end))
            joined[-1] = piece.model_copy(update={"ranges": tuple(ranges)})
        else:
            joined.append(piece)
    return tuple(joined)


def cut_rows(entry: RowSetEntry) -> list[int]:
    """Return the cuts of a RowSet from 0 to its row count, both included."""
    if isinstance(entry.cuts, tuple):
        return [0, *entry.cuts]
    return [*range(0, entry.rows, entry.cuts), entry.rows]


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
                yield whole.model_copy(update={"ranges": ((start, cut),)})
                start = cut
