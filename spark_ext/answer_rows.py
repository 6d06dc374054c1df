"""The result rows of maintenance and of `detail()`, and their columns.

Delta's columns have its names, and come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.vacuum.result import VacuumResult
from colonnade.tableformat.compaction.execute import CompactionReport
from colonnade.tableformat.table.design.description import (
    constraints_of,
    next_identities_of,
    partitioning_of,
    sort_key_of,
)
from colonnade.tableformat.table.design.properties import shown_properties
from colonnade.tableformat.table.epochs.restore_counts import Restored
from colonnade.tableformat.table.table import ArrowTable

OPTIMIZE_SCHEMA = (
    "path string, metrics struct<numFilesAdded: long, numFilesRemoved: long, filesAdded: {files},"
    " filesRemoved: {files}, numGroups: long, numGroupsWaiting: long, numDroppedRows: long,"
    " numBytesCopied: long, conflicts: array<string>, seconds: double, epoch: long,"
    " reason: string>"
).format(files="struct<avg: double, totalFiles: long, totalSize: long>")
"""Columns of a compaction; what Delta's OPTIMIZE tells, too, bears its names."""

VACUUM_SCHEMA = (
    "path string, epoch long, floor long, epochs_removed long, files_removed long,"
    " bytes_removed long, kept_epochs array<long>, held_by array<string>, files array<string>"
)
"""Columns of `vacuum()`; `files` lists the first thousand removed files."""

PLANNED_VACUUM_SCHEMA = "path string, bytes long"
"""Columns of the files that a vacuum would remove; at most `LISTED` rows."""

LISTED = 1000
"""How many files are listed. Millions of names would fill the memory of a driver."""

RESTORE_SCHEMA = (
    "table_size_after_restore long, num_of_files_after_restore long, num_removed_files long,"
    " num_restored_files long, removed_files_size long, restored_files_size long, epoch long,"
    " restored long"
)
"""Columns of a restore: Delta's, then the new epoch and the restored one."""

DETAIL_SCHEMA = (
    "format string, id string, name string, description string, location string,"
    " createdAt timestamp, lastModified timestamp, partitionColumns array<string>,"
    " clusteringColumns array<string>, numFiles long, numRows long, sizeInBytes long,"
    " properties map<string,string>, sortKey array<string>, epoch long,"
    " constraints map<string,string>, identityColumns map<string,long>"
)
"""Columns of `detail()`: Delta's columns, then Colonnade's own."""


def optimize_row(path: str, report: CompactionReport) -> tuple[object, ...]:
    """Return the row of a compaction, with the columns `OPTIMIZE_SCHEMA`."""
    metrics = (
        report.rowsets_added,
        report.rowsets_removed,
        _files(report.rowsets_added, report.bytes_written),
        _files(report.rowsets_removed, report.bytes_read),
        report.groups,
        report.groups_waiting,
        report.rows_dropped,
        report.bytes_copied,
        list(report.conflicts),
        report.seconds,
        report.epoch,
        report.reason,
    )
    return path, metrics


def _files(count: int, size: int) -> tuple[float, int, int]:
    return size / count if count else 0.0, count, size


def vacuum_row(path: str, result: VacuumResult) -> tuple[object, ...]:
    """Return the row of a vacuum, with the columns `VACUUM_SCHEMA`."""
    return (
        path,
        result.epoch,
        result.floor,
        result.epochs_removed,
        len(result.files),
        result.bytes_removed,
        list(result.kept_epochs),
        list(result.held_by),
        [each.name for each in result.files[:LISTED]],
    )


def planned_vacuum_rows(root: str, result: VacuumResult) -> Iterator[tuple[str, int]]:
    """Yield the files of a vacuum below `root`, with the columns `PLANNED_VACUUM_SCHEMA`."""
    return ((f"{root}/{each.name}", each.bytes) for each in result.files[:LISTED])


def restore_row(tables: Iterable[TableState], restored: Restored) -> tuple[object, ...]:
    """Return the row of a restore, with the columns `RESTORE_SCHEMA`.

    If there was nothing to do, the sizes are those of the tables. The size in bytes is then NULL
    where only stored segments could tell it.
    """
    done = restored.done
    counts = {} if done is None else dict(done.metrics or {})
    if not counts:
        present = [table.rowsets for table in tables if table.statics_of is None]
        sizes = [each.byte_count for each in present]
        known = [size for size in sizes if size is not None]
        counts["rowsets_after"] = sum(each.rowset_count for each in present)
        if len(known) == len(sizes):
            counts["bytes_after"] = sum(known)
    return (
        counts.get("bytes_after"),
        counts["rowsets_after"],
        counts.get("rowsets_removed", 0),
        counts.get("rowsets_restored", 0),
        counts.get("bytes_removed", 0),
        counts.get("bytes_restored", 0),
        restored.after.epoch,
        restored.restored,
    )


def detail_row(table: ArrowTable, snapshot: Snapshot, state: TableState) -> tuple[object, ...]:
    """Return the row that describes a table, with the columns `DETAIL_SCHEMA`. Costs two GETs."""
    names = {field.id: field.name for field in state.schema.fields}
    return (
        "colonnade",
        state.id,
        state.name,
        state.comment,
        table.path,
        table.time_of(state.created_epoch),
        table.time_of(state.changed_epoch),
        list(partitioning_of(state)),
        [names[field.column] for field in state.sort_key],
        state.rowsets.rowset_count,
        None if state.hides_rows else state.rowsets.row_count,
        state.rowsets.byte_count,
        shown_properties(state),
        sort_key_of(state),
        snapshot.epoch,
        constraints_of(state),
        next_identities_of(state),
    )
