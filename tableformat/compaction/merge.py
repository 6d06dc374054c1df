"""Merge the sorted RowSets of a job into the order of the sort key, as streams."""

from __future__ import annotations

from colonnade.tableformat.compaction.inputs import WINDOW_BYTES, InputRowSet, Inputs
from colonnade.tableformat.rowset.writer import RowSetWriter
from colonnade.tableformat.scan.merge import SortedRun, merge_runs


def merge(inputs: Inputs, writer: RowSetWriter) -> None:
    """Write the live rows of the RowSets of a job in order, with the origin of each row.

    Holds a stretch and a read-ahead of each RowSet, and 8 bytes for each row. Raises
    CorruptionError, also when rows are not in the order of the sort key, and StoreError.
    """
    target = inputs.job.target
    ids = [column.id for column in target.table_schema.fields]
    places = [ids.index(key.column) for key in target.sort_key]
    window = max(1, WINDOW_BYTES // len(inputs.job.view.rowsets))
    runs = (_run(source, window) for source in inputs.open())
    for rows, columns in merge_runs(runs, target.sort_key, places):
        writer.write_storage(columns, rows)


def _run(source: InputRowSet, window_bytes: int) -> SortedRun:
    batches = ((source.origin(rows), columns) for rows, columns in source.batches(window_bytes))
    return SortedRun(f"RowSet {source.rowset.entry.object}", batches)
