"""Deletions of ranges: rows that the order of a table tells apart are deleted without being read.

Such a deletion is one entry in the log, whatever the number of its rows. RowSets that are wholly
inside are dropped in the same epoch. Readers hide the other rows until `clean` names them.
Spec: docs/spec/operations.md#range-tombstones
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from colonnade.manifests.arrays.bounds import bounds_table
from colonnade.manifests.arrays.hidden_rows import view_of
from colonnade.manifests.arrays.region_bounds import meets
from colonnade.manifests.commit.change import DeletedRows, TableRead
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.operations import AddRangeTombstone, ForgetRangeTombstones
from colonnade.manifests.model.partition_transforms import TRANSFORMS
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.range_tombstones import MOST_REGIONS, region_of
from colonnade.manifests.model.regions import Interval
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import View
from colonnade.tableformat.predicate import Predicate, bind
from colonnade.tableformat.predicate.exact_regions import Regions, exact_regions
from colonnade.tableformat.scan.plan import rowset_filter
from colonnade.tableformat.scan.selection import newly_hidden
from colonnade.tableformat.statements.statement import RowCounts, Statement

CLEAN = "clean"
"""The operation of epochs that name the rows of range tombstones by deletion vectors."""


def evaluate_range(
    log: StatementLog, table: TableState, where: Predicate, text: str | None = None
) -> Statement | None:
    """Return a statement that deletes the rows that meet `where` without reading them.

    Returns None where `where` is not exactly a range of the table, where the bounds in the log
    decide it for whole RowSets, and where the table would have more than 128 ranges. Rows that have
    expired are deleted, too, so a longer lifetime does not show them again. Reads the entries of
    the RowSets that may match, and no data. Raises InvalidInputError when `where` does not fit the
    columns; CorruptionError, StoreError.
    """
    if not is_range(table, where):
        return None
    bound, may_match = bind(where, table.schema), rowset_filter(table, where)
    regions = exact_regions(bound, table.schema)
    assert regions is not None
    rowsets = view_of(table, log.plain.rowsets.read(table, may_match), None).rowsets
    inside, edges = _divide(rowsets, regions, table)
    if not edges and not _hides_more(log, table, inside):
        return None
    return Statement(
        "delete",
        (AddRangeTombstone(table=table.id, regions=regions),) if edges else (),
        tuple(DeletedRows(table.id, each, "delete", None) for each in inside),
        # A tombstone also deletes the rows that concurrent writers add to its regions.
        reads=() if edges else (TableRead(table.id, may_match, bound.column_ids),),
        counts=RowCounts(
            rows_deleted=None, rowsets_touched=len(inside), ranges_deleted=len(regions)
        ),
        parameters={} if text is None else {"where": text},
    )


def _hides_more(log: StatementLog, table: TableState, rowsets: Sequence[LiveRowSet]) -> bool:
    """Return whether something of RowSets has expired when the statement sees them."""
    stored, seen = (view_of(table, rowsets, at) for at in (None, log.now_ms))
    return replace(seen, now_ms=None) != stored


def is_range(table: TableState, where: Predicate) -> bool:
    """Return whether the rows that meet `where` are ranges of a table that can be deleted unread.

    A table has at most 128 ranges at a time. Raises InvalidInputError when `where` does not
    fit the columns.
    """
    regions = exact_regions(bind(where, table.schema), table.schema)
    if not regions or not all(_is_leading(each, table) for each in regions):
        return False
    return sum(len(each.regions) for each in table.range_tombstones) + len(regions) <= MOST_REGIONS


def require_range(table: TableState, where: Predicate, text: str) -> None:
    """Raise InvalidInputError unless `where`, written as `text`, selects exactly ranges."""
    regions = exact_regions(bind(where, table.schema), table.schema)
    leading = dict.fromkeys(each for order in _orders(table) for each in order)
    names = ", ".join(table.schema.by_id(each).name for each in leading)
    rule = (
        "a range compares the leading columns of the sort key or primary key with values, all but"
        f" the last by =, and columns of the partitioning (here: {names or 'none'})"
    )
    if regions is None:
        ends = ", and it ends below NaN, which is above every number" if _has_floats(table) else ""
        raise InvalidInputError(
            f"{text!r} is not a range of table {table.name!r}, or more than {MOST_REGIONS:,} of"
            f" them: {rule}, with values that are not NULL or NaN{ends}, and all of these columns"
            " are NOT NULL; use delete, which reads rows."
        )
    if not all(_is_leading(each, table) for each in regions):
        raise InvalidInputError(
            f"{text!r} is not a range of table {table.name!r}, because it leaves out a leading"
            f" column, or compares another column: {rule}; use delete, which reads rows."
        )


def evaluate_clean(
    log: Log, table: TableState, only: Collection[int] | None = None
) -> Statement | None:
    """Return a statement that names all rows of range tombstones, and forgets the tombstones.

    With `only`, it names the rows of the RowSets with these ids, and forgets nothing. Returns None
    if there is nothing to do. Reads the columns of the tombstones where indexes do not decide them.
    Raises CorruptionError, StoreError.
    """
    if not table.range_tombstones:
        return None
    rowsets = log.rowsets.read(table)
    view = view_of(table, rowsets, None)
    shown = {each.id for each in view.rowsets}
    rows = [
        each
        for rowset in rowsets
        if (only is None or rowset.id in only)
        and (each := _hidden(log, table, rowset, view if rowset.id in shown else None))
    ]
    if only is not None and not rows:
        return None
    forget = ForgetRangeTombstones(table=table.id, through=table.range_tombstones[-1].epoch)
    return Statement(
        CLEAN,
        (forget,) if only is None else (),
        tuple(rows),
        reads=(),
        counts=RowCounts(rows_deleted=None, rowsets_touched=len(rows)),
    )


def _hidden(
    log: Log, table: TableState, rowset: LiveRowSet, view: View | None
) -> DeletedRows | None:
    """Return the rows of a RowSet that range tombstones delete, and that no vector names yet.

    A `view` of None hides all rows.
    """
    if view is None:
        return DeletedRows(table.id, rowset, "delete", None)
    gone = newly_hidden(log.store, view, rowset)
    return DeletedRows(table.id, rowset, "delete", gone) if gone else None


def _divide(
    rowsets: Sequence[LiveRowSet], regions: Regions, table: TableState
) -> tuple[list[LiveRowSet], list[LiveRowSet]]:
    """Return the RowSets wholly inside a region, and those that may have only some rows inside."""
    bounds = bounds_table(
        [each.entry.statistics for each in rowsets],
        [each.entry.rows for each in rowsets],
        table.schema,
        lambda index: f"RowSet {rowsets[index].entry.object}",
    )
    some = np.zeros(len(rowsets), np.bool_)
    every = some.copy()
    for intervals in regions:
        part, whole = meets(region_of(intervals, table.schema), bounds)
        some |= part
        every |= whole
    inside = [rowsets[at] for at in np.flatnonzero(every).tolist()]
    return inside, [rowsets[at] for at in np.flatnonzero(some & ~every).tolist()]


def _is_leading(region: Sequence[Interval], table: TableState) -> bool:
    """Return whether a region is a range in an order of the table, in some of its partitions."""
    sides = {each.column: each for each in region}
    partitions = _partition_columns(table)
    rest = {column: side for column, side in sides.items() if column not in partitions}
    return any(_is_prefix(wanted, order) for wanted in (rest, sides) for order in _orders(table))


def _is_prefix(sides: dict[int, Interval], order: Sequence[int]) -> bool:
    """Return whether intervals are of the first columns, and all but the last have one value."""
    first = order[: len(sides)]
    return set(first) == set(sides) and all(sides[each].value is not None for each in first[:-1])


def _orders(table: TableState) -> list[tuple[int, ...]]:
    """Return the columns of the sort key, and those of the primary key."""
    sort_key = tuple(each.column for each in table.sort_key)
    return [sort_key, tuple(each.id for each in key_fields(table.primary_key, table.schema))]


def _has_floats(table: TableState) -> bool:
    """Return whether a range of the table may be of a column that has NaN."""
    ids = {each for order in _orders(table) for each in order} | _partition_columns(table)
    return any(table.schema.by_id(each).type in ("float", "double") for each in ids)


def _partition_columns(table: TableState) -> frozenset[int]:
    """Return the columns of the partitioning whose transforms keep the order of values."""
    return frozenset(
        each.column for each in table.partition_fields if not TRANSFORMS[each.transform].scatters
    )
