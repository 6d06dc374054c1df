"""Add rows to a table, or overwrite all its rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from colonnade.manifests.later import later
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.policy import merges
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.scan.given_rows import joined
from colonnade.tableformat.statements.added_rows import AddedRows, write_added
from colonnade.tableformat.statements.statement import Statement, row_statement
from colonnade.tableformat.write.identity import Draws
from colonnade.tableformat.write.settings import WriteSettings

if TYPE_CHECKING:
    from colonnade.tableformat.statements.keyed import upsert
else:
    upsert = later("colonnade.tableformat.statements.keyed.upsert")


def evaluate_append(
    log: StatementLog,
    table: TableState,
    batches: Iterable[pa.RecordBatch],
    job_id: str,
    settings: WriteSettings | None = None,
    draws: Draws | None = None,
    count: int | None = None,
) -> Statement:
    """Write rows as RowSets, and return a statement that adds them.

    In a table that merges added rows by its primary key, this is `evaluate_upsert`. No reader sees
    the RowSets before a commit. The ids of their objects begin with `job_id`. `draws` spares a look
    at the log for identity columns, and `count` is the number of rows if it is known. Raises
    InvalidInputError that names a column that does not fit the table, and StoreError. After any
    error, also one of `batches`, what was written is removed.
    """
    if merges(stored_table(table), None if settings is None else settings.on_duplicate):
        return upsert.evaluate_upsert(log, table, joined(batches), job_id, settings)
    rows = write_added(log, table, batches, job_id, settings, "append", draws=draws, count=count)
    return _added("append", rows, settings)


def evaluate_overwrite(
    log: StatementLog,
    table: TableState,
    batches: Iterable[pa.RecordBatch],
    job_id: str,
    settings: WriteSettings | None = None,
    draws: Draws | None = None,
) -> Statement:
    """Write rows as RowSets, and return a statement that replaces all rows of the table by them.

    Raises the errors of `evaluate_append`.
    """
    rows = write_added(log, table, batches, job_id, settings, "overwrite", draws=draws)
    return replace(_added("overwrite", rows, settings), overwrites_all=True)


def _added(operation: str, rows: AddedRows, settings: WriteSettings | None) -> Statement:
    added = row_statement(operation, rows.own, (), rows.rowsets, reads=(), inserted=rows.count)
    return rows.added_by(added, settings)
