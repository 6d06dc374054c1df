"""Overwrite by a condition: delete the rows that meet it, and add new rows that meet it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.statics import stored_schema
from colonnade.manifests.state.snapshot import TableState, as_written
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys.static_parts import refuse_static
from colonnade.tableformat.predicate import BoundPredicate, Predicate, bind, evaluate, from_json
from colonnade.tableformat.scan.selection import select_rows
from colonnade.tableformat.statements.added_rows import write_added
from colonnade.tableformat.statements.delete import find_rows
from colonnade.tableformat.statements.statement import Statement, row_statement
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.settings import WriteSettings


def evaluate_overwrite_where(
    log: StatementLog,
    table: TableState,
    batches: Iterable[pa.RecordBatch],
    where: Predicate,
    job_id: str,
    settings: WriteSettings | None = None,
    text: str | None = None,
) -> Statement:
    """Write rows as RowSets, and return a statement that replaces the rows that meet `where`.

    Reads the columns of the condition in RowSets that the log's bounds do not decide. `text` is the
    condition for the history and for errors.

    Raises InvalidInputError that names the column at fault, or when a new row does not meet the
    condition. Raises CorruptionError, StoreError.
    """
    columns = bind(where, table.schema).column_ids
    refuse_static(table, columns, "The condition of an overwrite cannot name")
    met = partial(_checked, where=bind(where, stored_schema(table.schema)), text=text)
    rows = write_added(log, table, batches, job_id, settings, "overwrite", condition=met)
    described = {} if text is None else {"where": text}
    return rows.added_by(_statement(log, rows.own, where, rows.rowsets, described), settings)


def written_overwrite(
    job: WriteJob, entries: Sequence[RowSetEntry], log: StatementLog, table: TableState
) -> Statement:
    """Return a statement that replaces the rows that meet the job's condition by written RowSets.

    `entries` are the RowSets that tasks wrote, and `table` is the state at the job's base. Reads
    the columns of the condition in all RowSets that bounds do not decide, the new ones included.
    Raises the errors of `evaluate_overwrite_where`.
    """
    where = from_json(job.where)
    written = [as_written(entry, number) for number, entry in enumerate(entries)]
    inside = select_rows(log.store, View.stored(table, written), where)
    outside = sum(entry.rows for entry in entries) - sum(each.count for each in inside)
    if outside:
        raise _outside_error(outside, job.parameters.get("where"))
    return _statement(log, table, where, entries, job.parameters)


def _statement(
    log: StatementLog,
    table: TableState,
    where: Predicate,
    added: Sequence[RowSetEntry],
    parameters: Mapping[str, str],
) -> Statement:
    deleted, read = find_rows(log, table, where)
    return row_statement(
        "overwrite",
        table,
        deleted,
        added,
        reads=(replace(read, overwrites=True),),
        inserted=sum(entry.rows for entry in added),
        parameters=parameters,
    )


def _checked(
    batches: Iterable[pa.RecordBatch], where: BoundPredicate, text: str | None
) -> Iterator[pa.RecordBatch]:
    for rows in batches:
        outside = rows.num_rows - evaluate(where, rows).true_count
        if outside:
            raise _outside_error(outside, text)
        yield rows


def _outside_error(count: int, text: str | None) -> InvalidInputError:
    return InvalidInputError(
        f"{count} of the new rows do not meet the condition {text or 'where'} of the rows that"
        " they overwrite; append them, or widen the condition."
    )
