"""Compare what a statement has read, and the keys that it inserts, with later epochs.

Spec: docs/spec/conflicts.md#reads
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colonnade.manifests.arrays.bounds import BoundsFilter, bounds_table
from colonnade.manifests.arrays.partitions import partitions_of
from colonnade.manifests.checkpoint.reader import read_entry_segment
from colonnade.manifests.commit.change import Change, TableRead
from colonnade.manifests.commit.column_conflicts import keep_types, with_same_types
from colonnade.manifests.commit.rebase.targets import conflict, ids_of, numbered, with_columns_of
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    AddRowSets,
    Compaction,
    DropRowSet,
    DropTable,
    ReplaceColumn,
)
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.replaced_columns import with_replacement
from colonnade.manifests.state.snapshot import EntrySegmentRef, LiveRowSet, Snapshot, TableState

ISOLATION = "isolation"
"""The table property with the isolation level."""

ISOLATION_LEVELS = ("snapshot", "serializable")


def check_reads(
    change: Change, base: Snapshot, before: Snapshot, theirs: Epoch, log: LogReader
) -> None:
    """Compare what a change has read with the epoch after `before`.

    Raises ConflictError if the epoch added a row that the change would have read, or a key that it
    inserts. In a serializable table, it also raises ConflictError if the epoch removed a row that
    the change may have read.
    """
    for read in change.reads:
        table = before.tables.get(TableId(read.table))
        if table is None:
            continue
        table = with_columns_of(theirs, table)
        columns = with_same_types(_planned(base, table), table.schema)
        serializable = is_serializable(base, table)
        does = "overwrites" if read.overwrites else "reads"
        happened = f"Rows of table {table.name!r} that the statement {does} changed"
        if (read.overwrites or serializable) and _may_hold(
            read.may_match,
            columns,
            [
                *(each for each in _added(before, table, theirs, log) if not each.has_tombstones),
                *_replaced(table, theirs, log, read.columns),
            ],
        ):
            raise conflict(change.operation, base.epoch, happened, theirs)
        if serializable and not read.overwrites and _took(read, table, columns, theirs, log):
            raise conflict(change.operation, base.epoch, happened, theirs)
    for guard in change.keys:
        table = before.tables.get(TableId(guard.table))
        if table is None:
            continue
        table = with_columns_of(theirs, table)
        # A key whose type has widened is refused at the slot, and has no values to compare.
        if not keep_types(guard.columns, _planned(base, table), table.schema):
            continue
        if guard.meets([*_added(before, table, theirs, log), *_replaced(table, theirs, log)]):
            happened = f"Keys that the statement inserts were added to table {table.name!r}"
            raise conflict(change.operation, base.epoch, happened, theirs)


def _planned(base: Snapshot, table: TableState) -> TableSchema:
    return base.tables.get(table.id, table).schema


def isolation_of(table: TableState) -> str:
    """Return the isolation level that a table has."""
    return table.properties.get(ISOLATION, ISOLATION_LEVELS[0])


def is_serializable(base: Snapshot, table: TableState) -> bool:
    planned = base.tables.get(table.id, table)
    return "serializable" in (planned.properties.get(ISOLATION), table.properties.get(ISOLATION))


def _added(before: Snapshot, table: TableState, theirs: Epoch, log: LogReader) -> list[LiveRowSet]:
    """Return the RowSets that an epoch adds to a table, also tombstones.

    RowSets that a compaction wrote are left out.
    """
    found: list[LiveRowSet] = []
    for operation, first in numbered(before, theirs):
        if isinstance(operation, AddRowSet) and operation.table == table.id:
            added = LiveRowSet.of(first, theirs.epoch, operation.rowset, operation.vector)
            found.append(added)
        elif isinstance(operation, AddRowSets) and operation.table == table.id:
            segment = operation.segment
            ref = EntrySegmentRef(segment, first, first + segment.rowset_count - 1, theirs.epoch)
            block = read_entry_segment(log.store, table, ref)
            found += block.live(np.arange(len(block)))
    if any(isinstance(op, Compaction) and op.table == table.id for op in theirs.ops):
        return [each for each in found if not each.has_tombstones]
    return found


def _replaced(
    table: TableState, theirs: Epoch, log: LogReader, columns: frozenset[int] | None = None
) -> list[LiveRowSet]:
    """Return the RowSets that an epoch gave new values of these columns, after that epoch.

    Without `columns`, a replacement of any column counts.
    """
    operations = _replacements(table, theirs, columns)
    live = log.rowsets.find(table, {op.rowset for op in operations})
    for op in operations:
        if op.rowset in live:
            live[op.rowset] = with_replacement(live[op.rowset], op)
    return list(live.values())


def _replacements(
    table: TableState, theirs: Epoch, columns: frozenset[int] | None
) -> list[ReplaceColumn]:
    return [
        op
        for op in theirs.ops
        if isinstance(op, ReplaceColumn)
        and op.table == table.id
        and (columns is None or not columns.isdisjoint(op.replacement.columns))
    ]


def _took(
    read: TableRead, table: TableState, columns: TableSchema, theirs: Epoch, log: LogReader
) -> bool:
    """Return whether an epoch removed or changed rows that a statement may have read."""
    ids = set[int]()
    for operation in theirs.ops:
        if isinstance(operation, DropTable) and operation.table == table.id:
            return True
        if isinstance(operation, AddDeletionVector) and operation.table == table.id:
            ids.add(operation.rowset)
        elif isinstance(operation, DropRowSet) and operation.table == table.id:
            ids.update(ids_of(operation.rowsets))
    ids.update(op.rowset for op in _replacements(table, theirs, read.columns))
    return _may_hold(read.may_match, columns, list(log.rowsets.find(table, ids).values()))


def _may_hold(
    may_match: BoundsFilter | None, columns: TableSchema, rowsets: Sequence[LiveRowSet]
) -> bool:
    if not rowsets or may_match is None:
        return bool(rowsets)
    entries = [rowset.entry for rowset in rowsets]
    bounds = bounds_table(
        [entry.statistics for entry in entries],
        [entry.rows for entry in entries],
        columns,
        lambda index: f"RowSet {entries[index].object}",
        partitions_of(entries),
    )
    return bool(may_match(bounds).any())
