"""Answer the Java source's requests about statements that change rows: DELETE, UPDATE, MERGE.

The job of such a statement is that of a write (`plan_write` in writes.py). Tasks report the deleted
rows and the RowSets that they wrote, and one commit makes both visible. A commit that is sent again
happens only once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from colonnade.manifests.commit.change import TableRead
from colonnade.manifests.errors import ColumnConflictError, InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.operations import RowKind
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import open_store
from colonnade.spark_ext.options import truth
from colonnade.spark_ext.planner.clauses.filters import Tree, exact_predicate, predicate_of
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import job_of, place_of
from colonnade.spark_ext.planner.state.transactions import is_state
from colonnade.spark_ext.planner.write.column_updates import replaced_rowsets
from colonnade.spark_ext.planner.write.commits import commit
from colonnade.spark_ext.planner.write.statics import bringing, divided_reports
from colonnade.spark_ext.planner.write.told import telling
from colonnade.tableformat.keys.key_set import can_be_key
from colonnade.tableformat.scan.plan import rowset_filter
from colonnade.tableformat.scan.selection import judge
from colonnade.tableformat.statements.delete import evaluate_delete
from colonnade.tableformat.statements.fill import FilledRowSet
from colonnade.tableformat.statements.ranges import is_range
from colonnade.tableformat.statements.reported import (
    TaskReport,
    decode_report,
    found_overwrite,
    reported_statement,
)
from colonnade.tableformat.statements.statement import Statement, inserting
from colonnade.tableformat.statements.static_values import static_reads
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.run import decode_entries


def commit_rows(args: Mapping[str, Any]) -> dict[str, Any]:
    """Commit the reports of a `job`'s tasks, in `messages`, as one statement of a `kind`.

    `filters` are the filters of the statement's scan, or None if they are not known. `keys` are
    the columns whose equal values decided that a row to insert was missing. `keys` is empty if
    another condition decided that, and None if no row was inserted because it was missing.
    `columns`, if given, are columns that tasks replaced (`column_updates.replaced_rowsets`).
    `told` is as in `telling`. If
    only these are in conflict with a concurrent writer, the reply's `conflict` says so. The caller
    may then move the rows instead, by the same job.
    """
    job, base = _planned(args)
    messages, statics = divided_reports(args["messages"])
    reports = [decode_report(message) for message in messages]

    def changed(log: StatementLog, table: TableState) -> Statement:
        return changed_rows(
            log,
            table,
            kind=args["kind"],
            reports=reports,
            filters=args["filters"],
            keys=args["keys"],
            replaced=replaced_rowsets(log.plain, job, table, args.get("columns")),
        )

    try:
        sets = args["kind"] == "update"
        brought = bringing(telling(changed, args), job, statics, sets=sets)
        return commit(job, base, brought)
    except ColumnConflictError as conflict:
        return {"conflict": conflict.message}


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
    """Return the statement of the reports of tasks; the arguments are those of `commit_rows`.

    `replaced` are RowSets whose columns tasks have written.
    """
    where = None if filters is None else predicate_of(filters, table.schema)
    read = TableRead(table.id, rowset_filter(table, where))
    if keys is not None:
        # Leaving out a column is safe: fewer key columns only make more rows conflict.
        keys = [name for name in keys if can_be_key(table.schema.field(name))]
    return _with_statics(reported_statement(log, table, kind, reports, read, keys, replaced), table)


def _with_statics(statement: Statement, table: TableState) -> Statement:
    """Return a statement of Spark with all static values among what it has read.

    Spark does not say which columns its scans have.
    """
    columns = frozenset(field.id for field in table.schema.fields)
    return replace(statement, reads=(*statement.reads, *static_reads(table, columns)))


def commit_overwrite(args: Mapping[str, Any]) -> dict[str, Any]:
    """Commit RowSets that the tasks of a `job` wrote in place of rows that the caller found.

    The caller found the rows at the job's base. `messages` are the entries of the new RowSets,
    `overwritten` the reports of the overwritten rows, and `filters` the parts of their condition
    that are filters.
    """
    job, base = _planned(args)
    messages, statics = divided_reports(args["messages"])
    entries = [e for message in messages for e in decode_entries(message.encode())]
    reports = [decode_report(message) for message in args["overwritten"]]

    def overwritten(log: StatementLog, table: TableState) -> Statement:
        keep = rowset_filter(table, predicate_of(args["filters"], table.schema))
        read = TableRead(table.id, keep, overwrites=True)
        found = found_overwrite(log, table, reports, entries, read, job.parameters)
        return inserting(_with_statics(found, table), job.settings)

    return commit(job, base, bringing(overwritten, job, statics, sets=False))


def can_delete(args: Mapping[str, Any]) -> dict[str, Any]:
    """Say whether the rows that `filters` select can be deleted without being read.

    That is so if statistics show that they select each RowSet as a whole or not at all. It is also
    so for a range of the table's order, unless the deleted rows are to be counted. `count_rows` is
    the text of the setting that says so; raises InvalidInputError unless it is true or false.
    """
    snapshot = SNAPSHOTS.at(place_of(args), args["database"], args["epoch"])
    table, log = snapshot.tables[args["id"]], Log(open_store(place_of(args)))
    counts = truth("Setting spark.colonnade.countRows", args["count_rows"])
    counted = counts or is_state(args["epoch"])
    filters = args["filters"]
    return {
        "unread": _is_whole(log, table, filters, args.get("now"))
        or (not counted and _is_range(table, filters))
    }


def delete_where(args: Mapping[str, Any]) -> dict[str, Any]:
    """Delete the rows that `filters` select, by a `job` without tasks; `told` as in `telling`."""
    where = exact_predicate(args["filters"])
    job, base = _planned(args)

    def deleted(log: StatementLog, table: TableState) -> Statement:
        return evaluate_delete(log, table, where, counted=is_state(job.base))

    return commit(job, base, telling(deleted, args))


def _planned(args: Mapping[str, Any]) -> tuple[WriteJob, Snapshot]:
    job = job_of(args)
    return job, SNAPSHOTS.at(job.address, args["database"], job.base)


def _is_range(table: TableState, filters: Sequence[Tree]) -> bool:
    try:
        return is_range(table, exact_predicate(filters))
    except InvalidInputError:
        return False  # something that only Spark can evaluate


def _is_whole(log: Log, table: TableState, filters: Sequence[Tree], now_ms: int | None) -> bool:
    try:
        where = exact_predicate(filters)
        some, others = judge(log.rowsets.view(table, rowset_filter(table, where), now_ms), where)
    except InvalidInputError:
        return False  # something that only Spark can evaluate
    return not (some & others).any()


OPS = {
    "commit_rows": commit_rows,
    "commit_overwrite": commit_overwrite,
    "can_delete": can_delete,
    "delete_where": delete_where,
}
