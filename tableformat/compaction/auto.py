"""A small compaction by a writer after its commit, for tables whose property asks for it.

Guide: docs/compaction.md#after-a-commit
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from colonnade.manifests.compaction.policy import MIB, parse_policy
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.ids import TableId
from colonnade.manifests.later import later
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot

if TYPE_CHECKING:
    from colonnade.manifests.compaction import plan as compaction_plan
    from colonnade.tableformat.compaction import clean, execute, optimize, purge, run
else:
    compaction_plan = later("colonnade.manifests.compaction.plan")
    clean = later("colonnade.tableformat.compaction.clean")
    execute = later("colonnade.tableformat.compaction.execute")
    optimize = later("colonnade.tableformat.compaction.optimize")
    purge = later("colonnade.tableformat.compaction.purge")
    run = later("colonnade.tableformat.compaction.run")

AUTO_BYTES = 32 * MIB
"""The most stored bytes of a group that a writer compacts, so that it waits about a second."""

_log = logging.getLogger(__name__)


def compact_after(log: Log, head: Snapshot, table: str) -> Snapshot:
    """Compact one small group of a table that was just written, if its `compaction.auto` is true.

    The static values of the table are compacted like it. Returns the state after the compaction, or
    `head`. An error is only logged as a warning: the rows are committed, and the next maintenance
    run meets the same error. Costs nothing without the property. With it, reads the entries of the
    table's RowSets and rewrites the group. Before that, epochs of their own mark the rows of the
    group that deleted ranges have, and those that expired long enough ago, so that it leaves them
    out.
    """
    try:
        # Finding the table may read a page of a checkpoint.
        state = head.tables.get(TableId(table))
        if state is not None and parse_policy(state.properties).auto:
            head = _compact(log, head, state.id)
            if state.statics is not None:
                head = _compact(log, head, state.statics.id)
    except Exception as error:
        _log.warning(
            "No compaction after epoch %d: %s",
            head.epoch,
            error,
            exc_info=not isinstance(error, ColonnadeError),
        )
    return head


def _compact(log: Log, head: Snapshot, table: TableId) -> Snapshot:
    plan = _plan(log, head, table)
    if plan is None:
        return head
    [group] = plan.groups
    ready = clean.clean_rowsets(log, head, table, group.rowsets)
    ready = purge.purge_rowsets(log, purge.drop_expired(log, ready, table), table, group.rowsets)
    # The rows that have just got a vector are left out only by a plan that knows it.
    plan = plan if ready is head else _plan(log, ready, table)
    if plan is None:
        return ready
    return execute.execute_plan(log, ready, plan, runner=run.compact_here(log.store, 1))[0]


def _plan(log: Log, head: Snapshot, table: TableId) -> compaction_plan.CompactionPlan | None:
    """Return a plan with one small group, or None without one."""
    state = head.tables.get(table)
    if state is None:
        return None
    plan, _ = optimize.plan_table(log, head, state, optimize.Choices())
    small = next((group for group in plan.groups if group.bytes_in <= AUTO_BYTES), None)
    if small is None:
        return None
    return plan.model_copy(update={"groups": (small.model_copy(update={"after_commit": True}),)})
