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
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import known, place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.planner.write.base import require_seen
from colonnade.spark_ext.types import from_json
from colonnade.spark_ext.write_task import columns_task_json
from colonnade.tableformat.compaction.clean import clean_table
from colonnade.tableformat.statements.fill import (
    Fill,
    fill_parameters,
    fill_target,
    with_columns,
)
from colonnade.tableformat.statements.fill_job import (
    FillJob,
    UnfilledError,
    decode_filled,
    leave_to_engine,
)
from colonnade.tableformat.statements.written_columns import encode_rowsets, task_rowsets
from colonnade.tableformat.table.computed_columns import NewColumn
from colonnade.tableformat.write.job import plan_write

FILLED_SCHEMA = "epoch long, rows_updated long, rowsets_touched long, bytes_written long"

Args = Mapping[str, Any]


def run_by_jar(_: Args) -> NoReturn:
    """Stand for a procedure that the jar runs by the operations of this module."""
    raise AssertionError("The jar runs this procedure, because it needs Spark.")


def plan_fill(args: Args) -> dict[str, Any]:
    """Plan to fill `column` of the table at `path`, from the columns `reads`.

    The request names the state that the values were resolved on. `schema` is Spark's schema of a
    new column, and None for one that the table has; then `where` is the condition as text, or None.
    The reply has the job (`fill`), the `task` of each of Spark's tasks, and the first round.
    """
    TRANSACTIONS.refuse(args["path"], "filled")
    location, _ = require_seen(place(args["path"]), args)
    base = SNAPSHOTS.at(location.store.address, args["database"], args["epoch"])
    log = SNAPSHOTS.log(location.store)
    base = clean_table(log, base, location.require(base).id)
    before = location.require(base)
    altered = _altered(args, before)
    table = with_columns(before, altered)
    target = fill_target(table, args["column"], is_new=bool(altered))
    job = FillJob(
        write=plan_write(location, base, "append"),
        operation="add_column" if altered else "backfill",
        altered=altered,
        target=target.id,
        reads=tuple(before.schema.field(name).id for name in args["reads"]),
        parameters=fill_parameters(target, args.get("where")),
    )
    view = log.rowsets.view(before, None, None)
    plan = job.plan(before)
    if plan.of_all_rows:
        plan.check_room(log.limits, len(view.rowsets))
    return {
        "fill": job.model_dump_json(),
        "task": columns_task_json(
            job.write, plan.table, log.limits, (plan.target,), len(view.rowsets)
        ),
        **_round(log, base.epoch, view),
    }


def commit_fill(args: Args) -> dict[str, Any]:
    """Commit the `reports` of tasks on the RowSets `asked`; or ask for further RowSets.

    The reply has `rows`, the result of the procedure. If RowSets have no values yet, it has the
    next round instead, and nothing was committed.
    """
    job = FillJob.model_validate_json(args["fill"])
    address = known(job.write.address)
    base = SNAPSHOTS.at(address, args["database"], job.write.base)
    log = SNAPSHOTS.log(open_store(address))
    plan = job.plan(base.tables[job.write.target.table])  # type: ignore[index]
    fill = Fill(log, plan, leave_to_engine)
    fill.add(decode_filled(log, job, plan, args["asked"], args["reports"]))
    try:
        head = log.reader.refresh(base)
        if plan.fits(head) and (missing := fill.missing(head)).rowsets:
            raise UnfilledError(head, missing)
        if not job.altered and not fill.changes(head):
            return {"rows": [(head.epoch, 0, 0, 0)]}
        after, epoch = log.commit_change(fill.change(job.write, job.altered, job.parameters), base)
    except UnfilledError as unfilled:
        return _round(log, unfilled.head.epoch, unfilled.view)
    counts = (epoch and epoch.metrics) or {}
    names = ("rows_updated", "rowsets_touched", "bytes_written")
    return {"rows": [(after.epoch, *(counts.get(name, 0) for name in names))]}


def _altered(args: Args, before: TableState) -> tuple[Operation, ...]:
    if args["schema"] is None:
        return ()
    column = from_json(json.loads(args["schema"])).fields[0]
    return NewColumn(column).alter(before)


def _round(log: Log, epoch: int, view: View) -> dict[str, Any]:
    return {
        "epoch": epoch,
        "asked": [encode_rowsets(view.rowsets)],
        "rowsets": task_rowsets(log.store, view),
    }


OPS = {"plan_fill": plan_fill, "commit_fill": commit_fill}
