"""A table through Arrow: what `colonnade.open` and `colonnade.create` return."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, Literal

import pyarrow as pa

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import (
    AlreadyExistsError,
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
    StoreError,
    UnsupportedFormatError,
)
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.partition_layout import field_text
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.vacuum.result import VacuumResult
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.compaction.auto import compact_after
from colonnade.tableformat.compaction.optimize import Optimize
from colonnade.tableformat.location import Location, StorageOptions, locate, locate_existing
from colonnade.tableformat.predicate import Where, parse_predicate
from colonnade.tableformat.repair.rowsets import RepairResult, take_out
from colonnade.tableformat.scan.arrow_scan import Scan, batches_of
from colonnade.tableformat.scan.plan import plan_scan, rowset_filter
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.statements.methods import Evaluate, RowMethods
from colonnade.tableformat.statements.replace import evaluate_replace
from colonnade.tableformat.statements.replace_partitions import evaluate_replace_partitions
from colonnade.tableformat.statements.rerun import commit_statement
from colonnade.tableformat.statements.statement import RowCounts, Statement, is_done, make_change
from colonnade.tableformat.table.alteration import Alteration, SetPartitioning, commit_alterations
from colonnade.tableformat.table.design import new_table
from colonnade.tableformat.table.history import HistoryEntry, moment, table_history
from colonnade.tableformat.table.restore import renumber_table, restore_table
from colonnade.tableformat.table.time_travel import epoch_number, snapshot_at
from colonnade.tableformat.types.arrow_types import arrow_schema, as_table_schema
from colonnade.tableformat.verify.findings import VerifyReport
from colonnade.tableformat.verify.job import VerifyPlace
from colonnade.tableformat.verify.run import Progress, verify
from colonnade.tableformat.write.job import plan_write, take_lease, write_rows
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings, check_settings


class ArrowTable(RowMethods):
    """One table of a database, read and written through Arrow, without Spark.

    Made by `colonnade.open` or `colonnade.create`. Every scan reads one epoch, the newest when
    it was made unless another is asked for. It stays the table that was opened: a new name is
    followed, and after it was dropped NotFoundError says so, also where another table has its
    name. Not for use by several threads at once.
    """

    def __init__(self, location: Location, log: Log, snapshot: Snapshot | None) -> None:
        """Without a snapshot the head of the log is read when it is needed first."""
        self._location = location
        self._log = log
        self._snapshot: Snapshot | None = None
        if snapshot is not None:
            self._see(snapshot)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], storage_options: StorageOptions | None = None
    ) -> ArrowTable:
        """Open the table at `path`; reads the head of the log.

        A head that is damaged, or of a newer version, is reported by whatever needs it: of such
        a table `scan(epoch=…)` still reads the epochs before. Raises NotFoundError when there is
        no table, InvalidInputError when `path` is a database of several tables.
        """
        location = locate_existing(path, storage_options)
        log = Log(location.store)
        return cls(location, log, log.try_read_head())

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        schema: pa.Schema | TableSchema,
        *,
        sort_key: Sequence[str] = (),
        partition_by: Sequence[str] = (),
        properties: dict[str, str] | None = None,
        comment: str | None = None,
    ) -> ArrowTable:
        """Create an empty table: at `path` itself, or in the database right above it.

        `sort_key` names columns, each perhaps followed by `desc`; RowSets are then written in
        that order. `partition_by` has columns, or transforms of them such as `days(ts)`,
        `bucket(16, id)` or `truncate(4, name)`: each RowSet then holds rows with one value of them.
        Raises AlreadyExistsError when there is a table, InvalidInputError for a schema that cannot
        be stored, naming column and type.
        """
        location = locate(path)
        log = Log(location.store)
        base = log.read_head() if location.exists else None
        if base is not None and location.find(base) is not None:
            raise AlreadyExistsError(f"{location.url} is a Colonnade table already.")
        name, columns = location.new_table_name, as_table_schema(schema)
        design = new_table(name, columns, sort_key, properties, comment, partition_by)
        job = plan_write(location, base, "append", create=design)
        return cls(location, log, commit_written(job, (), log, base, fresh=True))

    @property
    def path(self) -> str:
        """Where the table is, by the name that was seen last."""
        return self._location.url

    @property
    def location(self) -> Location:
        """Where the table is, for those who plan work on it elsewhere."""
        return self._location

    @property
    def log(self) -> Log:
        """The log of its database, likewise."""
        return self._log

    @property
    def name(self) -> str:
        """The table's name in its database."""
        return self.state.name

    @property
    def snapshot(self) -> Snapshot:
        """The state of the database that was seen last."""
        return self.refresh() if self._snapshot is None else self._snapshot

    @property
    def state(self) -> TableState:
        """The table in `snapshot`."""
        return self._location.require(self.snapshot)

    @property
    def schema(self) -> pa.Schema:
        """The table's columns; exact types, where Arrow has none, stand in the fields' metadata."""
        return arrow_schema(self.state.schema)

    @property
    def epoch(self) -> int:
        """The newest epoch that was seen."""
        return self.snapshot.epoch

    def refresh(self) -> Snapshot:
        """Look for newer epochs; costs one GET when there are none."""
        seen = self._snapshot
        return self._see(self._log.read_head() if seen is None else self._log.refresh(seen))

    def _see(self, snapshot: Snapshot) -> Snapshot:
        """Take this for the newest state, and the table's name from it."""
        self._location = self._location.follow(snapshot)
        self._snapshot = snapshot
        return snapshot

    def snapshot_at(
        self,
        epoch: int | None = None,
        timestamp: datetime | str | None = None,
        tag: str | None = None,
    ) -> Snapshot:
        """The state at an epoch, the last epoch not after a time, or a tag; else the head.

        A time without a zone is UTC. Raises InvalidInputError for several at once and for what is
        no whole number or no time, NotFoundError for an epoch or tag that does not exist or a time
        before the first.
        """
        if timestamp is None and tag is None:
            return self.refresh() if epoch is None else self._snapshot_of(epoch_number(epoch))
        return snapshot_at(self._log, self.refresh(), epoch, timestamp, tag)

    def _snapshot_of(self, epoch: int) -> Snapshot:
        head: Snapshot | None = None
        # Where the head is damaged, what came before it can still be read.
        with suppress(CorruptionError, StoreError, UnsupportedFormatError):
            head = self.refresh()
        found = self._log.read_at(epoch=epoch, head=head)
        if self._snapshot is not None and found.database != self._snapshot.database:
            raise NotFoundError(f"{self.path} was removed or replaced; open it again.")
        return found

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        *,
        epoch: int | None = None,
        timestamp: datetime | str | None = None,
        tag: str | None = None,
    ) -> Scan:
        """Plan to read `columns` (None: all) of the rows for which `where` is true.

        `where` is a predicate in SQL text or built from `colonnade.col`. Costs the log and the
        checkpoint segments that the predicate leaves; data is read by the scan's methods.
        Raises NotFoundError or InvalidInputError naming the column, epoch or part at fault.
        """
        snapshot = self.snapshot_at(epoch, timestamp, tag)
        table = self._location.require_at(snapshot, self._snapshot)
        predicate = None if where is None else parse_predicate(where)
        rowsets = self._log.read_rowsets(table, rowset_filter(table, predicate))
        plan = plan_scan(table, snapshot.epoch, rowsets, columns, predicate)
        return Scan(self._location, plan)

    def append(
        self,
        data: Any,
        *,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> int:
        """Add rows and return the epoch that did; whatever rows others write is no conflict.

        Nor does it matter how old the state is that was seen last: where retention has passed it,
        the newest one is read first.

        `data` is anything with the Arrow C stream or array interface: a pyarrow or polars table,
        a record batch or reader, a pandas frame, a DuckDB relation. Columns are matched by name;
        one that may be NULL may be missing.
        Raises InvalidInputError naming the column that does not fit, ConflictError where the table
        was dropped meanwhile or got columns that the rows do not fit, or a vacuum removed what was
        written so far (take a lease), NotFoundError where it was dropped before; it is unchanged
        then.
        """
        return self._write("append", data, settings, commit)

    def overwrite(
        self,
        data: Any,
        where: Where | None = None,
        *,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> int:
        """Replace all rows, or those for which `where` is true, in one epoch and return it.

        Raises ConflictError when another writer changed what is replaced since the table was last
        seen, InvalidInputError for a row that does not meet `where`.
        """
        if where is None:
            return self._write("overwrite", data, settings, commit)
        check_settings(settings, commit)
        predicate = parse_predicate(where)

        def evaluate(log: Log, table: TableState, job: str) -> Statement:
            rows = batches_of(data)
            return evaluate_replace(log, table, rows, predicate, job, settings, str(where))

        return self._replace(evaluate, commit)

    def overwrite_partitions(
        self,
        data: Any,
        *,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> int:
        """Replace all rows of the partitions that the rows of `data` are of, and no others.

        In one epoch, which is returned; without rows nothing happens. Of a table that is not
        partitioned all rows are replaced. Where others wrote into one of the partitions since the
        table was last seen it raises ConflictError.
        """
        check_settings(settings, commit)

        def evaluate(log: Log, table: TableState, job: str) -> Statement:
            return evaluate_replace_partitions(log, table, batches_of(data), job, settings)

        return self._replace(evaluate, commit)

    @property
    def partitioning(self) -> tuple[str, ...]:
        """What new rows are partitioned by, as `create` takes it."""
        table = self.state
        return tuple(field_text(field, table.schema) for field in table.partition_fields)

    def partition_by(self, *fields: str) -> int:
        """Partition new rows by other fields, such as `days(ts)`; none: by nothing.

        RowSets that are there stay as they are until they are compacted anyway. Returns the epoch.
        Raises NotFoundError or InvalidInputError naming the column at fault, ConflictError.
        """
        return self.alter(SetPartitioning(fields))

    def alter(self, *changes: Alteration) -> int:
        """Change columns, properties or the comment, all in one epoch, and return it.

        No file is touched; see `alteration.py` for the changes. Raises InvalidInputError or
        NotFoundError naming the column, ConflictError when somebody else altered the same
        thing since the table was last seen.
        """
        return self._see(commit_alterations(self._log, self.snapshot, self.state, changes)).epoch

    def restore(
        self,
        *,
        epoch: int | None = None,
        timestamp: datetime | str | None = None,
        tag: str | None = None,
        commit: CommitSettings | None = None,
    ) -> int:
        """Make the table again what it was at an epoch, time or tag, and return the new epoch.

        Rows and columns come back; no file is touched. Before the table took the place of another
        of its name that one comes back instead of it, and this object is that table from then on.
        Raises NotFoundError for what was never or is gone, ConflictError when another writer
        changed the table meanwhile.
        """
        check_settings(None, commit)
        base = self.refresh()
        then = snapshot_at(self._log, base, epoch, timestamp, tag)
        table = self._location.require(base)
        after = restore_table(self._log, base, table, then, commit)
        if table.id not in after.tables:
            self._location = replace(self._location, id=None)
        return self._see(after).epoch

    def renumber(self, *, commit: CommitSettings | None = None) -> int:
        """Give the table's RowSets new ids, from 0 on, and return the new epoch.

        For a table that has used up its 2³² RowSet ids, as `verify` and maintenance say from half
        of them on. No file is touched; costs a read of all entries in the log. The table counts as
        made in this epoch: streams that follow it begin again, and what other writers have planned
        on it is a conflict. Raises ConflictError when another writer changed the table meanwhile.
        """
        check_settings(None, commit)
        base = self.refresh()
        table = self._location.require(base)
        return self._see(renumber_table(self._log, base, table, commit)).epoch

    @property
    def store_path(self) -> str:
        """Where the table's database is."""
        return self._log.store.url

    def verify(
        self,
        depth: int = 3,
        *,
        epoch: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        elsewhere: VerifyPlace | None = None,
    ) -> VerifyReport:
        """Look for damage in the table, and in the log; see `ArrowDatabase.verify`.

        Where the head cannot be read, in all tables that can be.
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
        """Part with what cannot be read of damaged RowSets, in one epoch; says which rows are lost.

        `rowsets` are ids, as `verify` reports them. Rows stay where every column of their stretch
        (at most 65,536 rows) can be read; what can be read of the others is written to the new
        Parquet file `rescue`, which is not made where no row is lost. Deletes no file: earlier
        epochs still name the old ones. `dry_run` only says what would be lost. Raises NotFoundError
        for a RowSet that is not there, InvalidInputError where nothing is damaged,
        AlreadyExistsError for a `rescue` that exists, ConflictError when another writer changed one
        of them meanwhile; StoreError.
        """
        base = self.refresh()
        snapshot, result = take_out(self._log, self.state, base, rowsets, rescue, dry_run=dry_run)
        self._see(snapshot)
        return result

    def vacuum(
        self,
        retention_hours: float | None = None,
        *,
        retain_epochs: int | None = None,
        dry_run: bool = False,
        force: bool = False,
    ) -> VacuumResult:
        """Remove what no kept epoch needs; see `ArrowDatabase.vacuum`.

        The epochs of a database are those of all its tables: the arguments replace what the
        properties of this one ask for, and whatever another one asks for is kept.
        """
        only = self.state.id
        result = vacuum(
            self._log,
            VacuumRequest(retention_hours, retain_epochs, only, dry_run=dry_run, force=force),
        )
        self.refresh()
        return result

    def optimize(self, where: Where | None = None) -> Optimize:
        """Begin to describe a compaction, perhaps of RowSets that a condition chooses alone.

        `table.optimize().executeCompaction()` does what the table's properties ask for.
        """

        def newest() -> tuple[Snapshot, TableState]:
            return self.refresh(), self.state

        begun = Optimize(self._log, newest, self._see)
        return begun if where is None else begun.where(where)

    def history(self, limit: int | None = None) -> list[HistoryEntry]:
        """The epochs that changed this table, newest first; reads one file an epoch.

        Those of a table that it replaced in one epoch follow. Raises InvalidInputError for a
        `limit` that is no number from 0.
        """
        if limit is not None and (type(limit) is not int or limit < 0):
            raise InvalidInputError(f"A limit is a whole number from 0, not {limit!r}.")
        head = self.refresh()
        table = self._location.require(head).id
        epochs = self._log.read_epochs(head.epoch)
        found = table_history(epochs, table, lambda epoch: self._log.read_at(epoch, head=head))
        return list(islice(found, None if limit is None else min(limit, sys.maxsize)))

    def find_counts(self, transaction: str, after: int) -> RowCounts:
        """What a transaction since the epoch `after` did; nothing where it made no epoch.

        Costs one GET an epoch since.
        """
        head = self.refresh()
        for epoch in self._log.read_epochs(head.epoch):
            if epoch.epoch <= after:
                break
            if epoch.transaction == transaction:
                return RowCounts(epoch.epoch, **(epoch.metrics or {}))
        return RowCounts(head.epoch)

    def time_of(self, epoch: int) -> datetime | None:
        """When an epoch was committed; None where retention has removed it. Costs two GETs."""
        found = next(self._log.read_epochs(epoch, limit=1), None)
        gone = found is None or self._log.is_freed(epoch, self.snapshot)
        return None if found is None or gone else moment(found.time_ms)

    def _write(
        self,
        mode: Literal["append", "overwrite"],
        data: Any,
        settings: WriteSettings | None,
        commit: CommitSettings | None,
    ) -> int:
        base = self.snapshot
        if mode == "append" and not self._log.can_follow(base):
            # Rows can follow any epoch, but it must be known before the first of them is written:
            # a vacuum in between may name their files.
            base = self.refresh()
        job = plan_write(self._location, base, mode, settings=settings, commit=commit)
        take_lease(job, self._log, base)
        entries = write_rows(job, batches_of(data), self._location.store)
        if not entries and not job.has_more_than_rows:
            return base.epoch
        try:
            after = commit_written(job, entries, self._log, base, fresh=True)
        except ConflictError:
            if mode == "append":
                self.refresh()  # it relies on nothing that was seen: repeated, it succeeds
            raise
        return self._written(after)

    def _replace(self, evaluate: Evaluate, commit: CommitSettings | None) -> int:
        """Commit a statement on the state that was seen last, once: its rows may come from it."""
        base, table, job = self.snapshot, self.state, new_job_id()
        with self._log.removals_are_conflicts(Change("", "overwrite", (), fresh=True), base):
            statement = evaluate(self._log, table, job)
        if is_done(statement, commit, self._log, base):
            return base.epoch
        return self._written(self._log.commit(make_change(statement, table, job, commit), base))

    def _written(self, after: Snapshot) -> int:
        """See the state after a write, and compact where that is asked for; the write's epoch."""
        table = self._location.require(after).id
        self._see(compact_after(self._log, after, table))
        return after.epoch

    def _run(self, evaluate: Evaluate, commit: CommitSettings | None) -> RowCounts:
        return self.run(lambda log, _, table, job: evaluate(log, table, job), commit)

    def run(
        self,
        evaluate: Callable[[Log, Snapshot, TableState, str], Statement],
        commit: CommitSettings | None = None,
    ) -> RowCounts:
        """Evaluate a statement on the newest state and commit it, again after a conflict.

        `evaluate` gets the log, a state, the table in it, and the id that objects which it writes
        begin with. Raises ConflictError after ten tries, and what it and `Log.commit` raise.
        """
        self._location.store.require_writable()

        def planned(base: Snapshot) -> Change | None:
            table, job = self._location.require(base), new_job_id()
            statement = evaluate(self._log, base, table, job)
            if is_done(statement, commit, self._log, base):
                return None
            return make_change(statement, table, job, commit)

        snapshot, epoch = commit_statement(self._log, self.refresh(), planned)
        return RowCounts(self._written(snapshot), **((epoch and epoch.metrics) or {}))

    def __repr__(self) -> str:
        epoch = None if self._snapshot is None else self._snapshot.epoch
        return f"ArrowTable({self.path!r}, epoch={epoch})"
