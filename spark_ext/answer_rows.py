"""The result rows of `history()`, `vacuum()` and `detail()`, and their columns."""

from __future__ import annotations

from colonnade.manifests.model.identity import identity_columns, next_value
from colonnade.manifests.state.partition_layout import field_text
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.vacuum.result import VacuumResult
from colonnade.tableformat.table.history import HistoryEntry
from colonnade.tableformat.table.properties import shown_properties
from colonnade.tableformat.table.table import ArrowTable

HISTORY_SCHEMA = (
    "version long, timestamp timestamp, userName string, operation string,"
    " operationParameters map<string,string>, readVersion long, isolationLevel string,"
    " isBlindAppend boolean, operationMetrics map<string,string>, userMetadata string,"
    " engineInfo string"
)
"""Columns of `history()`: the columns of Delta that mean the same here."""

VACUUM_SCHEMA = (
    "epoch long, floor long, epochs_removed long, files_removed long, bytes_removed long,"
    " kept_epochs array<long>, held_by array<string>, files array<string>"
)
"""Columns of `vacuum()`; `files` lists the first thousand removed files."""

DETAIL_SCHEMA = (
    "format string, id string, name string, description string, location string,"
    " createdAt timestamp, lastModified timestamp, partitionColumns array<string>,"
    " clusteringColumns array<string>, numFiles long, numRows long, sizeInBytes long,"
    " properties map<string,string>, sortKey array<string>, epoch long,"
    " constraints map<string,string>, identityColumns map<string,long>"
)
"""Columns of `detail()`: Delta's columns, then Colonnade's own."""

_METRICS = {
    "rows_deleted": "numDeletedRows",
    "rows_updated": "numUpdatedRows",
    "rows_inserted": "numInsertedRows",
    "rowsets_touched": "numTouchedFiles",
    "rowsets_in_place": "numFilesInPlace",
    "bytes_in_place": "numBytesInPlace",
    "ranges_deleted": "numDeletedRanges",
}
"""Metrics of statements and their names in `history()`: Delta's names where Delta has them."""


_OPERATIONS = {
    "append": "WRITE",
    "overwrite": "WRITE",
    "overwrite_partitions": "WRITE",
    "upsert": "MERGE",
    "compact": "OPTIMIZE",
    "vacuum": "VACUUM END",
}
"""Operations whose name Delta has another word for. The others are written as Delta does."""

_PARAMETERS = {
    "where": "predicate",
    "on": "predicate",
    "matched": "matchedPredicates",
    "not_matched": "notMatchedPredicates",
    "not_matched_by_source": "notMatchedBySourcePredicates",
    "epoch": "version",
}
"""Parameters of operations and their names in Delta."""

_MODES = {"append": "Append", "overwrite": "Overwrite", "overwrite_partitions": "Overwrite"}

_ISOLATION = {"snapshot": "SnapshotIsolation", "serializable": "Serializable"}


def vacuum_row(result: VacuumResult) -> tuple[object, ...]:
    """Return the row of a vacuum, with the columns `VACUUM_SCHEMA`."""
    return (
        result.epoch,
        result.floor,
        result.epochs_removed,
        len(result.files),
        result.bytes_removed,
        list(result.kept_epochs),
        list(result.held_by),
        [each.name for each in result.files[:1000]],
    )


def history_row(entry: HistoryEntry) -> tuple[object, ...]:
    """Return the row of one epoch, with the columns `HISTORY_SCHEMA`."""
    metrics = {
        "numFiles": entry.rowsets_added,
        "numRemovedFiles": entry.rowsets_dropped,
        "numOutputRows": entry.rows_added,
        "numOutputBytes": entry.bytes_added,
        **{_METRICS[name]: count for name, count in entry.metrics.items() if name in _METRICS},
    }
    return (
        entry.epoch,
        entry.timestamp,
        entry.user,
        _OPERATIONS.get(entry.operation, entry.operation.replace("_", " ").upper()),
        _parameters(entry),
        entry.base,
        _ISOLATION.get(entry.isolation or ""),
        entry.is_blind_append,
        {name: str(count) for name, count in metrics.items()},
        entry.parameters.get("userMetadata"),
        entry.engine,
    )


def _parameters(entry: HistoryEntry) -> dict[str, str]:
    """Return the parameters of an epoch under Delta's names, where Delta has them."""
    found = {
        _PARAMETERS.get(name, name): text
        for name, text in entry.parameters.items()
        if name != "userMetadata"
    }
    if entry.operation in _MODES:
        found.setdefault("mode", _MODES[entry.operation])
    return found


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
        [field_text(field, state.schema) for field in state.partition_fields],
        [names[field.column] for field in state.sort_key],
        state.rowsets.rowset_count,
        None if state.seen_at(snapshot.time_ms).hides_rows else state.rowsets.row_count,
        state.rowsets.byte_count,
        shown_properties(state),
        [names[field.column] + (" desc" if field.descending else "") for field in state.sort_key],
        snapshot.epoch,
        {each.name: each.sql for each in state.constraints},
        {each.name: next_value(state.identities, each) for each in identity_columns(state.schema)},
    )
