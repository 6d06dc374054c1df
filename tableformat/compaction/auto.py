"""A small compaction by a writer after its commit, for tables whose property asks for it.

Guide: docs/compaction.md#after-a-commit
"""

from __future__ import annotations

import logging

from colonnade.manifests.compaction.policy import MIB, parse_policy
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.compaction.execute import execute_plan
from colonnade.tableformat.compaction.optimize import Chosen, plan_table
from colonnade.tableformat.compaction.run import compact_here

AUTO_BYTES = 32 * MIB
"""The most stored bytes of a group that a writer compacts, so that it waits about a second."""

_log = logging.getLogger(__name__)


def compact_after(log: Log, head: Snapshot, table: str) -> Snapshot:
    """Compact one small group of a table that was just written, if its `compaction.auto` is true.

    Returns the state after the compaction, or `head`. An error is only logged as a warning: the
    rows are committed, and the next maintenance run meets the same error. Costs nothing without the
    property. With it, reads the entries of the table's RowSets and rewrites the group.
    """
    try:
        # Finding the table may read a page of a checkpoint.
        state = head.tables.get(TableId(table))
        if state is not None and parse_policy(state.properties).auto:
            return _compact(log, head, state)
    except Exception as error:
        _log.warning(
            "No compaction after epoch %d: %s",
            head.epoch,
            error,
            exc_info=not isinstance(error, ColonnadeError),
        )
    return head


def _compact(log: Log, head: Snapshot, table: TableState) -> Snapshot:
    plan, _ = plan_table(log, head, table, Chosen())
    small = next((group for group in plan.groups if group.bytes_in <= AUTO_BYTES), None)
    if small is None:
        return head
    one = plan.model_copy(update={"groups": (small.model_copy(update={"after_commit": True}),)})
    after, _ = execute_plan(log, head, one, place=compact_here(log.store, 1))
    return after
