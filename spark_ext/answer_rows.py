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
    "version long, timestamp timestamp, operation string, operationParameters map<string,string>,"
    " readVersion long, operationMetrics map<string,string>, userMetadata string,"
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
    parameters = dict(entry.parameters)
    note = parameters.pop("userMetadata", None)
    return (
        entry.epoch,
        entry.timestamp,
        entry.operation,
        parameters,
        entry.base,
        {name: str(count) for name, count in metrics.items()},
        note,
        entry.engine,
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
