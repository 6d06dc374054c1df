"""Overwriting by a condition: its rows go, others that meet it come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from manifests.change import RowsGone, TableRead
from manifests.errors import InvalidInputError
from manifests.log import Log
from manifests.schema import TableSchema
from manifests.snapshot import TableState
from tableformat.conform import conform_batches
from tableformat.predicate import BoundPredicate, Predicate, bind, evaluate
from tableformat.scan_plan import rowset_filter
from tableformat.selection import select_rows
from tableformat.statements.statement import Statement, row_statement, write_batches
from tableformat.write_settings import WriteSettings


def evaluate_replace(
    log: Log,
    table: TableState,
    batches: Iterable[pa.RecordBatch],
    where: Predicate,
    job: str,
    settings: WriteSettings | None = None,
    text: str | None = None,
) -> Statement:
    """Write rows that take the place of those for which `where` is true.

    Raises InvalidInputError naming the column at fault, or where a new row does not meet the
    condition; CorruptionError, StoreError.
    """
    keep = rowset_filter(table, where)
    bound = bind(where, table.schema)
    rowsets = log.read_rowsets(table, keep)
    chosen = [each for each in select_rows(log.store, table, rowsets, where) if each.count]
    added = write_batches(
        log.store, table, job, _checked(batches, table.schema, bound, text), settings
    )
    return row_statement(
        "overwrite",
        "delete",
        table,
        [RowsGone(table.id, each.rowset, "delete", each.rows) for each in chosen],
        added,
        reads=(TableRead(table.id, keep, bound.column_ids, replaces=True),),
        inserted=sum(entry.rows for entry in added),
        parameters={} if text is None else {"where": text},
    )


def _checked(
    batches: Iterable[pa.RecordBatch], schema: TableSchema, where: BoundPredicate, text: str | None
) -> Iterator[pa.RecordBatch]:
    for rows in conform_batches(batches, schema):
        outside = rows.num_rows - evaluate(where, rows).true_count
        if outside:
            raise InvalidInputError(
                f"{outside} of the new rows do not meet the condition {text or 'where'} whose rows"
                " they replace; append them, or widen the condition."
            )
        yield rows
