"""UPDATE: rows go from where they are, and come again with other values."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from manifests.change import RowsGone, TableRead
from manifests.log import Log
from manifests.snapshot import TableState
from tableformat.assignments import Assignments
from tableformat.predicate import Predicate, bind
from tableformat.scan_plan import rowset_filter
from tableformat.selection import Selection, read_selected, select_rows
from tableformat.statements.statement import Statement, row_statement, write_batches
from tableformat.write_settings import WriteSettings


def evaluate_update(
    log: Log,
    table: TableState,
    values: Assignments,
    where: Predicate | None,
    job: str,
    settings: WriteSettings | None = None,
    text: str | None = None,
) -> Statement:
    """Write the rows for which `where` is true (None: all) once more, with `values`.

    Reads the columns of the condition, then the stretches between cuts that hold such rows, one
    at a time. Raises InvalidInputError naming the column at fault, CorruptionError, StoreError.
    """
    keep = rowset_filter(table, where)
    rowsets = log.read_rowsets(table, keep)
    chosen = [each for each in select_rows(log.store, table, rowsets, where) if each.count]
    batches = _updated(log, table, chosen, values)
    added = write_batches(log.store, table, job, batches, settings) if chosen else ()
    read = values.column_ids
    if where is not None:
        read |= bind(where, table.schema).column_ids
    return row_statement(
        "update",
        table,
        [RowsGone(table.id, each.rowset, "update", each.rows) for each in chosen],
        added,
        reads=(TableRead(table.id, keep, read),),
        parameters={} if text is None else {"where": text},
    )


def _updated(
    log: Log, table: TableState, chosen: list[Selection], values: Assignments
) -> Iterator[pa.RecordBatch]:
    for selection in chosen:
        for _, batch in read_selected(log.store, table, selection, table.schema):
            yield values.apply(batch)
