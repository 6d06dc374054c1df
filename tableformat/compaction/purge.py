"""Before a compaction: delete the rows that have expired, so that the compaction leaves them out.

Guide: docs/lifetimes.md#purging
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from colonnade.manifests.arrays.expired_regions import expired_share
from colonnade.manifests.commit.change import Change
from colonnade.manifests.compaction.purge import purge_share
from colonnade.manifests.ids import TableId, new_job_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.statements.change import make_change
from colonnade.tableformat.statements.expire import evaluate_drop, evaluate_expire
from colonnade.tableformat.statements.statement import Statement


def purge_table(log: Log, base: Snapshot, table: TableId) -> Snapshot:
    """Drop wholly expired RowSets of a table, and delete expired rows where these are many.

    Both are epochs of their own, and wait for the grace of the table. Many are at least the share
    `ttl.purge.share` of a RowSet, as its bounds suggest. Returns the state after that, which is
    `base` if nothing expires. Reads the columns that say when rows expire, of these RowSets alone.
    Raises InvalidInputError for an invalid share; ConflictError after ten tries; CorruptionError,
    StoreError.
    """
    state = base.tables.get(table)
    if state is None or state.lifetimes is None:
        return base
    after = drop_expired(log, base, table)

    def expired(now: TableState, cutoff_ms: int) -> Statement | None:
        least = purge_share(now.properties)
        return evaluate_expire(
            log, now, cutoff_ms, lambda each: expired_share(now, each, cutoff_ms) >= least
        )

    return _commit(log, after, table, expired)


def drop_expired(log: Log, base: Snapshot, table: TableId) -> Snapshot:
    """Drop the RowSets of a table all of whose rows expired at least the grace ago.

    Returns the state after that. Reads the log alone. Raises ConflictError after ten tries;
    CorruptionError, StoreError.
    """
    return _commit(log, base, table, lambda now, cutoff: evaluate_drop(log, now, cutoff))


def purge_rowsets(log: Log, base: Snapshot, table: TableId, rowsets: Collection[int]) -> Snapshot:
    """Delete the expired rows of some RowSets, which a compaction is about to rewrite anyway.

    Returns the state after that. Costs and raises as `purge_table`.
    """
    wanted = frozenset(rowsets)

    def expired(now: TableState, cutoff_ms: int) -> Statement | None:
        return evaluate_expire(log, now, cutoff_ms, lambda each: each.id in wanted)

    return _commit(log, base, table, expired) if wanted else base


def cutoff_ms(log: Log, state: Snapshot, table: TableState) -> int:
    """Return the time at which rows had expired that may be purged now, in ms since 1970 UTC.

    Costs and raises as `Agreement.time`.
    """
    lives = table.lifetimes
    return log.agreement.time(state, table).earliest_ms - (0 if lives is None else lives.grace_ms)


def _commit(
    log: Log,
    base: Snapshot,
    table: TableId,
    evaluate: Callable[[TableState, int], Statement | None],
) -> Snapshot:
    def planned(state: Snapshot) -> Change | None:
        now = state.tables.get(table)
        if now is None or now.lifetimes is None:
            return None
        statement = evaluate(now, cutoff_ms(log, state, now))
        return None if statement is None else make_change(statement, now, new_job_id())

    return log.commit_statement(base, planned)[0]
