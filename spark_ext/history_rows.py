"""The rows of `history()`: what each epoch did, in the words of Delta."""

from __future__ import annotations

from colonnade.manifests.engine import USER_METADATA
from colonnade.tableformat.table.epochs.history import HistoryEntry

HISTORY_SCHEMA = (
    "version long, timestamp timestamp, userId string, userName string, operation string,"
    " operationParameters map<string,string>, job struct<jobId: string, jobName: string,"
    " jobRunId: string, runId: string, jobOwnerId: string, triggerType: string>,"
    " notebook struct<notebookId: string>, clusterId string, readVersion long,"
    " isolationLevel string, isBlindAppend boolean, operationMetrics map<string,string>,"
    " userMetadata string, engineInfo string"
)
"""Delta's columns. `userId`, `job`, `notebook` and `clusterId` are NULL, as in Delta's releases."""

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
    "zorder_by": "zOrderBy",
}
"""Parameters of operations and their names in Delta."""

_MODES = {"append": "Append", "overwrite": "Overwrite", "overwrite_partitions": "Overwrite"}

_ISOLATION = {"snapshot": "SnapshotIsolation", "serializable": "Serializable"}

_WRITTEN = {
    "rowsets_added": "numFiles",
    "rowsets_dropped": "numRemovedFiles",
    "rows_added": "numOutputRows",
    "bytes_added": "numOutputBytes",
    "rows_deleted": "numDeletedRows",
    "rows_updated": "numUpdatedRows",
    "rows_inserted": "numInsertedRows",
    "rowsets_touched": "numTouchedFiles",
    "rowsets_in_place": "numFilesInPlace",
    "bytes_in_place": "numBytesInPlace",
    "ranges_deleted": "numDeletedRanges",
}
"""Counts of epochs that write rows and their names: Delta's names where Delta has them."""

_CHANGED = {**_WRITTEN, "rowsets_added": "numAddedFiles", "bytes_added": "numAddedBytes"}

_METRICS = {
    "DELETE": _CHANGED,
    "UPDATE": _CHANGED,
    "MERGE": {
        **_WRITTEN,
        "rowsets_added": "numTargetFilesAdded",
        "rowsets_dropped": "numTargetFilesRemoved",
        "bytes_added": "numTargetBytesAdded",
        "rows_deleted": "numTargetRowsDeleted",
        "rows_updated": "numTargetRowsUpdated",
        "rows_inserted": "numTargetRowsInserted",
    },
    "OPTIMIZE": {
        "rowsets_added": "numAddedFiles",
        "rowsets_removed": "numRemovedFiles",
        "rows_dropped": "numDroppedRows",
        "bytes_written": "numAddedBytes",
        "bytes_read": "numRemovedBytes",
    },
    "RESTORE": {
        "bytes_after": "tableSizeAfterRestore",
        "rowsets_after": "numOfFilesAfterRestore",
        "rowsets_removed": "numRemovedFiles",
        "rowsets_restored": "numRestoredFiles",
        "bytes_removed": "removedFilesSize",
        "bytes_restored": "restoredFilesSize",
    },
    "VACUUM END": {"files_removed": "numDeletedFiles", "bytes_removed": "numDeletedBytes"},
}
"""Counts and their names, by the operations whose names differ from `_WRITTEN`."""


def history_row(entry: HistoryEntry) -> tuple[object, ...]:
    """Return the row of one epoch, with the columns `HISTORY_SCHEMA`."""
    operation = _OPERATIONS.get(entry.operation, entry.operation.replace("_", " ").upper())
    return (
        entry.epoch,
        entry.timestamp,
        None,
        entry.user,
        operation,
        _parameters(entry),
        None,
        None,
        None,
        entry.base,
        _ISOLATION.get(entry.isolation or ""),
        entry.is_blind_append,
        _metrics(operation, entry),
        entry.parameters.get(USER_METADATA),
        entry.engine,
    )


def _metrics(operation: str, entry: HistoryEntry) -> dict[str, str]:
    """Return the counts of an epoch; none if it is about no rows."""
    stored = {
        "rowsets_added": entry.rowsets_added,
        "rowsets_dropped": entry.rowsets_dropped,
        "rows_added": entry.rows_added,
        "bytes_added": entry.bytes_added,
    }
    if not entry.metrics and not any(stored.values()) and entry.operation not in _MODES:
        return {}
    names = _METRICS.get(operation, _WRITTEN)
    counts = {**stored, **entry.metrics}
    return {names[name]: str(count) for name, count in counts.items() if name in names}


def _parameters(entry: HistoryEntry) -> dict[str, str]:
    """Return the parameters of an epoch under Delta's names, where Delta has them."""
    found = {
        _PARAMETERS.get(name, name): text
        for name, text in entry.parameters.items()
        if name != USER_METADATA
    }
    if entry.operation in _MODES:
        found.setdefault("mode", _MODES[entry.operation])
    return found
