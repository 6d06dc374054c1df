"""Before a compaction: name the rows of range tombstones, so that the compaction leaves them out.

Spec: docs/spec/operations.md#range-tombstones
"""

from __future__ import annotations

from collections.abc import Collection

from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import TableId, new_job_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.statements.change import make_change
from colonnade.tableformat.statements.ranges import evaluate_clean


def clean_table(log: Log, base: Snapshot, table: TableId) -> Snapshot:
    """Name the rows of a table that range tombstones delete, and forget these tombstones.

    Returns the state after that, which is `base` for a table without range tombstones. Reads the
    columns of the tombstones where indexes do not decide them. Raises ConflictError after ten
    tries; CorruptionError, StoreError.
    """
    return _clean(log, base, table, None)


def clean_rowsets(log: Log, base: Snapshot, table: TableId, rowsets: Collection[int]) -> Snapshot:
    """Name the rows of some RowSets that range tombstones delete, before these are rewritten.

    The tombstones stay, because other RowSets may have rows of them. Returns the state after that,
    which is `base` if vectors name these rows already. Costs and raises as `clean_table`.
    """
    return _clean(log, base, table, frozenset(rowsets))


def _clean(log: Log, base: Snapshot, table: TableId, rowsets: frozenset[int] | None) -> Snapshot:
    def evaluate(state: Snapshot) -> Change | None:
        now = state.tables.get(table)
        statement = None if now is None else evaluate_clean(log, now, rowsets)
        if now is None or statement is None:
            return None
        return make_change(statement, now, new_job_id())

    return log.commit_statement(base, evaluate)[0]
