"""The statements of a table: rows added, overwritten or changed in an epoch of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.later import later
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.keys.policy import merges
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.predicate import Where, parse_predicate
from colonnade.tableformat.progress import step
from colonnade.tableformat.scan.given_rows import HELD, batches_of, held_batches
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.statements.division import Division
from colonnade.tableformat.statements.finish import finished
from colonnade.tableformat.statements.methods import Evaluate, RowMethods
from colonnade.tableformat.statements.rerun import TRIES, commit_statement, pause_before
from colonnade.tableformat.statements.statement import (
    RowCounts,
    Statement,
    has_batch,
    is_done,
    make_change,
)
from colonnade.tableformat.table.new_columns import UnknownColumns, fit_rows
from colonnade.tableformat.table.opened import OpenTable
from colonnade.tableformat.types.arrow_input import in_memory
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.identity import LogDraws
from colonnade.tableformat.write.job import plan_write, take_lease
from colonnade.tableformat.write.run import write_rows
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings, check_settings

if TYPE_CHECKING:
    from colonnade.tableformat.compaction import auto
    from colonnade.tableformat.statements import append, overwrite, overwrite_partitions
else:
    auto = later("colonnade.tableformat.compaction.auto")
    append = later("colonnade.tableformat.statements.append")
    overwrite = later("colonnade.tableformat.statements.overwrite")
    overwrite_partitions = later("colonnade.tableformat.statements.overwrite_partitions")


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
        table or batch is checked before. Raises InvalidInputError that names a column that does not
        fit, and NotFoundError when the table was dropped before. Raises ConflictError when a
        concurrent writer dropped the table, or changed its columns or constraints so that the rows
        may not fit. A vacuum may remove the files that were written so far, which a lease prevents.
        Then the rows of a pyarrow table or batch are written again, at most ten times. For other
        data, and for an expected epoch, this raises ConflictError, too.
        """
        unknown = UnknownColumns(evolve, ignore_unknown_columns)
        data = in_memory(data, self.schema)
        may_repeat = isinstance(data, HELD) and (commit is None or commit.expect_epoch is None)
        tries = TRIES if may_repeat else 1
        for attempt in range(tries):
            if attempt:
                self._log.pause(pause_before(attempt))
            try:
                base, after = self._write("append", data, settings, commit, unknown)
                break
            except ConflictError:
                planned = self._location.find(self._snapshot)
                found = self._location.find(self._refresh())
                if attempt == tries - 1 or not _takes_same_rows(planned, found):
                    raise
        return base.epoch if after is base else self._written(after)

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
        if where is None:
            base, after = self._write("overwrite", data, settings, commit)
            return base.epoch if after is base else self._written(after)
        check_settings(settings, commit)
        predicate = parse_predicate(where)

        def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
            rows = batches_of(data, arrow_schema(table.schema))
            return overwrite.evaluate_overwrite_where(
                log, table, rows, predicate, job_id, settings, str(where)
            )

        return self._overwrite(evaluate, commit)

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

        def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
            rows = batches_of(data, arrow_schema(table.schema))
            return overwrite_partitions.evaluate_overwrite_partitions(
                log, table, rows, job_id, settings
            )

        return self._overwrite(evaluate, commit)

    def _write(
        self,
        mode: Literal["append", "overwrite"],
        data: Any,
        settings: WriteSettings | None,
        commit: CommitSettings | None,
        unknown: UnknownColumns | None = None,
    ) -> tuple[Snapshot, Snapshot]:
        """Write rows and commit them. Returns the base and the state after it.

        Both are the state after it where nothing is left to do.
        """
        check_settings(settings, commit, may_lease=True)
        base = self._snapshot
        table = self._location.require(base)
        batches = batches_of(data, arrow_schema(table.schema))
        leases = settings is not None and settings.lease_hours is not None
        follows = not (leases or table.constraints) and self._log.reader.can_follow(base)
        if mode == "append" and not follows:
            # Rows can follow any epoch, but the new base must be read before the first row is
            # written: a vacuum in between may remove their files, and no job can lease an epoch
            # that was removed. Nor should rows be checked against a constraint that was dropped
            # since.
            base = self._refresh()
        elif mode == "append" and table.primary_key:
            # A key that is deleted by now refuses no row.
            newest = self._log.reader.refresh(base)
            if _takes_same_rows(table, self._location.find(newest)):
                base = self._see_committed(newest)
        if has_batch(commit, self._location.require(base)):
            return base, base
        if unknown is not None:
            held = held_batches(data) if unknown.evolve else ()
            base, batches, commit = self._fit(base, batches, unknown, commit, held, settings)
            if has_batch(commit, self._location.require(base)):
                return base, base
        if mode == "append" and self._merges(base, settings):
            merged = self._merged(batches, settings, commit)
            return merged, merged
        limits, division = self._log.limits, Division(self._location.require(base), new_job_id())
        job = plan_write(
            self._location,
            base,
            mode,
            settings=settings,
            commit=commit,
            limits=limits,
            agreed=self._log.agreement.statement_time,
        )
        take_lease(job, self._log, base)
        draws = LogDraws(self._log, base, division.own, job.job_id)
        count = data.num_rows if isinstance(data, HELD) else None
        with step(mode, job.target.name, "rows", count) as advance:
            entries = write_rows(
                job,
                batches,
                self._location.store,
                divide=division.batches,
                draws=draws,
                advance=advance,
            )
        brought = division.brought
        return base, commit_written(job, entries, self._log, base, fresh=True, statics=brought)

    def _merges(self, base: Snapshot, settings: WriteSettings | None) -> bool:
        chosen = None if settings is None else settings.on_duplicate
        return merges(stored_table(self._location.require(base)), chosen)

    def _merged(
        self,
        batches: Iterator[pa.RecordBatch],
        settings: WriteSettings | None,
        commit: CommitSettings | None,
    ) -> Snapshot:
        check_settings(settings, commit)
        held = list(batches)

        def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
            return append.evaluate_append(log, table, held, job_id, settings)

        self._run(evaluate, commit)
        return self._snapshot

    def _fit(
        self,
        base: Snapshot,
        batches: Iterator[pa.RecordBatch],
        unknown: UnknownColumns,
        commit: CommitSettings | None,
        held: Sequence[pa.RecordBatch],
        settings: WriteSettings | None,
    ) -> tuple[Snapshot, Iterator[pa.RecordBatch], CommitSettings | None]:
        """Fit rows and columns to each other; return also the settings of the rows' own commit."""
        self._location.store.require_writable()
        after, rows = fit_rows(
            self._log, self._location, base, batches, unknown, commit, held, settings
        )
        if after is not base:
            self._see_committed(after)
            if commit is not None and commit.expect_epoch is not None:
                commit = commit.model_copy(update={"expect_epoch": after.epoch})
        return after, rows, commit

    def _overwrite(self, evaluate: Evaluate, commit: CommitSettings | None) -> int:
        """Commit a statement on the last state read, once: its rows may have been read from it."""
        base, job_id = self._snapshot, new_job_id()
        table, log = self._state, StatementLog.begin(self._log, base, self._state)
        if has_batch(commit, table):
            return base.epoch
        with self._log.removals_are_conflicts("overwrite", base):
            statement = finished(evaluate(log, table, job_id), log, table)
        if is_done(statement, commit, self._log, base):
            return base.epoch
        return self._written(self._log.commit(make_change(statement, table, job_id, commit), base))

    def _written(self, after: Snapshot) -> int:
        """Use the state after a write, compact if the table asks for it, and return the epoch."""
        epoch = self._see_committed(after).epoch
        if self._location.id is not None:
            self._see_committed(auto.compact_after(self._log, after, self._location.id))
        return epoch

    def _run(self, evaluate: Evaluate, commit: CommitSettings | None) -> RowCounts:
        return self._run_planned(lambda log, _, table, job_id: evaluate(log, table, job_id), commit)

    def _run_planned(
        self,
        evaluate: Callable[[StatementLog, Snapshot, TableState, str], Statement],
        commit: CommitSettings | None = None,
    ) -> RowCounts:
        """Evaluate a statement on the newest state and commit it, again after a conflict.

        `evaluate` gets the log, a state, the table in it, and the prefix of the ids of new objects.
        Raises ConflictError after ten tries, and the errors of `evaluate` and `Log.commit`.
        """
        self._location.store.require_writable()

        def planned(base: Snapshot) -> Change | None:
            job_id = new_job_id()
            table = self._location.require(base)
            if has_batch(commit, table):
                return None
            log = StatementLog.begin(self._log, base, table)
            statement = finished(evaluate(log, base, table, job_id), log, table)
            if is_done(statement, commit, self._log, base):
                return None
            return make_change(statement, table, job_id, commit)

        snapshot, epoch = commit_statement(self._log, self._refresh(), planned)
        metrics = (epoch and epoch.metrics) or {}
        return RowCounts._of_metrics(self._written(snapshot), metrics)


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
