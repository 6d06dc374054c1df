"""Statements on an open table: how each of them becomes an epoch.

`run` commits a statement on the newest state, and evaluates it again after a conflict. An append or
an overwrite is meant for the state that was read last, from which its rows may come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.later import later
from colonnade.manifests.log.log import TRIES, pause_before
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.keys.policy import merges
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.scan.user_rows import HELD, batches_of, held_batches
from colonnade.tableformat.statements.change import change_of
from colonnade.tableformat.statements.evaluators import Evaluate
from colonnade.tableformat.statements.statement import RowCounts, Statement, has_batch
from colonnade.tableformat.table.evolution.fit_rows import UnknownColumns, fit_rows
from colonnade.tableformat.table.open_table import OpenTable
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.input.arrow_input import in_memory
from colonnade.tableformat.write.expiry import expiry_of
from colonnade.tableformat.write.job import end_of_lease, take_lease
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings, check_settings

if TYPE_CHECKING:
    from colonnade.tableformat.compaction import auto
    from colonnade.tableformat.statements import append as appends
else:
    auto = later("colonnade.tableformat.compaction.auto")
    appends = later("colonnade.tableformat.statements.append")


def run(table: OpenTable, evaluate: Evaluate, commit: CommitSettings | None = None) -> RowCounts:
    """Commit a statement on the newest state, and return what it did. Raises as `_commit`."""
    check_settings(None, commit)
    return RowCounts._of_metrics(*_commit(table, "statement", evaluate, commit))


def overwrite(
    table: OpenTable,
    evaluate: Evaluate,
    commit: CommitSettings | None,
    lease: WriteSettings | None = None,
) -> int:
    """Commit an overwrite on the state that was read last, and return its epoch.

    Its rows may have been read from that state, so it is evaluated once. The settings `lease` may
    ask for one. Raises as `_commit`.
    """
    check_settings(None, commit)
    return _commit(table, "overwrite", evaluate, commit, lease, table.snapshot, tries=1)[0]


def append(
    table: OpenTable,
    data: Any,
    unknown: UnknownColumns,
    settings: WriteSettings | None,
    commit: CommitSettings | None,
) -> int:
    """Append rows, and return the epoch; see `ArrowTable.append`."""
    data = in_memory(data, arrow_schema(table.state.schema))
    may_repeat = isinstance(data, HELD) and (commit is None or commit.expect_epoch is None)
    tries = TRIES if may_repeat else 1
    for attempt in range(tries):
        if attempt:
            table.log.pause(pause_before(attempt))
        try:
            return _append_once(table, data, unknown, settings, commit, may_repeat)
        except ConflictError:
            planned = table.location.find(table.snapshot)
            found = table.location.find(table.refresh())
            if attempt == tries - 1 or not _takes_same_rows(planned, found):
                raise
    raise AssertionError("unreachable")


def _append_once(
    table: OpenTable,
    data: Any,
    unknown: UnknownColumns,
    settings: WriteSettings | None,
    commit: CommitSettings | None,
    may_repeat: bool,
) -> int:
    check_settings(settings, commit, may_lease=True)
    base = _base_of_append(table, settings, may_repeat)
    if has_batch(commit, table.location.require(base)):
        return base.epoch
    rows = batches_of(data, arrow_schema(table.location.require(base).schema))
    base, rows, commit = _fit(table, base, rows, unknown, commit, data, settings)
    if has_batch(commit, table.location.require(base)):
        return base.epoch
    count = data.num_rows if isinstance(data, HELD) else None
    chosen = None if settings is None else settings.on_duplicate
    merging = merges(stored_table(table.location.require(base)), chosen)
    if merging:
        check_settings(settings, commit)
    given = list(rows) if merging else rows

    def evaluate(log: StatementLog, state: TableState, job_id: str) -> Statement:
        return appends.evaluate_append(log, state, given, job_id, settings, count)

    if merging:
        return _commit(table, "statement", evaluate, commit)[0]
    return _commit(table, "append", evaluate, commit, settings, base, tries=1)[0]


def _base_of_append(table: OpenTable, settings: WriteSettings | None, may_repeat: bool) -> Snapshot:
    """Return the state that rows are appended to: the last one read, unless that is too old.

    If the append may be repeated, the commit itself tells whether that state is too old. Behind a
    network, a look at it now spares the look of this commit, and of those that follow soon.
    """
    base, reader = table.snapshot, table.log.reader
    state = table.location.require(base)
    leases = settings is not None and settings.lease_hours is not None
    is_near = table.log.store.parallel == 1
    follows = (may_repeat and is_near) or reader.can_follow(base)
    if leases or state.constraints or not follows:
        # Rows can follow any epoch, but the new base must be read before the first row is
        # written: a vacuum in between may remove their files, and no job can lease an epoch
        # that was removed. Nor should rows be checked against a constraint that was dropped
        # since.
        return table.refresh()
    if state.primary_key:
        # A key that is deleted by now refuses no row.
        newest = reader.refresh(base)
        if _takes_same_rows(state, table.location.find(newest)):
            return table.see_committed(newest)
    return base


def _fit(
    table: OpenTable,
    base: Snapshot,
    batches: Iterator[pa.RecordBatch],
    unknown: UnknownColumns,
    commit: CommitSettings | None,
    data: Any,
    settings: WriteSettings | None,
) -> tuple[Snapshot, Iterator[pa.RecordBatch], CommitSettings | None]:
    """Fit rows and columns to each other; return also the settings of the rows' own commit."""
    table.location.store.require_writable()
    held = held_batches(data) if unknown.evolve else ()
    after, rows = fit_rows(
        table.log, table.location, base, batches, unknown, commit, held, settings
    )
    if after is not base:
        table.see_committed(after)
        if commit is not None and commit.expect_epoch is not None:
            commit = commit.model_copy(update={"expect_epoch": after.epoch})
    return after, rows, commit


