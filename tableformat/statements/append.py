"""Add rows to a table, or overwrite all its rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.statements.statement import (
    Statement,
    inserting,
    row_statement,
    write_batches,
)
from colonnade.tableformat.write.identity import new_rows
from colonnade.tableformat.write.settings import WriteSettings


def evaluate_append(
    log: Log,
    table: TableState,
    batches: Iterable[pa.RecordBatch],
    job_id: str,
    settings: WriteSettings | None = None,
) -> Statement:
    """Write rows as RowSets, and return a statement that adds them.

    No reader sees the RowSets before a commit. The ids of their objects begin with `job_id`. Raises
    InvalidInputError that names a column that does not fit the table, and StoreError. After any
    error, also one of `batches`, what was written is removed.
    """
    rows = new_rows(log, table, job_id, batches)
    added = write_batches(log, table, job_id, rows, settings)
    inserted = sum(entry.rows for entry in added)
    statement = row_statement("append", table, (), added, inserted=inserted)
    return inserting(statement, settings)


def evaluate_overwrite(
    log: Log,
    table: TableState,
    batches: Iterable[pa.RecordBatch],
    job_id: str,
    settings: WriteSettings | None = None,
) -> Statement:
    """Write rows as RowSets, and return a statement that replaces all rows of the table by them.

    Raises the errors of `evaluate_append`.
    """
    added = evaluate_append(log, table, batches, job_id, settings)
    return replace(added, operation="overwrite", overwrites_all=True)
