"""Answer the Java source's requests about statements that change rows: DELETE, UPDATE, MERGE.

The job of such a statement is that of a write (`plan_write` in writes.py). Tasks report the deleted
rows and the RowSets that they wrote, and one commit makes both visible. A commit that is sent again
happens only once. `deletes.py` has the DELETE that the log decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from colonnade.manifests.commit.change import TableRead
from colonnade.manifests.errors import ColumnConflictError
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.operations import RowKind
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.spark_ext.planner.clauses.filters import predicate_of
from colonnade.spark_ext.planner.messages.base import operation
from colonnade.spark_ext.planner.messages.clauses import Tree
from colonnade.spark_ext.planner.messages.writes import (
    Commit,
    CommitOverwrite,
    CommitRows,
    Committed,
)
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import job_of
from colonnade.spark_ext.planner.write.column_updates import replaced_rowsets
from colonnade.spark_ext.planner.write.commits import commit
from colonnade.spark_ext.planner.write.history_text import with_history
from colonnade.spark_ext.planner.write.statics import statics_of, with_statics
from colonnade.tableformat.keys.key_set import can_be_key
from colonnade.tableformat.scan.plan import rowset_filter
from colonnade.tableformat.statements.columns.fill import FilledRowSet
from colonnade.tableformat.statements.statement import Statement, inserting
from colonnade.tableformat.statements.static_values import static_reads
from colonnade.tableformat.statements.task_reports import (
    TaskReport,
    decode_report,
    entries_of,
    found_overwrite,
    reported_statement,
)
from colonnade.tableformat.write.job import WriteJob


@operation
def commit_rows(request: CommitRows) -> Committed:
    """Raise the errors of `commit`."""
    job, base = _planned(request)
    reports = [decode_report(message) for message in request.messages]
    statics = statics_of(reports)

    def changed(log: StatementLog, table: TableState) -> Statement:
        return changed_rows(
            log,
            table,
            kind=request.kind,
            reports=reports,
            filters=request.filters,
            keys=request.keys,
            replaced=replaced_rowsets(log.plain, job, table, request.columns),
        )

    try:
        sets = request.kind == "update"
        shown = with_history(changed, request.history)
        return commit(job, base, with_statics(shown, job, statics, sets=sets))
    except ColumnConflictError as conflict:
        return Committed(refused=conflict.message)


def changed_rows(
    log: StatementLog,
    table: TableState,
    *,
    kind: RowKind,
    reports: Sequence[TaskReport],
    filters: Sequence[Tree] | None,
    keys: Sequence[str] | None,
    replaced: Sequence[FilledRowSet] = (),
) -> Statement:
    """Return the statement of the reports of tasks; the arguments are those of `CommitRows`.

    `replaced` are RowSets whose columns tasks have written.
    """
    where = None if filters is None else predicate_of(filters, table.schema)
    read = TableRead(table.id, rowset_filter(table, where))
    if keys is not None:
        # Leaving out a column is safe: fewer key columns only make more rows conflict.
        keys = [name for name in keys if can_be_key(table.schema.field(name))]
    return _reading_statics(
        reported_statement(log, table, kind, reports, read, keys, replaced), table
    )


def _reading_statics(statement: Statement, table: TableState) -> Statement:
    """Return a statement of Spark with all static values among what it has read.

    Spark does not say which columns its scans have.
    """
    columns = frozenset(field.id for field in table.schema.fields)
    return replace(statement, reads=(*statement.reads, *static_reads(table, columns)))


@operation
def commit_overwrite(request: CommitOverwrite) -> Committed:
    """Raise the errors of `commit`."""
    job, base = _planned(request)
    written = [decode_report(message) for message in request.messages]
    found = [decode_report(message) for message in request.overwritten]
    entries, statics = entries_of(written), statics_of(written)

    def overwritten(log: StatementLog, table: TableState) -> Statement:
        may_match = rowset_filter(table, predicate_of(request.filters, table.schema))
        read = TableRead(table.id, may_match, overwrites=True)
        statement = found_overwrite(log, table, found, entries, read, job.parameters)
        return inserting(_reading_statics(statement, table), job.settings)

    return commit(job, base, with_statics(overwritten, job, statics, sets=False))


def _planned(request: Commit) -> tuple[WriteJob, Snapshot]:
    job = job_of(request.job)
    assert request.database is not None  # a statement that changes rows creates no database
    return job, SNAPSHOTS.at(job.address, request.database, job.base)
