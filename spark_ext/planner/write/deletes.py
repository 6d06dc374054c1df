"""Answer the Java source's requests about a DELETE that the log decides: no task runs.

Spark asks while it plans the statement whether the log decides it. When it runs the statement, one
request plans and commits it.
"""

from __future__ import annotations

from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.store import open_store
from colonnade.spark_ext.options.user_options import truth
from colonnade.spark_ext.planner.clauses.filters import exact_predicate
from colonnade.spark_ext.planner.messages.base import Answer, operation
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.spark_ext.planner.messages.writes import CanDelete, Committed, DeleteWhere, PlanWrite
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import place_of
from colonnade.spark_ext.planner.state.transactions import is_state
from colonnade.spark_ext.planner.state.unsent_transactions import UNSENT
from colonnade.spark_ext.planner.write.commits import commit
from colonnade.spark_ext.planner.write.history_text import with_history
from colonnade.spark_ext.planner.write.writes import planned_job
from colonnade.tableformat.predicate import Predicate
from colonnade.tableformat.scan.plan import rowset_filter
from colonnade.tableformat.scan.selection import judge
from colonnade.tableformat.statements.delete import evaluate_delete
from colonnade.tableformat.statements.ranges import is_range
from colonnade.tableformat.statements.statement import Statement


@operation
def can_delete(request: CanDelete) -> Answer:
    """Say yes if statistics show that the filters select each RowSet as a whole or not at all.

    Say it also for a range of the table's order, unless the deleted rows are to be counted. Raises
    InvalidInputError unless `count_rows` is true or false.
    """
    table = SNAPSHOTS.of_view(request.view)[1]
    counts = truth("Setting spark.colonnade.countRows", request.count_rows)
    counted = counts or is_state(request.view.epoch)
    try:
        where = exact_predicate(request.filters)
        unread = _is_whole(request.view, table, where) or (not counted and is_range(table, where))
    except InvalidInputError:
        unread = False  # something that only Spark can evaluate
    return Answer(yes=unread)


@operation
def delete_where(request: DeleteWhere) -> Committed:
    """Raise the errors of `plan_write` and `commit`.

    The table may have been dropped after an earlier request has landed. Then return its epoch.
    """
    where = exact_predicate(request.filters)
    table = SNAPSHOTS.of_view(request.view)[1]
    plan = PlanWrite(
        path=request.path,
        columns="",
        options=request.options,
        view=request.view,
        transaction=request.transaction,
        filled=None,
    )
    try:
        planned = planned_job(plan, table.schema)
    except ConflictError as error:
        if UNSENT.has(request.transaction) or is_state(request.view.epoch):
            raise
        log = SNAPSHOTS.log(open_store(place_of(request.view)))
        return Committed(epoch=log.find_sent(request.transaction, error).epoch)

    def deleted(log: StatementLog, table: TableState) -> Statement:
        return evaluate_delete(log, table, where, counted=is_state(planned.job.base))

    return commit(planned.job, planned.base, with_history(deleted, request.history))


def _is_whole(view: NamedView, table: TableState, where: Predicate) -> bool:
    log = Log(open_store(place_of(view)))
    some, others = judge(log.rowsets.view(table, rowset_filter(table, where), view.now), where)
    return not (some & others).any()
