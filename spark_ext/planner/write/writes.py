"""Answer the Java source's requests about writes: a plan before the rows, a commit after them.

A job is sent as the JSON of its `WriteJob`, with its transaction id and base epoch. A commit that
is sent again to a new planner process therefore still happens only once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from colonnade.manifests.errors import InvalidInputError, RepeatedMatchError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.column_names import split_list, split_names
from colonnade.manifests.model.identity import identity_columns
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.spark_ext.options import SparkWriteOptions, parse_write_options
from colonnade.spark_ext.planner.clauses.constraints import described_constraint
from colonnade.spark_ext.planner.clauses.defaults import with_defaults
from colonnade.spark_ext.planner.clauses.filters import overwritten
from colonnade.spark_ext.planner.clauses.generated import described_generation, require_filled
from colonnade.spark_ext.planner.clauses.identity_columns import require_fillable, stated_identities
from colonnade.spark_ext.planner.clauses.partitions import described_layout, layout_texts
from colonnade.spark_ext.planner.clauses.sort_keys import clustered_by
from colonnade.spark_ext.planner.clauses.static_columns import PARTITION_KEY, STATIC
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import job_of, place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.planner.state.unsent import UNSENT
from colonnade.spark_ext.planner.write.base import base_of, evolved
from colonnade.spark_ext.planner.write.commits import commit
from colonnade.spark_ext.planner.write.expiry import require_expiring
from colonnade.spark_ext.planner.write.identity import remember
from colonnade.spark_ext.planner.write.merging import check_merging, merge_options
from colonnade.spark_ext.planner.write.rows import changed_rows
from colonnade.spark_ext.planner.write.statics import bringing, divided_reports, statics_task
from colonnade.spark_ext.planner.write.told import telling
from colonnade.spark_ext.table_design import TableDesign, refuse_other_case
from colonnade.spark_ext.types import from_json
from colonnade.spark_ext.write_plan import plan_spark_write
from colonnade.spark_ext.write_task import StaticsTask, task_json
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import Reported, written_statement
from colonnade.tableformat.statements.reported import TaskReport
from colonnade.tableformat.table.peer_words import without_peer_words
from colonnade.tableformat.table.properties import PRIMARY_KEY, SORT_KEY
from colonnade.tableformat.write.job import WriteJob, take_lease
from colonnade.tableformat.write.run import decode_entries
from colonnade.tableformat.write.settings import CommitSettings

_ELSEWHERE = {
    "partitionBy": "partitionBy() or PARTITIONED BY",
    "sortKey": "clusterBy(), CLUSTER BY or the property sortKey",
    "primaryKey": "PRIMARY KEY or the property primaryKey",
}
"""Where a write may say what an option says, too."""


def check_write_options(args: Mapping[str, Any]) -> dict[str, Any]:
    """Check the options of a write, before anything else. Raises InvalidInputError."""
    parse_write_options(args["options"])
    return {}


def refuse_table_options(args: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse `options` of a statement that creates a table without rows. Raises InvalidInputError.

    Options of other formats that only tune are taken, as in a write.
    """
    if left := without_peer_words(args["options"], "Option"):
        raise InvalidInputError(
            f"A table does not keep options, such as {', '.join(left)}; give them to each read or"
            " write."
        )
    return {}


def plan_write(args: Mapping[str, Any]) -> dict[str, Any]:
    """Plan a write to the table at `path` of rows with the Spark schema `schema`.

    `overwrite` deletes all rows. With `where`, filters as in `filters.py`, it deletes the rows
    that they select; with `dynamic`, the partitions that get new rows. If the reply's `exact` is
    false, only Spark can find the rows that `where` selects; the caller then uses
    `commit_overwrite`.

    `filled` names the generated columns that Spark computes in the rows, or is None if the
    statement writes no rows. `seen` is the state that the statement has read, or None for the
    newest. `design` describes a table to create. `transaction` is an id to commit under, if any.
    `query` is as in `load.load`. `evolving` says for which rows the epoch first gives the table
    what it lacks (`brought_columns.with_columns`); None means that nothing changes. `layout` has
    the `partitioning` and the `cluster_by` of `table_design` for a table without a design: one that
    is new, or whose columns the option overwriteSchema replaces. `given` is what
    `merging.columns_given` or `merging.merge_by_key` returned, or has the `columns` None where
    nobody knows which columns the user gave; without it, the user gave all columns.
    Raises ConflictError if the path now leads to another table than the one seen.
    """
    design, filters = args["design"], args["where"]
    options = parse_write_options({**args["options"], "path": args["path"]})
    query = args.get("query")
    location, base = base_of(place(options.path, options.storage), args["seen"], query)
    if TRANSACTIONS.to_write(location) is not None:
        _check_within(options)
    state, changes = evolved(location, base, args.get("evolving"))
    table = _written_table(location, state, design)
    where, exact = (None, True) if filters is None else overwritten(filters, table)
    given = args.get("given")
    options = _laid_out(merge_options(options, given), args.get("layout"))
    job = plan_spark_write(
        location,
        state,
        options,
        from_json(json.loads(args["schema"])),
        args["overwrite"],
        design=None if design is None else _designed(table_design(design), options),
        where=where,
        dynamic=args.get("dynamic", False),
        named=None if given is None else given["columns"],
        agreed=lambda new, table: SNAPSHOTS.agreed(location.store, base or new, table, query),
    )
    job = check_merging(job, table, options, given)
    job = job if base is None else job.with_columns(base, changes)
    if job.create is None:
        require_fillable(job.target)
    require_expiring(job, args.get("filled", ()))
    require_filled(job.target.name, job.target.table_schema, args.get("filled", ()))
    if (transaction := args.get("transaction")) is not None:
        job = job.model_copy(update={"transaction": transaction})
    else:
        UNSENT.add(job.transaction)
    take_lease(Log(location.store), base, job.job_id, job.settings, job.commit)
    remember(job)
    statics = statics_task(job, table, from_json(json.loads(args["schema"])))
    return {
        **_described(job, exact, statics),
        "path": location.url,
        "database": None if base is None else base.database,
    }