def _commit(
    table: OpenTable,
    operation: str,
    evaluate: Evaluate,
    commit: CommitSettings | None = None,
    settings: WriteSettings | None = None,
    base: Snapshot | None = None,
    tries: int = TRIES,
) -> tuple[int, Mapping[str, int]]:
    """Commit a statement: the road of every statement on a table.

    `base` is the first state to evaluate it on; None means the newest one. After a conflict it is
    evaluated again on the newest one. `operation` names it in errors, and `settings` may ask for a
    lease. Returns the epoch, or the newest known one when nothing changed, and the counts of its
    history. Compacts the table if it asks for that. Raises ConflictError after `tries` conflicts,
    and the errors of `evaluate` and `Log.commit`.
    """
    log = table.log
    table.location.store.require_writable()

    def planned(base: Snapshot) -> Change | None:
        job_id = new_job_id()
        state = table.location.require(base)
        if has_batch(commit, state):
            return None
        own = StatementLog.begin(log, base, state)
        expiry_of(state, settings, own.present_ms)  # refuses what would leave a lease behind
        take_lease(log, base, job_id, settings, commit)
        statement = evaluate(own, state, job_id)
        ended = end_of_lease(base.epoch, job_id, settings)
        return change_of(statement, own, base, state, job_id, commit, ended=ended)

    first = table.refresh() if base is None else base
    after, epoch = log.commit_statement(first, planned, operation, tries)
    after = table.see_committed(after)
    if epoch is not None and table.location.id is not None:
        table.see_committed(auto.compact_after(log, after, table.location.id))
    return after.epoch, (epoch and epoch.metrics) or {}


def _takes_same_rows(planned: TableState | None, found: TableState | None) -> bool:
    """Return whether rows that were planned for a table may be written again to a later state.

    Not if its columns or rules changed: a column may have the name of another one by now.
    """
    if planned is None or found is None:
        return False
    return all(
        getattr(planned, part) == getattr(found, part)
        for part in ("id", "created_epoch", "schema", "constraints", "primary_key")
    )
