"""Add rows to a table: they are written as RowSets, beside the static values that they have.

An overwrite adds its rows in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from colonnade.manifests.later import later
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.policy import merges
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.progress import step
from colonnade.tableformat.scan.user_rows import joined
from colonnade.tableformat.statements.statement import (
    Statement,
    StaticValues,
    inserting,
    row_statement,
)
from colonnade.tableformat.statements.static_split import StaticSplit
from colonnade.tableformat.write.expiry import expiry_of
from colonnade.tableformat.write.identity import draws_of
from colonnade.tableformat.write.job import target_of
from colonnade.tableformat.write.pipeline import Step, new_rows, write_through
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
    count: int | None = None,
) -> Statement:
    """Write rows as RowSets, and return a statement that adds them.

    In a table that merges added rows by its primary key, this is `evaluate_upsert`. No reader sees
    the RowSets before a commit. The ids of their objects begin with `job_id`. `count` is the number
    of rows if it is known. Raises InvalidInputError that names a column that does not fit the
    table, and StoreError. After any error, also one of `batches`, what was written is removed.
    """
    if merges(stored_table(table), None if settings is None else settings.on_duplicate):
        return upsert.evaluate_upsert(log, table, joined(batches), job_id, settings)
    rows = write_added(log, table, batches, job_id, settings, "append", count=count)
    return rows.statement("append", settings)


@dataclass(frozen=True, slots=True)
class AddedRows:
    """RowSets that no reader sees before a commit.

    `own` is the table of `StaticSplit.own`, and `static_values` are those of the rows.
    """

    own: TableState
    rowsets: tuple[RowSetEntry, ...]
    static_values: StaticValues | None

    @property
    def count(self) -> int:
        """The number of the rows."""
        return sum(entry.rows for entry in self.rowsets)

    def statement(self, operation: str, settings: WriteSettings | None) -> Statement:
        """Return a statement that adds the RowSets, and deletes and reads nothing."""
        added = row_statement(operation, self.own, (), self.rowsets, reads=(), inserted=self.count)
        return self.added_by(added, settings)

    def added_by(self, statement: Statement, settings: WriteSettings | None) -> Statement:
        """Return a statement that adds the RowSets as rows that a user has given."""
        return inserting(statement, settings, static_values=self.static_values)


def write_added(
    log: StatementLog,
    table: TableState,
    batches: Iterable[pa.RecordBatch],
    job_id: str,
    settings: WriteSettings | None,
    operation: str,
    *,
    condition: Step | None = None,
    count: int | None = None,
) -> AddedRows:
    """Write rows that a user gives as RowSets. The ids of their objects begin with `job_id`.

    They take the steps of `new_rows`, with its `condition`. `count` is the number of rows if it is
    known. Raises InvalidInputError that names a column that does not fit the table, and StoreError.
    After any error, also one of `batches`, what was written is removed.
    """
    split = StaticSplit(table, job_id)
    own = split.own
    steps = new_rows(
        target_of(own, log.limits),
        lambda: draws_of(log.plain, own, job_id, log.base),
        divide=split.batches,
        expiry=expiry_of(own, settings, log.present_ms),
        condition=condition,
    )
    with step(operation, own.name, "rows", count) as advance:
        rowsets = write_through(steps, batches, log.store, job_id, settings, advance)
    return AddedRows(own, rowsets, split.static_values)
