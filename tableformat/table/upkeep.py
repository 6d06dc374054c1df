"""Upkeep of a table: compaction, vacuum, checks, repair, and new RowSet ids."""

from __future__ import annotations

import os
from collections.abc import Collection

from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.vacuum.result import VacuumResult
from colonnade.manifests.vacuum.retention import refuse_short
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.compaction.optimize import Optimize
from colonnade.tableformat.predicate import Where
from colonnade.tableformat.repair.rowsets import RepairResult, take_out
from colonnade.tableformat.table.opened import OpenTable
from colonnade.tableformat.table.restore import renumber_table
from colonnade.tableformat.verify.findings import VerifyReport
from colonnade.tableformat.verify.job import VerifyWorkplace
from colonnade.tableformat.verify.run import Progress, verify
from colonnade.tableformat.write.settings import CommitSettings, check_settings


class Upkeep(OpenTable):
    """The methods of a table that keep it small, fast and whole."""

    def optimize(self, where: Where | None = None) -> Optimize:
        """Describe a compaction, optionally only of RowSets that may match a condition.

        `table.optimize().executeCompaction()` does what the table's properties ask for.
        """

        def newest() -> tuple[Snapshot, TableState]:
            return self.refresh(), self.state

        begun = Optimize(self._log, newest, self._see_committed)
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
        request = VacuumRequest(retention_hours, retain_epochs, self.state.id, dry_run, trust_clock)
        result = vacuum(self._log, request)
        self.refresh()
        return result

    def verify(
        self,
        depth: int = 3,
        *,
        epoch: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        elsewhere: VerifyWorkplace | None = None,
    ) -> VerifyReport:
        """Find damage in the table and in the log; see `ArrowDatabase.verify`.

        When the head cannot be read, checks all tables that can be read.
        """
        known = self._log.try_read_head()
        table = None if known is None else self._location.find(known)
        tables = None if table is None else [table.name]
        return verify(
            self._log,
            depth,
            tables=tables,
            epoch=epoch,
            threads=threads,
            progress=progress,
            elsewhere=elsewhere,
        )

    def repair(
        self,
        rowsets: Collection[int],
        *,
        rescue: str | os.PathLike[str],
        dry_run: bool = False,
    ) -> RepairResult:
        """Drop what cannot be read of damaged RowSets in one epoch, and say which rows are lost.

        `rowsets` are ids, as `verify` reports them. Rows stay when every column of their stretch
        (at most 65,536 rows) can be read. What can be read of the other rows is written to the new
        Parquet file `rescue`, which is not created when no row is lost. Deletes no file, because
        earlier epochs still name the old ones. `dry_run` only says what would be lost.

        Raises NotFoundError for an unknown RowSet, InvalidInputError when nothing is damaged,
        AlreadyExistsError when `rescue` exists, ConflictError when a concurrent writer changed one
        of the RowSets, and StoreError.
        """
        base = self.refresh()
        snapshot, result = take_out(self._log, self.state, base, rowsets, rescue, dry_run=dry_run)
        self._see_committed(snapshot)
        return result

    def renumber(self, *, commit: CommitSettings | None = None) -> int:
        """Give the table's RowSets new ids, from 0, and return the new epoch.

        This is for a table that has used up its 2³² RowSet ids; `verify` and maintenance warn when
        half of them are used. No file is touched; costs a read of all entries in the log. Rows may
        be added meanwhile. A concurrent writer that deletes, updates or compacts rows meets a
        conflict, after which a statement runs again. Raises ConflictError when concurrent writers
        changed rows during ten tries.
        """
        check_settings(None, commit)
        base = self.refresh()
        table = self._location.require(base)
        return self._see_committed(renumber_table(self._log, base, table, commit)).epoch
