"""A database through Arrow: its tables, by name."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from datetime import datetime

import pyarrow as pa

from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Change, Log, create_database
from colonnade.manifests.model.operations import DropTable
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import ObjectStore
from colonnade.manifests.vacuum.result import VacuumResult
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.location import (
    Location,
    StorageOptions,
    locate,
    locate_existing,
    refuse_existing,
)
from colonnade.tableformat.repair.caches import rebuild_caches
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.alteration import commit_rename
from colonnade.tableformat.table.design import new_table
from colonnade.tableformat.table.kept_epochs import (
    PinnedEpoch,
    commit_pin,
    commit_tag,
    commit_unpin,
    commit_untag,
    pinned,
)
from colonnade.tableformat.table.restore import restore_database
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.table.time_travel import epoch_number, snapshot_at
from colonnade.tableformat.table.transaction import Transaction
from colonnade.tableformat.types.arrow_types import as_table_schema
from colonnade.tableformat.verify.findings import VerifyReport
from colonnade.tableformat.verify.job import VerifyPlace
from colonnade.tableformat.verify.run import Progress, verify
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.settings import CommitSettings


class Database:
    """A directory with one log of epochs and any number of tables.

    Made by `colonnade.open_database` or `colonnade.create_database`.
    """

    def __init__(self, store: ObjectStore, log: Log, snapshot: Snapshot) -> None:
        self._store = store
        self._log = log
        self._snapshot = snapshot

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], storage_options: StorageOptions | None = None
    ) -> Database:
        """Open the database at `path`; a lone table is a database of one.

        Raises NotFoundError when there is none.
        """
        location = locate_existing(path, storage_options)
        if location.table is not None:
            raise InvalidInputError(
                f"{location.url} is below the database {location.store.url}; open that."
            )
        log = Log(location.store)
        return cls(location.store, log, log.read_head())

    @classmethod
    def create(cls, path: str | os.PathLike[str]) -> Database:
        """Create an empty database. Raises AlreadyExistsError when there is one."""
        location = locate(path)
        refuse_existing(location)
        snapshot = create_database(location.store, lone_table=False)
        return cls(location.store, Log(location.store), snapshot)

    @property
    def path(self) -> str:
        """Where the database is."""
        return self._store.url

    @property
    def snapshot(self) -> Snapshot:
        """The state that was seen last."""
        return self._snapshot

    def refresh(self) -> Snapshot:
        """Look for newer epochs; costs one GET when there are none."""
        self._snapshot = self._log.refresh(self._snapshot)
        return self._snapshot

    def tables(self) -> list[str]:
        """The names of the tables, sorted."""
        return sorted(self.refresh().table_names().values())

    def table(self, name: str, *, epoch: int | None = None) -> ArrowTable:
        """Open the table that has this name, or had it at an epoch.

        So one that was dropped is found, too: its `scan(epoch=…)` reads it. Raises NotFoundError
        that lists what there is, or was, and for an epoch that does not exist.
        """
        head = self.refresh()
        named = head if epoch is None else self._log.read_at(epoch_number(epoch), head=head)
        return ArrowTable(self._locate(name, named).follow(named), self._log, head)

    def create_table(
        self,
        name: str,
        schema: pa.Schema | TableSchema,
        *,
        sort_key: Sequence[str] = (),
        partition_by: Sequence[str] = (),
        properties: dict[str, str] | None = None,
        comment: str | None = None,
    ) -> ArrowTable:
        """Create an empty table; see `ArrowTable.create`.

        Raises AlreadyExistsError when the name is taken.
        """
        base = self.refresh()
        location = self._locate(name, base)
        columns = as_table_schema(schema)
        design = new_table(name, columns, sort_key, properties, comment, partition_by)
        if location.find(base) is not None:
            raise AlreadyExistsError(f"{location.url} is a Colonnade table already.")
        self._snapshot = commit_written(
            plan_write(location, base, "append", create=design), (), self._log, base, fresh=True
        )
        return ArrowTable(location, self._log, self._snapshot)

    def drop_table(self, name: str) -> int:
        """Remove a table and return the epoch that did; its earlier epochs stay readable.

        They are read by `table(name, epoch=e).scan(epoch=e)`. Raises NotFoundError for an unknown
        name.
        """
        base = self.refresh()
        table = self._locate(name, base).require(base)
        change = Change(
            transaction=new_transaction_id(),
            operation="drop_table",
            parameters={"name": table.name},
            ops=(DropTable(table=table.id),),
            fresh=True,
        )
        self._snapshot = self._log.commit(change, base)
        return self._snapshot.epoch

    def rename_table(self, name: str, new_name: str) -> int:
        """Give a table another name and return the epoch that did; moves no file.

        Raises NotFoundError for an unknown name, AlreadyExistsError when the new one is taken,
        InvalidInputError for a lone table, which is named by its folder.
        """
        base = self.refresh()
        table = self._locate(name, base).require(base)
        self._snapshot = commit_rename(self._log, base, table, new_name)
        return self._snapshot.epoch

    def transaction(self, *, commit: CommitSettings | None = None) -> Transaction:
        """Begin a transaction on the newest state; use it in a `with` block.

        It changes any number of tables in one epoch, or none: see `Transaction`.
        """
        return Transaction(self._log, self.refresh(), commit)

    def tags(self) -> dict[str, int]:
        """Epochs by the names that they were given."""
        return dict(sorted(self.refresh().tags.items()))

    def tag(self, name: str, epoch: int | None = None) -> int:
        """Name an epoch (None: the newest), which is kept and returned; read it by `scan(tag=…)`.

        Raises AlreadyExistsError for a tag that exists, NotFoundError for an epoch that is gone
        or never was.
        """
        head = self.refresh()
        chosen = head.epoch if epoch is None else epoch_number(epoch)
        self._snapshot = commit_tag(self._log, head, name, chosen)
        return chosen

    def untag(self, name: str) -> None:
        """Remove a tag. Raises NotFoundError."""
        self._snapshot = commit_untag(self._log, self.refresh(), name)

    def pins(self) -> dict[str, PinnedEpoch]:
        """Epochs that are kept until a time, by name."""
        return pinned(self.refresh())

    def pin(self, name: str, seconds: float, epoch: int | None = None) -> int:
        """Keep an epoch (None: the newest) readable for some seconds from now; returns it.

        Called again with the name and epoch of a pin it makes it last longer, and never shorter
        than others asked for. Raises AlreadyExistsError for
        the pin of another epoch, NotFoundError for an epoch that is gone or never was.
        """
        head = self.refresh()
        chosen = head.epoch if epoch is None else epoch_number(epoch)
        self._snapshot = commit_pin(self._log, head, name, chosen, seconds)
        return chosen

    def unpin(self, name: str) -> None:
        """Give a pin up before its time. Raises NotFoundError."""
        self._snapshot = commit_unpin(self._log, self.refresh(), name)

    def restore(
        self,
        *,
        epoch: int | None = None,
        timestamp: datetime | str | None = None,
        tag: str | None = None,
        commit: CommitSettings | None = None,
    ) -> int:
        """Make all tables again what they were at an epoch, time or tag; returns the new epoch.

        Tables that came since are dropped, and those that were dropped since are made again. Raises
        NotFoundError for what was never or is gone, ConflictError when another writer changed a
        table meanwhile, AlreadyExistsError where a table that stays has got the name of another.
        """
        base = self.refresh()
        then = snapshot_at(self._log, base, epoch, timestamp, tag)
        self._snapshot = restore_database(self._log, base, then, commit)
        return self._snapshot.epoch

    def verify(
        self,
        depth: int = 3,
        *,
        tables: Collection[str] | None = None,
        epoch: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        elsewhere: VerifyPlace | None = None,
    ) -> VerifyReport:
        """Look for damage, and say which file, column, block and rows it touches; changes nothing.

        Depth 1 reads the log since its floor, anchors and checkpoints, and looks whether every file
        of a live RowSet is there; 2 reads their vectors, footers and indexes too; 3 compares each
        block with its checksum; 4 decodes each and compares it with its statistics, and rows with
        the sort key. Of `tables` (None: all), as of an epoch (None: the newest that can be reached,
        and those that tags and pins keep). Damage is no error: the report lists it. `elsewhere`
        looks at RowSets instead of threads here. `colonnade.verify` does the same where the head
        cannot be read. Raises InvalidInputError for another depth, NotFoundError for a table or
        epoch that is unknown, StoreError.
        """
        return verify(
            self._log,
            depth,
            tables=tables,
            epoch=epoch,
            threads=threads,
            progress=progress,
            elsewhere=elsewhere,
        )

    def repair(self, *, give_up_lost_epochs: bool = False) -> int:
        """Make checkpoint and hint anew from the log alone; returns the epoch of the head.

        Restores damaged objects of anchors from their second copies first. Changes nothing that a
        reader sees. What of the data is damaged, `ArrowTable.repair` takes
        out. `give_up_lost_epochs`: where a checkpoint proves that newer epochs were lost, part with
        them. Raises CorruptionError where the log itself is damaged, or an anchor at both of its
        places, which names the tags and pins that keep its epoch; StoreError.
        """
        rebuild_caches(self._log, give_up_lost_epochs=give_up_lost_epochs)
        self._snapshot = self._log.read_head()
        return self._snapshot.epoch

    def vacuum(
        self,
        retention_hours: float | None = None,
        *,
        retain_epochs: int | None = None,
        dry_run: bool = False,
        force: bool = False,
    ) -> VacuumResult:
        """Remove what no kept epoch needs: old epochs, and files of theirs or of failed jobs.

        Epochs are kept for the hours, and in the number, that the tables' properties
        `retention.hours` (168) and `retention.epochs` (1) ask for, the most of all; arguments
        replace them. Tags, pins and leases keep what they name whatever the age. Safe beside any
        reader of a kept epoch, writer, or other vacuum; a read of an epoch that is removed while it
        runs may fail. `dry_run` only says what would go; `force` takes this machine's clock for
        right where that of the store is more than a day earlier. Cost: docs/spec/vacuum.md#run.

        Raises InvalidInputError for a retention that is none and a read-only store; CorruptionError
        or UnsupportedFormatError, before anything is removed, where the log cannot be read;
        StoreError, after which another run goes on.
        """
        result = vacuum(
            self._log,
            VacuumRequest(retention_hours, retain_epochs, dry_run=dry_run, force=force),
        )
        self.refresh()
        return result

    def _locate(self, name: str, snapshot: Snapshot) -> Location:
        names = set(snapshot.table_names().values())
        lone = snapshot.lone_table and name in names
        return Location(self._store, None if lone else name, exists=True)

    def __repr__(self) -> str:
        return f"Database({self.path!r}, epoch={self._snapshot.epoch})"
