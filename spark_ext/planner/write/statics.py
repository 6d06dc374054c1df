"""Static values in writes of the Java source: how tasks report them, and how a commit takes them.

A task writes the static values that its rows bring to RowSets of its job. Its report names them
(`ReportedStatics`). The commit reads the values, and merges them into the table of static values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.primary_key import PrimaryKey, key_fields
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import TableState, as_written
from colonnade.manifests.state.view import View
from colonnade.spark_ext.write_task import StaticsTask
from colonnade.tableformat.keys.modes import REPLACE
from colonnade.tableformat.keys.policy import policy_of
from colonnade.tableformat.keys.static_parts import keeps_last, statics_table
from colonnade.tableformat.rowset.stored.reader import StoredReader
from colonnade.tableformat.statements.commit import Reported
from colonnade.tableformat.statements.statement import Statement, StaticValues
from colonnade.tableformat.statements.static_split import last_values
from colonnade.tableformat.statements.static_values import agreed_values
from colonnade.tableformat.statements.task_reports import ReportedStatics, TaskReport
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.job import WriteJob


def statics_task(job: WriteJob, table: TableState | None, given: TableSchema) -> StaticsTask | None:
    """Return how the tasks of a job report the static values of rows with the columns `given`.

    `table` is the existing table that the job writes to. Returns None if the rows have no static
    column.
    """
    schema, key = _design(job, table)
    names = {name.casefold() for name in given.names}
    columns = [each for each in static_fields(schema) if each.name.casefold() in names]
    if not columns:
        return None
    distinct, nulls = True, False
    if table is not None and job.create is None:
        statics = statics_table(table, sets=False)
        distinct = keeps_last(statics, columns)
        nulls = any(policy_of(statics).mode(each) == REPLACE for each in columns)
    fields = (*key_fields(key, schema), *columns)
    return StaticsTask(TableSchema(fields=fields), len(key), distinct, nulls)


def _design(job: WriteJob, table: TableState | None) -> tuple[TableSchema, PrimaryKey]:
    if job.create is None:
        assert table is not None
        return table.schema, table.partition_key
    created = job.create
    return created.table_schema, created.partition_key or (created.primary_key or ())[:1]


def statics_of(reports: Sequence[TaskReport]) -> ReportedStatics:
    """Return the static values of all tasks. All tasks that report some have the same columns."""
    found = [each.statics for each in reports if each.statics is not None]
    return ReportedStatics(
        columns=found[-1].columns if found else (),
        entries=tuple(entry for each in found for entry in each.entries),
        updated=sum(each.updated for each in found),
    )


def with_statics(
    reported: Reported, job: WriteJob, statics: ReportedStatics, *, sets: bool
) -> Reported:
    """Return what a job did, with the static values that its rows had.

    `sets` says that the job set them, also to NULL; then the rows of a key must agree. Reads the
    values. Raises the errors of `agreed_values`, CorruptionError and StoreError.
    """
    if not statics.entries:
        return reported

    def both(log: StatementLog, table: TableState) -> Statement:
        own = reported(log, table)
        updated = own.counts.rows_updated + statics.updated
        return replace(
            own,
            static_values=_values(log, table, job, statics, sets),
            counts=replace(own.counts, rows_updated=updated),
        )

    return both


def _values(
    log: StatementLog, table: TableState, job: WriteJob, statics: ReportedStatics, sets: bool
) -> StaticValues:
    known = {each.id: each for each in table.schema.fields}
    fields = tuple(known[each] for each in statics.columns)
    key = key_fields(table.partition_key, table.schema)
    columns = fields[len(key) :]
    rows = _rows(log, table, job, statics, fields)
    if sets:
        return agreed_values(table, rows, columns, job.job_id)
    if keeps_last(statics_table(table, sets=False), columns):
        rows, _ = last_values(rows, key, columns, nulls=False)
    return StaticValues(rows, job.job_id)


def _rows(
    log: StatementLog,
    table: TableState,
    job: WriteJob,
    statics: ReportedStatics,
    fields: Sequence[SchemaField],
) -> pa.Table:
    plain = [each.model_copy(update={"static": None}) for each in fields]
    view = View.written(job.target.prefix, plain)
    batches = [
        batch
        for entry in statics.entries
        for _, batch in StoredReader(log.store, view, as_written(entry)).read(plain)
    ]
    return pa.Table.from_batches(batches, arrow_schema(TableSchema(fields=tuple(plain))))
