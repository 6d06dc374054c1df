"""Maintenance of a table: compaction, vacuum, checks, repair, and new RowSet ids."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING

from colonnade.manifests.later import later
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.vacuum.result import VacuumResult
from colonnade.manifests.vacuum.retention import refuse_short
from colonnade.tableformat.predicate import Where
from colonnade.tableformat.table.opened import OpenTable
from colonnade.tableformat.verify.findings import VerifyReport

if TYPE_CHECKING:
    from colonnade.manifests.vacuum import run as vacuum_run
    from colonnade.tableformat.compaction import optimize as compaction
    from colonnade.tableformat.repair import rowsets as repairs
    from colonnade.tableformat.table.epochs import restore as restoring
    from colonnade.tableformat.table.report import report as reports
    from colonnade.tableformat.verify import job as verify_job
    from colonnade.tableformat.verify import run as checks
else:
    vacuum_run = later("colonnade.manifests.vacuum.run")
    compaction = later("colonnade.tableformat.compaction.optimize")
    repairs = later("colonnade.tableformat.repair.rowsets")
    restoring = later("colonnade.tableformat.table.epochs.restore")
    reports = later("colonnade.tableformat.table.report.report")
    verify_job = later("colonnade.tableformat.verify.job")
    checks = later("colonnade.tableformat.verify.run")


class Maintenance(OpenTable):
    """The methods of a table that keep it small, fast and whole."""

    def optimize(self, where: Where | None = None) -> compaction.Optimize:
        """Describe a compaction, optionally only of RowSets that may match a condition.

        `table.optimize().executeCompaction()` does what the table's properties ask for.
        """

        def newest() -> tuple[Snapshot, TableState]:
            return self._refresh(), self._state

        begun = compaction.Optimize(self._log, newest, self._see_committed)
        return begun if where is None else begun.where(where)

    def vacuum(
        self,
        retention_hours: float | None = None,
        *,
        retain_epochs: int | None = None,
        dry_run: bool = False,
        force: bool = False,
        trust_clock: bool = False,
    ) -> VacuumResult:
        """Remove what no kept epoch needs; see `ArrowDatabase.vacuum`.

        A database has one sequence of epochs for all its tables. The arguments replace the
        retention properties of this table only; the retention of every other table is respected.
        """
        refuse_short(retention_hours, force=force, dry_run=dry_run)
        request = vacuum_run.VacuumRequest(
            retention_hours, retain_epochs, self._state.id, dry_run, trust_clock
        )
        result = vacuum_run.vacuum(self._log, request)
        self._refresh()
        return result

    def verify(
        self,
        depth: int = 3,
        *,
        epoch: int | None = None,
        threads: int | None = None,
        elsewhere: verify_job.VerifyRunner | None = None,
    ) -> VerifyReport:
        """Find damage in the table and in the log; see `ArrowDatabase.verify`.

        When the head cannot be read, checks all tables that can be read.
        """
        known = self._log.reader.try_read_head()
        table = None if known is None else self._location.find(known)
        tables = None if table is None else [table.name]
        return checks.verify(
            self._log,
            depth,
            tables=tables,
            epoch=epoch,
            threads=threads,
            elsewhere=elsewhere,
        )

    def report(self, epochs: int = 200) -> reports.Report:
        """Make an HTML page about the table: sizes, ages, deletions, overlap, epochs, compaction.

        It ends a cell of a notebook, or `save` writes it to a file. Of the last `epochs` of the
        database, it shows those that changed the table. Reads the log alone: the entries of the
        table, and one object for each of these epochs. Raises InvalidInputError for another number
        of epochs, or for an invalid property of compaction. Raises ImportError without jinja2.
        """
        head = self._refresh()
        return reports.make_report(self._log, head, epochs, self._state)

    def repair(
        self,
        rowsets: Collection[int],
        *,
        rescue: str | os.PathLike[str],
        dry_run: bool = False,
    ) -> repairs.RepairResult:
        """Drop what cannot be read of damaged RowSets in one epoch, and say which rows are lost.

        `rowsets` are ids, as `verify` reports them. Rows stay when every column of their stretch
        (at most 65,536 rows) can be read. What can be read of the other rows is written to the new
        Parquet file `rescue`, which is not created when no row is lost. Deletes no file, because
        earlier epochs still name the old ones. `dry_run` only says what would be lost.

        Raises NotFoundError for an unknown RowSet, InvalidInputError when nothing is damaged,
        AlreadyExistsError when `rescue` exists, ConflictError when a concurrent writer changed one
        of the RowSets, and StoreError.
        """
        base = self._refresh()
        snapshot, result = repairs.take_out(
            self._log, self._state, base, rowsets, rescue, dry_run=dry_run
        )
        self._see_committed(snapshot)
        return result
