"""Adding rows."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.statements.statement import Statement, row_statement, write_batches
from colonnade.tableformat.types.conform import conform_batches
from colonnade.tableformat.write.settings import WriteSettings


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
