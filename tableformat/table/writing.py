"""The statements of a table: rows added, overwritten or changed in an epoch of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
from colonnade.tableformat.predicate import Where, parse_predicate
from colonnade.tableformat.scan.user_rows import HELD, batches_of, held_batches
from colonnade.tableformat.statements.change import change_of
from colonnade.tableformat.statements.methods import Evaluate, RowMethods
from colonnade.tableformat.statements.statement import RowCounts, Statement, has_batch
from colonnade.tableformat.table.evolution.fit_rows import UnknownColumns, fit_rows
from colonnade.tableformat.table.opened import OpenTable
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.input.arrow_input import in_memory
from colonnade.tableformat.write.expiry import expiry_of
from colonnade.tableformat.write.identity import LogDraws
from colonnade.tableformat.write.job import end_of_lease, take_lease
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings, check_settings

if TYPE_CHECKING:
    from colonnade.tableformat.compaction import auto
    from colonnade.tableformat.statements import append, overwrite
else:
    auto = later("colonnade.tableformat.compaction.auto")
    append = later("colonnade.tableformat.statements.append")
    overwrite = later("colonnade.tableformat.statements.overwrite")

EvaluateAt = Callable[[StatementLog, Snapshot, TableState, str], Statement]
"""Evaluates a statement on a table of a state; the last argument is the prefix of object ids."""


class Writing(OpenTable, RowMethods):
    """The methods of a table that change its rows, and how each of them becomes an epoch."""

    def append(
        self,
        data: Any,
        *,
        evolve: bool = False,
        ignore_unknown_columns: bool = False,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> int:
        """Add rows, and return the new epoch. Concurrent appends never conflict.

        `data` is anything that has rows: a pyarrow table, batch, reader, dataset or scanner; a
        frame of pandas or Polars, also a lazy one; a relation of DuckDB; a scan; a list of dicts; a
        dict of lists; any object with the Arrow C stream or array interface; a list or iterator of
        these. What can be streamed is never held as a whole. Columns are matched by name, and a
        nullable column may be missing. The state that was read last may be old: if retention has
        passed it, the newest state is read first.

        A column that the table does not have is an error. With `evolve` it becomes a column of the
        table, and the type of a column widens if the rows need that. The columns change in an epoch
        of their own, before the rows. With `ignore_unknown_columns` such a column is left out.

        The table is unchanged after an error, with one exception. A stream can be read only once,
        so columns that `evolve` has added for it stay when a value of a row is refused. A pyarrow
        table or batch is checked before, but not what its rows become where they merge. Raises
        InvalidInputError that names a column that does not fit, and NotFoundError when the table
        was dropped before. Raises ConflictError when a concurrent writer dropped the table, or
        changed its columns or constraints so that the rows may not fit. A vacuum may remove the
        files that were written so far, which a lease prevents. Then the rows of a pyarrow table or
        batch are written again, at most ten times. For other data, and for an expected epoch, this
        raises ConflictError, too.
        """
        unknown = UnknownColumns(evolve, ignore_unknown_columns)
        data = in_memory(data, self.schema)
        may_repeat = isinstance(data, HELD) and (commit is None or commit.expect_epoch is None)
        tries = TRIES if may_repeat else 1
        for attempt in range(tries):
            if attempt:
                self._log.pause(pause_before(attempt))
            try:
                return self._append(data, settings, commit, unknown, may_repeat)
            except ConflictError:
                planned = self._location.find(self._snapshot)
                found = self._location.find(self._refresh())
                if attempt == tries - 1 or not _takes_same_rows(planned, found):
                    raise
        raise AssertionError("unreachable")

    def overwrite(
        self,
        data: Any,
        where: Where | None = None,
        *,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> int:
        """Overwrite all rows, or the rows that meet `where`, and return the new epoch.

        A datetime in the condition needs a time zone if its column is a timestamp.

        Raises ConflictError when a concurrent writer changed what is overwritten since the table
        was last read. Raises InvalidInputError for a row that does not meet `where`.
        """
        check_settings(settings, commit, may_lease=where is None)
        predicate = None if where is None else parse_predicate(where)

        def evaluate(log: StatementLog, at: Snapshot, table: TableState, job_id: str) -> Statement:
            rows = batches_of(data, arrow_schema(table.schema))
            if predicate is None:
                draws = LogDraws(log.plain, at, table, job_id)
                return overwrite.evaluate_overwrite(log, table, rows, job_id, settings, draws)
            return overwrite.evaluate_overwrite_where(
                log, table, rows, predicate, job_id, settings, str(where)
            )

        return self._overwrite("overwrite", evaluate, commit, settings)

    def overwrite_partitions(
        self,
        data: Any,
        *,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> int:
        """Overwrite the rows of each partition that has rows in `data`; return the epoch.

        Without rows nothing happens. In a table without partitions, all rows are overwritten.
        Raises ConflictError when a concurrent writer wrote into one of the partitions since the
        table was last read.
        """
        check_settings(settings, commit)

        def evaluate(log: StatementLog, _: Snapshot, table: TableState, job_id: str) -> Statement:
            rows = batches_of(data, arrow_schema(table.schema))
            return overwrite.evaluate_overwrite_partitions(log, table, rows, job_id, settings)

        return self._overwrite("overwrite", evaluate, commit, None)

    def _append(
        self,
        data: Any,
        settings: WriteSettings | None,
        commit: CommitSettings | None,
        unknown: UnknownColumns,
        may_repeat: bool,
    ) -> int:
        """Append rows once, and return the epoch."""
        check_settings(settings, commit, may_lease=True)
        base = self._base_of_append(settings, may_repeat)
        if has_batch(commit, self._location.require(base)):
            return base.epoch
        rows = batches_of(data, arrow_schema(self._location.require(base).schema))
        base, rows, commit = self._fit(base, rows, unknown, commit, data, settings)
        if has_batch(commit, self._location.require(base)):
            return base.epoch
        count = data.num_rows if isinstance(data, HELD) else None
        merging = self._merges(base, settings)
        if merging:
            check_settings(settings, commit)
        given = list(rows) if merging else rows

        def evaluate(log: StatementLog, at: Snapshot, table: TableState, job_id: str) -> Statement:
            draws = LogDraws(log.plain, at, table, job_id)
            return append.evaluate_append(log, table, given, job_id, settings, draws, count)

        if merging:
            return self._commit("statement", evaluate, commit)[0]
        return self._commit("append", evaluate, commit, settings, base, tries=1)[0]

    def _base_of_append(self, settings: WriteSettings | None, may_repeat: bool) -> Snapshot:
        """Return the state that rows are appended to: the last one read, unless that is too old.

        If the append may be repeated, the commit itself tells whether that state is too old. Behind
        a network, a look at it now spares the look of this commit, and of those that follow soon.
        """
        base = self._snapshot
        table = self._location.require(base)
        leases = settings is not None and settings.lease_hours is not None
        is_near = self._log.store.parallel == 1
        follows = (may_repeat and is_near) or self._log.reader.can_follow(base)
        if leases or table.constraints or not follows:
            # Rows can follow any epoch, but the new base must be read before the first row is
            # written: a vacuum in between may remove their files, and no job can lease an epoch
            # that was removed. Nor should rows be checked against a constraint that was dropped
            # since.
            return self._refresh()
        if table.primary_key:
            # A key that is deleted by now refuses no row.
            newest = self._log.reader.refresh(base)
            if _takes_same_rows(table, self._location.find(newest)):
                return self._see_committed(newest)
        return base

    def _merges(self, base: Snapshot, settings: WriteSettings | None) -> bool:
        chosen = None if settings is None else settings.on_duplicate
        return merges(stored_table(self._location.require(base)), chosen)

    def _fit(
        self,
        base: Snapshot,
        batches: Iterator[pa.RecordBatch],
        unknown: UnknownColumns,
        commit: CommitSettings | None,
        data: Any,
        settings: WriteSettings | None,
    ) -> tuple[Snapshot, Iterator[pa.RecordBatch], CommitSettings | None]:
        """Fit rows and columns to each other; return also the settings of the rows' own commit."""
        self._location.store.require_writable()
        held = held_batches(data) if unknown.evolve else ()
        after, rows = fit_rows(
            self._log, self._location, base, batches, unknown, commit, held, settings
        )
        if after is not base:
            self._see_committed(after)
            if commit is not None and commit.expect_epoch is not None:
                commit = commit.model_copy(update={"expect_epoch": after.epoch})
        return after, rows, commit

    def _overwrite(
        self,
        operation: str,
        evaluate: EvaluateAt,
        commit: CommitSettings | None,
        settings: WriteSettings | None,
    ) -> int:
        """Commit a statement on the last state read, once: its rows may have been read from it."""
        return self._commit(operation, evaluate, commit, settings, self._snapshot, tries=1)[0]

    def _run(self, evaluate: Evaluate, commit: CommitSettings | None) -> RowCounts:
        return self._run_at(lambda log, _, table, job_id: evaluate(log, table, job_id), commit)

    def _run_at(self, evaluate: EvaluateAt, commit: CommitSettings | None = None) -> RowCounts:
        """Commit a statement on the newest state, and return what it did. Raises as `_commit`."""
        return RowCounts._of_metrics(*self._commit("statement", evaluate, commit))

    def _commit(
        self,
        operation: str,
        evaluate: EvaluateAt,
        commit: CommitSettings | None = None,
        settings: WriteSettings | None = None,
        base: Snapshot | None = None,
        tries: int = TRIES,
    ) -> tuple[int, Mapping[str, int]]:
        """Commit a statement: the road of every statement on the table.

        `evaluate` gets the log, a state, the table in it, and the prefix of the ids of new objects.
        `base` is the first state to evaluate it on; None means the newest one. After a conflict it
        is evaluated again on the newest one. `operation` names it in errors, and `settings` may ask
        for a lease. Returns the epoch, or the newest known one when nothing changed, and the counts
        of its history. Compacts the table if it asks for that. Raises ConflictError after `tries`
        conflicts, and the errors of `evaluate` and `Log.commit`.
        """
        log = self._log
        self._location.store.require_writable()

        def planned(base: Snapshot) -> Change | None:
            job_id = new_job_id()
            table = self._location.require(base)
            if has_batch(commit, table):
                return None
            own = StatementLog.begin(log, base, table)
            expiry_of(table, settings, own.present_ms)  # refuses what would leave a lease behind
            take_lease(log, base, job_id, settings, commit)
            statement = evaluate(own, base, table, job_id)
            ended = end_of_lease(base.epoch, job_id, settings)
            return change_of(statement, own, base, table, job_id, commit, ended=ended)

        first = self._refresh() if base is None else base
        after, epoch = log.commit_statement(first, planned, operation, tries)
        after = self._see_committed(after)
        if epoch is not None and self._location.id is not None:
            self._see_committed(auto.compact_after(log, after, self._location.id))
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