def _written_table(
    location: Location, state: Snapshot | None, design: Mapping[str, Any] | None
) -> TableState | None:
    """Return the table at a location, or None.

    A new one must not have the name of another table but for case, unless `any_case` of its design.
    """
    table = None if state is None else location.find(state)
    if state and design and not table and not design.get("any_case"):
        refuse_other_case(state, location.new_table_name)
    return table


def _described(job: WriteJob, exact: bool, statics: StaticsTask | None) -> dict[str, Any]:
    """Describe a planned write to the Java source."""
    target = job.target
    names = {column.id: column.name for column in target.table_schema.fields}
    return {
        "job": job.model_dump_json(),
        "task": task_json(job, statics=statics),
        "exact": exact,
        "identified": bool(identity_columns(target.table_schema)),
        "ordering": [
            {"column": names[key.column], "descending": key.descending} for key in target.sort_key
        ],
        "partitioning": described_layout(target.partition_fields, target.table_schema),
    }


def commit_write(args: Mapping[str, Any]) -> dict[str, Any]:
    """Commit the RowSets that the tasks of a `job` wrote in one epoch; `messages` list them.

    `database` is the one in the reply of the plan. An append of no rows to an existing table makes
    no epoch. For a MERGE that only inserts rows, `merged` has the `keys` of `commit_rows`. If
    several rows of a MERGE by the primary key match one row, the reply's `repeated` says so.
    """
    job = job_of(args)
    messages, statics = divided_reports(args["messages"])
    entries = tuple(e for text in messages for e in decode_entries(text.encode()))
    if not (statics.entries or job.needs_commit(entries)):
        return {"epoch": job.base}
    known, merged = args["database"], args.get("merged")
    base = None if known is None else SNAPSHOTS.at(job.address, known, job.base)
    reported: Reported = partial(written_statement, job, entries)
    if merged is not None and job.mode == "append" and job.create is None:
        inserted = [TaskReport(rowsets=entries)]
        reported = partial(changed_rows, kind="merge", reports=inserted, filters=None, keys=merged)
    try:
        return commit(job, base, bringing(telling(reported, args), job, statics, sets=False))
    except RepeatedMatchError as error:
        return {"repeated": error.message}


def _laid_out(options: SparkWriteOptions, layout: Mapping[str, Any] | None) -> SparkWriteOptions:
    """Return options with what partitionBy() and clusterBy() say. Raises InvalidInputError."""
    if not layout:
        return options
    fields, key = layout_texts(layout["partitioning"]), clustered_by(layout["cluster_by"])
    _refuse_twice(fields, options.partition_by, "partitionBy")
    _refuse_twice(key, options.sort_key, "sortKey")
    return replace(
        options,
        partition_by=fields or options.partition_by,
        sort_key=key or options.sort_key,
    )


def _designed(design: TableDesign, options: SparkWriteOptions) -> TableDesign:
    """Return a design whose layout no option states. Raises InvalidInputError."""
    _refuse_twice(design.partition_by, options.partition_by, "partitionBy")
    _refuse_twice(design.sort_key, options.sort_key, "sortKey")
    _refuse_twice(design.primary_key, options.primary_key, "primaryKey")
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


def table_design(args: Mapping[str, Any]) -> TableDesign:
    """Convert the JSON of a table that a statement describes.

    `schema` is its Spark schema. The sort key is either `cluster_by`, the paths of the columns of
    CLUSTER BY, or the property `sortKey`, which can say `desc`. The property `primaryKey` has the
    columns of the primary key. `partitioning`, if given, is its layout (`partitions.py`).
    `defaults` and `identities` are those of columns, by name (`defaults.py`,
    `identity_columns.py`). `generated` are the generated columns (`generated.py`).
    """
    properties = dict(args["properties"])
    sort_key = split_list(properties.pop(SORT_KEY, ""))
    primary_key = split_names(properties.pop(PRIMARY_KEY, ""))
    static = split_names(properties.pop(STATIC, ""))
    partition_key = split_names(properties.pop(PARTITION_KEY, ""))
    clustered = clustered_by(args["cluster_by"])
    if sort_key and clustered:
        raise InvalidInputError(f"Give either CLUSTER BY or the property {SORT_KEY}, not both.")
    columns = from_json(json.loads(args["schema"]))
    return TableDesign(
        with_defaults(columns, args.get("defaults", {})),
        sort_key or clustered,
        properties,
        args["comment"],
        args["replace"],
        layout_texts(args.get("partitioning", ())),
        tuple(map(described_constraint, args.get("constraints", ()))),
        stated_identities(args.get("identities", {})),
        tuple(map(described_generation, args.get("generated", ()))),
        primary_key,
        static,
        partition_key,
    )


OPS = {
    "check_write_options": check_write_options,
    "refuse_table_options": refuse_table_options,
    "plan_write": plan_write,
    "commit_write": commit_write,
}
