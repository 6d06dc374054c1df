"""Adding rows."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from manifests.log import Log
from manifests.snapshot import TableState
from tableformat.conform import conform_batches
from tableformat.statements.statement import Statement, row_statement, write_batches
from tableformat.write_settings import WriteSettings


def evaluate_append(
    log: Log,
    table: TableState,
    batches: Iterable[pa.RecordBatch],
    job: str,
    settings: WriteSettings | None = None,
) -> Statement:
    """Write rows. Raises InvalidInputError naming the column that does not fit, StoreError."""
    rows = conform_batches(batches, table.schema)
    added = write_batches(log.store, table, job, rows, settings)
    inserted = sum(entry.rows for entry in added)
    return row_statement("append", table, (), added, inserted=inserted)
