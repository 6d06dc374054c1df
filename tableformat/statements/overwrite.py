"""Overwrite by a condition: delete the rows that meet it, and add new rows that meet it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.state.snapshot import TableState, as_written
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys.static_parts import refuse_static
from colonnade.tableformat.predicate import BoundPredicate, Predicate, bind, evaluate, from_json
from colonnade.tableformat.progress import step
from colonnade.tableformat.scan.selection import select_rows
from colonnade.tableformat.statements.delete import find_rows
from colonnade.tableformat.statements.division import Division
from colonnade.tableformat.statements.statement import (
    Statement,
    inserting,
    row_statement,
    write_batches,
)
from colonnade.tableformat.write.expiry import expiring, expiry_of
from colonnade.tableformat.write.identity import new_rows
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
    division = Division(table, job_id)
    own = division.own
    columns = bind(where, table.schema).column_ids
    refuse_static(table, columns, "The condition of an overwrite cannot name")
    bound = bind(where, own.schema)
    given = expiring(division.batches(batches), expiry_of(own, settings, log.present_ms))
    rows = _checked(new_rows(log.plain, own, job_id, given), bound, text)
    with step("overwrite", own.name, "rows") as advance:
        added = write_batches(log.plain, own, job_id, rows, settings, advance)
    statement = _statement(log, own, where, added, {} if text is None else {"where": text})
    return division.joined(inserting(statement, settings))


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
