"""Answer the Java source's requests about writes: a plan before the rows, a commit after them.

A job is sent as the JSON of its `WriteJob`, with its transaction id and base epoch. A commit that
is sent again to a new planner process therefore still happens only once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from colonnade.manifests.errors import InvalidInputError, RepeatedMatchError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.column_names import split_list, split_names
from colonnade.manifests.model.columns.identity import identity_columns
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.spark_ext.options.write import SparkWriteOptions, parse_write_options
from colonnade.spark_ext.planner.clauses.constraints import described_constraints
from colonnade.spark_ext.planner.clauses.defaults import with_defaults
from colonnade.spark_ext.planner.clauses.filters import overwritten
from colonnade.spark_ext.planner.clauses.generated import described_generation, require_filled
from colonnade.spark_ext.planner.clauses.identity_columns import require_fillable, stated_identities
from colonnade.spark_ext.planner.clauses.partitions import described_layout, layout_texts
from colonnade.spark_ext.planner.clauses.sort_keys import clustered_by, described_order
from colonnade.spark_ext.planner.clauses.static_columns import PARTITION_KEY, STATIC
from colonnade.spark_ext.planner.messages.base import Done, operation
from colonnade.spark_ext.planner.messages.clauses import Design, Layout
from colonnade.spark_ext.planner.messages.writes import (
    CheckWriteOptions,
    Committed,
    CommitWrite,
    PlannedJob,
    PlanWrite,
    RefuseTableOptions,
)
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import job_of, place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.planner.state.unsent_transactions import UNSENT
from colonnade.spark_ext.planner.write.base import base_of, evolved
from colonnade.spark_ext.planner.write.commits import commit
from colonnade.spark_ext.planner.write.expiry import require_expiring
from colonnade.spark_ext.planner.write.history_text import with_history
from colonnade.spark_ext.planner.write.identity import remember
from colonnade.spark_ext.planner.write.merging import check_merging, merge_options
from colonnade.spark_ext.planner.write.rows import changed_rows
from colonnade.spark_ext.planner.write.statics import statics_of, statics_task, with_statics
from colonnade.spark_ext.table_design import TableDesign, refuse_other_case
from colonnade.spark_ext.types import from_json
from colonnade.spark_ext.write_plan import plan_spark_write
from colonnade.spark_ext.write_task import task_json
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import Reported, written_statement
from colonnade.tableformat.statements.task_reports import TaskReport, decode_report, entries_of
from colonnade.tableformat.table.design.other_formats import without_peer_words
from colonnade.tableformat.table.design.properties import PRIMARY_KEY, SORT_KEY
from colonnade.tableformat.table.design.spec import TableSpec
from colonnade.tableformat.write.job import WriteJob, take_lease
from colonnade.tableformat.write.settings import CommitSettings

_ELSEWHERE = {
    "partitionBy": "partitionBy() or PARTITIONED BY",
    "sortKey": "clusterBy(), CLUSTER BY or the property sortKey",
    "primaryKey": "PRIMARY KEY or the property primaryKey",
}
"""Where a write may say what an option says, too."""


@operation
def check_write_options(request: CheckWriteOptions) -> Done:
    """Raise InvalidInputError for wrong options."""
    parse_write_options(request.options)
    return Done()


@operation
def refuse_table_options(request: RefuseTableOptions) -> Done:
    """Raise InvalidInputError. Options of other formats that only tune are taken, as in a write."""
    if left := without_peer_words(request.options, "Option"):
        raise InvalidInputError(
            f"A table does not keep options, such as {', '.join(left)}; give them to each read or"
            " write."
        )
    return Done()


class Planned(NamedTuple):
    """A planned write, the state that it is planned on, and the existing table in it.

    If it is not `exact`, only Spark can find the rows that it overwrites.
    """

    job: WriteJob
    location: Location
    base: Snapshot | None
    table: TableState | None
    exact: bool


@operation
def plan_write(request: PlanWrite) -> PlannedJob:
    """Raise the errors of `plan_spark_write` and `base_of`."""
    columns = from_json(json.loads(request.columns))
    planned = planned_job(request, columns)
    job, target, base = planned.job, planned.job.target, planned.base
    return PlannedJob(
        job=job.model_dump_json(),
        task=task_json(job, statics=statics_task(job, planned.table, columns)),
        exact=planned.exact,
        identified=bool(identity_columns(target.table_schema)),
        ordering=described_order(target.sort_key, target.table_schema),
        partitioning=described_layout(target.partition_fields, target.table_schema),
        path=planned.location.url,
        database=None if base is None else base.database,
    )


def planned_job(request: PlanWrite, columns: TableSchema) -> Planned:
    """Plan a write of rows with these columns. Raises as `plan_write`."""
    options = parse_write_options({**request.options, "path": request.path})
    location, base = base_of(place(options.path, options.storage), request.view, request.query)
    if TRANSACTIONS.to_write(location) is not None:
        _check_within(options)
    state, changes = evolved(location, base, request.view)
    table = _written_table(location, state, request.design)
    where, exact = (None, True)
    if request.where is not None:
        where, exact = overwritten(request.where, table)
    given, design = request.user_columns, request.design
    options = _laid_out(merge_options(options, given), request.layout)
    job = plan_spark_write(
        location,
        state,
        options,
        columns,
        request.overwrite,
        design=None if design is None else _designed(table_design(design), options),
        where=where,
        dynamic=request.dynamic,
        named=None if given is None else given.columns,
        agreed=lambda new, table: SNAPSHOTS.statement_time(
            location.store, base or new, table, request.view
        ),
    )
    job = check_merging(job, table, options, given)
    job = job if base is None else job.with_columns(base, changes)
    if job.create is None:
        require_fillable(job.target)
    require_expiring(job, request.filled)
    require_filled(job.target.name, job.target.table_schema, request.filled)
    if request.transaction is not None:
        job = job.model_copy(update={"transaction": request.transaction})
    else:
        UNSENT.add(job.transaction)
    take_lease(Log(location.store), base, job.job_id, job.settings, job.commit)
    remember(job)
    return Planned(job, location, base, table, exact)


def _written_table(
    location: Location, state: Snapshot | None, design: Design | None
) -> TableState | None:
    """Return the table at a location, or None.

    A new one must not differ from the name of another table by case alone, unless `any_case` of its
    design.
    """
    table = None if state is None else location.find(state)
    if state and design and not table and not design.any_case:
        refuse_other_case(state, location.new_table_name)
    return table


@operation
def commit_write(request: CommitWrite) -> Committed:
    """Make no epoch for an append of no rows to an existing table. Raise the errors of `commit`."""
    job = job_of(request.job)
    reports = [decode_report(message) for message in request.messages]
    entries, statics = entries_of(reports), statics_of(reports)
    if not (statics.entries or job.needs_commit(entries)):
        return Committed(epoch=job.base)
    known, merged = request.database, request.merged
    base = None if known is None else SNAPSHOTS.at(job.address, known, job.base)
    reported: Reported = partial(written_statement, job, entries)
    if merged is not None and job.mode == "append" and job.create is None:
        inserted = [TaskReport(rowsets=entries)]
        reported = partial(changed_rows, kind="merge", reports=inserted, filters=None, keys=merged)
    try:
        said = with_history(reported, request.history)
        return commit(job, base, with_statics(said, job, statics, sets=False))
    except RepeatedMatchError as error:
        return Committed(refused=error.message)


def _laid_out(options: SparkWriteOptions, layout: Layout | None) -> SparkWriteOptions:
    """Return options with what partitionBy() and clusterBy() say. Raises InvalidInputError."""
    if layout is None:
        return options
    fields, key = layout_texts(layout.partitioning), clustered_by(layout.cluster_by)
    _refuse_twice(fields, options.partition_by, "partitionBy")
    _refuse_twice(key, options.sort_key, "sortKey")
    return replace(
        options,
        partition_by=fields or options.partition_by,
        sort_key=key or options.sort_key,
    )


def _designed(design: TableDesign, options: SparkWriteOptions) -> TableDesign:
    """Return a design whose layout no option states. Raises InvalidInputError."""
    _refuse_twice(design.spec.partition_by, options.partition_by, "partitionBy")
    _refuse_twice(design.spec.sort_key, options.sort_key, "sortKey")
    _refuse_twice(design.spec.primary_key, options.primary_key, "primaryKey")
    return design


def _refuse_twice(stated: Sequence[str], by_option: Sequence[str], option: str) -> None:
    """Refuse an option that says again what a clause, a property or a method of the writer says."""
    if stated and by_option:
        raise InvalidInputError(
            f"The option {option} and another part of this write, such as {_ELSEWHERE[option]},"
            " both say how the new table is arranged; give only one of them."
        )


def _check_within(options: SparkWriteOptions) -> None:
    """Refuse, for a write within a transaction, options that only a whole commit can have."""
    if options.commit != CommitSettings() or options.settings.lease_hours is not None:
        raise InvalidInputError(
            "Options txnAppId, txnVersion, expectEpoch, userMetadata and leaseHours are for writes"
            " outside of transactions; leave them out."
        )


def table_design(design: Design) -> TableDesign:
    """Return the table that a statement describes. Raises InvalidInputError.

    The sort key may also be the property `sortKey`, which can say `desc`. The property `primaryKey`
    has the columns of the primary key.
    """
    properties = dict(design.properties)
    sort_key = split_list(properties.pop(SORT_KEY, ""))
    primary_key = split_names(properties.pop(PRIMARY_KEY, ""))
    static = split_names(properties.pop(STATIC, ""))
    partition_key = split_names(properties.pop(PARTITION_KEY, ""))
    clustered = clustered_by(design.layout.cluster_by)
    if sort_key and clustered:
        raise InvalidInputError(f"Give either CLUSTER BY or the property {SORT_KEY}, not both.")
    columns = from_json(json.loads(design.columns))
    spec = TableSpec(
        with_defaults(columns, design.defaults),
        primary_key=primary_key,
        static=static,
        partition_key=partition_key,
        sort_key=sort_key or clustered,
        partition_by=layout_texts(design.layout.partitioning),
        identity=stated_identities(design.identities),
        generated={each.column: described_generation(each) for each in design.generated},
        constraints=described_constraints(design.constraints),
        properties=properties,
        comment=design.comment,
    )
    return TableDesign(spec, design.replace)
