"""Answer requests about a column that Spark computes: a plan, and a commit after each round.

Spark writes the column of the RowSets that a reply lists, and then asks for the commit. If
concurrent writers have added RowSets meanwhile, the reply lists these instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import Operation
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.state.view import View
from colonnade.manifests.store import open_store
from colonnade.spark_ext.planner.messages.base import operation
from colonnade.spark_ext.planner.messages.rewrites import (
    AskedRowSet,
    CommitFill,
    Filled,
    FillRound,
    PlanFill,
    PlannedFill,
)
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import known, place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.planner.write.base import require_view
from colonnade.spark_ext.types import from_json
from colonnade.spark_ext.write_task import columns_task_json
from colonnade.tableformat.compaction.clean import clean_table
from colonnade.tableformat.statements.columns.fill import (
    Fill,
    fill_parameters,
    fill_target,
    with_columns,
)
from colonnade.tableformat.statements.columns.fill_job import (
    FillJob,
    UnfilledError,
    decode_filled,
    leave_to_engine,
)
from colonnade.tableformat.statements.columns.written_columns import encode_rowsets, task_rowsets
from colonnade.tableformat.table.computed_columns import NewColumn
from colonnade.tableformat.write.job import plan_write

FILLED_SCHEMA = "epoch long, rows_updated long, rowsets_touched long, bytes_written long"


def run_by_jar(_: Mapping[str, Any]) -> NoReturn:
    """Stand for a procedure that the jar runs by the operations of this module."""
    raise AssertionError("The jar runs this procedure, because it needs Spark.")


@operation
def plan_fill(request: PlanFill) -> PlannedFill:
    """Raise the errors of `fill_target` and `FillJob.plan`."""
    TRANSACTIONS.refuse(request.path, "filled")
    named = request.view
    location, _ = require_view(place(request.path), named)
    base = SNAPSHOTS.at(location.store.address, named.database, named.epoch)
    log = SNAPSHOTS.log(location.store)
    base = clean_table(log, base, location.require(base).id)
    before = location.require(base)
    altered = _altered(request, before)
    table = with_columns(before, altered)
    target = fill_target(table, request.column, is_new=bool(altered))
    job = FillJob(
        write=plan_write(location, base, "append"),
        operation="add_column" if altered else "backfill",
        altered=altered,
        target=target.id,
        reads=tuple(before.schema.field(name).id for name in request.reads),
        parameters=fill_parameters(target, request.where),
    )
    view = log.rowsets.view(before, None, None)
    plan = job.plan(before)
    if plan.of_all_rows:
        plan.check_room(log.limits, len(view.rowsets))
    return PlannedFill(
        fill=job.model_dump_json(),
        task=columns_task_json(
            job.write, plan.table, log.limits, (plan.target,), len(view.rowsets)
        ),
        first=_round(log, base.epoch, view),
    )


@operation
def commit_fill(request: CommitFill) -> Filled:
    """Raise the errors of `Log.commit_change`."""
    job = FillJob.model_validate_json(request.fill)
    address = known(job.write.address)
    base = SNAPSHOTS.at(address, request.database, job.write.base)
    log = SNAPSHOTS.log(open_store(address))
    plan = job.plan(base.tables[job.write.target.table])  # type: ignore[index]
    fill = Fill(log, plan, leave_to_engine)
    fill.add(decode_filled(log, job, plan, request.live_rowsets, request.reports))
    try:
        head = log.reader.refresh(base)
        if plan.fits(head) and (missing := fill.missing(head)).rowsets:
            raise UnfilledError(head, missing)
        if not job.altered and not fill.changes(head):
            return Filled(rows=[(head.epoch, 0, 0, 0)])
        after, epoch = log.commit_change(fill.change(job.write, job.altered, job.parameters), base)
    except UnfilledError as unfilled:
        return Filled(next=_round(log, unfilled.head.epoch, unfilled.view))
    counts = (epoch and epoch.metrics) or {}
    names = ("rows_updated", "rowsets_touched", "bytes_written")
    return Filled(rows=[(after.epoch, *(counts.get(name, 0) for name in names))])


def _altered(request: PlanFill, before: TableState) -> tuple[Operation, ...]:
    if request.added is None:
        return ()
    column = from_json(json.loads(request.added)).fields[0]
    return NewColumn(column).alter(before)


def _round(log: Log, epoch: int, view: View) -> FillRound:
    texts = (encode_rowsets(view.rowsets),)
    return FillRound(epoch=epoch, live_rowsets=texts, rowsets=asked_rowsets(log, view))


def asked_rowsets(log: Log, view: View) -> tuple[AskedRowSet, ...]:
    """Return what tasks need of the RowSets whose columns they write. Raises as `task_rowsets`."""
    return tuple(
        AskedRowSet(id=each["id"], task=json.dumps(each)) for each in task_rowsets(log.store, view)
    )
