"""Compare a change with the range tombstones that concurrent writers have committed since its base.

A tombstone says which rows are deleted without naming them. So a statement that gives rows new
values, or that has read rows, is compared by its predicate and by the bounds of its RowSets.
Spec: docs/spec/conflicts.md#range-tombstones
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from colonnade.manifests.arrays.bounds import BoundsFilter, BoundsTable, bounds_table
from colonnade.manifests.arrays.region_bounds import meets
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.column_conflicts import with_same_types
from colonnade.manifests.commit.conflict_table import Kind, Rule, rule
from colonnade.manifests.commit.rebase.reads import is_serializable
from colonnade.manifests.commit.rebase.targets import conflict, with_columns_of
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import AddRangeTombstone, ReplaceColumn
from colonnade.manifests.model.range_tombstones import region_of
from colonnade.manifests.model.regions import Region
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.model.statistics import bound_prefix, encode_bound
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot, TableState


def check_tombstones(
    change: Change, base: Snapshot, before: Snapshot, theirs: Epoch, log: LogReader
) -> None:
    """Compare a change with the range tombstones of the epoch after `before`.

    Raises ConflictError if a tombstone may delete a row that the change moves or gives new values,
    or, as `check_reads` does for other deletions, one that it has read or overwrites.
    """
    for operation in theirs.ops:
        if not isinstance(operation, AddRangeTombstone):
            continue
        table = before.tables.get(TableId(operation.table))
        if table is None:
            continue
        table = with_columns_of(theirs, table)
        regions = [region_of(each, table.schema) for each in operation.regions]
        columns = with_same_types(base.tables.get(table.id, table).schema, table.schema)
        if _reads_any(change, base, table, columns, regions) or _changes_any(
            change, table, columns, regions, log
        ):
            happened = f"A range of table {table.name!r} that the statement has rows of was deleted"
            raise conflict(change.operation, base.epoch, happened, theirs)


def _reads_any(
    change: Change,
    base: Snapshot,
    table: TableState,
    columns: TableSchema,
    regions: Sequence[Region],
) -> bool:
    guarded = [
        read
        for read in change.reads
        if read.table == table.id and (read.overwrites or is_serializable(base, table))
    ]
    return any(_may_hold(read.may_match, columns, regions) for read in guarded)


def _changes_any(
    change: Change,
    table: TableState,
    columns: TableSchema,
    regions: Sequence[Region],
    log: LogReader,
) -> bool:
    """Return whether a change may move rows of a region, or give them new values."""
    changed = list(_changed(change, table, log))
    if not changed:
        return False
    reads = [read.may_match for read in change.reads if read.table == table.id]
    # A change that states no read may have read, and so may change, any row.
    asked = [may_match for may_match in reads if may_match is not None] if all(reads) else []
    near = [
        each
        for each in regions
        if not asked or any(_may_hold(may_match, columns, [each]) for may_match in asked)
    ]
    bounds = bounds_table(
        [rowset.entry.statistics for rowset in changed],
        [rowset.entry.rows for rowset in changed],
        table.schema,
        lambda index: f"RowSet {changed[index].entry.object}",
    )
    return any(meets(each, bounds)[0].any() for each in near)


def _changed(change: Change, table: TableState, log: LogReader) -> Iterator[LiveRowSet]:
    """Yield the RowSets of which a change moves rows or replaces columns, as of its base."""
    for each in change.rows:
        if each.table == table.id and rule(each.kind, Kind.DELETE_RANGES) is Rule.REGION:
            yield each.rowset
    replaced = {
        op.rowset for op in change.ops if isinstance(op, ReplaceColumn) and op.table == table.id
    }
    yield from log.rowsets.find(table, replaced).values()


def _may_hold(
    may_match: BoundsFilter | None, columns: TableSchema, regions: Sequence[Region]
) -> bool:
    """Return whether a predicate may select a row of a region."""
    if may_match is None:
        return True
    bounds: BoundsTable = bounds_table(
        [_statistics(each) for each in regions],
        [1] * len(regions),
        columns,
        lambda index: f"range {index}",
    )
    return bool(may_match(bounds).any())


def _statistics(region: Region) -> dict[int, ColumnStatistics]:
    """Return the bounds that the rows of a region have, as far as their types have such bounds."""
    found = {}
    for interval, column in zip(region.intervals, region.columns, strict=True):
        if (extent := interval.extent(column)) is not None:
            low, high = (encode_bound(each, bound_prefix(column.type)) for each in extent)
            found[column.id] = ColumnStatistics(min=low, max=high, exact=False)
    return found
