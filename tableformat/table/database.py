"""A database as users of Arrow see it: its tables, by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.later import later
from colonnade.manifests.log.log import Change, Log, create_database
from colonnade.manifests.model.operations import DropTable
from colonnade.manifests.model.schema import IdentityColumn, TableSchema
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import ObjectStore, StoreAddress, StorePath
from colonnade.manifests.vacuum.result import VacuumResult
from colonnade.manifests.vacuum.retention import refuse_short
from colonnade.tableformat.location import (
    Location,
    StorageOptions,
    locate,
    locate_existing,
    refuse_existing,
)
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.design import described_table
from colonnade.tableformat.table.kept_epochs import (
    PinnedEpoch,
    commit_pin,
    commit_tag,
    commit_unpin,
    commit_untag,
    pinned,
)
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.table.time_travel import epoch_number, snapshot_at
from colonnade.tableformat.verify.findings import VerifyReport
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.settings import CommitSettings

if TYPE_CHECKING:
    from colonnade.manifests.log import upgrade as upgrades
    from colonnade.manifests.vacuum import run as vacuum_run
    from colonnade.tableformat.repair import caches
    from colonnade.tableformat.table import alteration
    from colonnade.tableformat.table import restore as restoring
    from colonnade.tableformat.table import transaction as transactions
    from colonnade.tableformat.verify import job as verify_job
    from colonnade.tableformat.verify import run as checks
else:
    upgrades = later("colonnade.manifests.log.upgrade")
    vacuum_run = later("colonnade.manifests.vacuum.run")
    caches = later("colonnade.tableformat.repair.caches")
    alteration = later("colonnade.tableformat.table.alteration")
    restoring = later("colonnade.tableformat.table.restore")
    transactions = later("colonnade.tableformat.table.transaction")
    verify_job = later("colonnade.tableformat.verify.job")
    checks = later("colonnade.tableformat.verify.run")


@public
class ArrowDatabase:
    """A directory with one log of epochs and any number of tables.

    Create one with `colonnade.open_database` or `colonnade.create_database`.
    """

    def __init__(self, store: ObjectStore, log: Log, snapshot: Snapshot) -> None:
        self._store = store
        self._log = log
        self._snapshot = snapshot

    @classmethod
    def open(cls, path: StorePath, storage_options: StorageOptions | None = None) -> ArrowDatabase:
        """Open the database at `path`; a lone table is a database with one table.

        Raises NotFoundError when no database exists, and InvalidInputError for the path of a
        table.
        """
        location = locate_existing(path, storage_options)
        if location.table is not None:
            raise InvalidInputError(
                f"{location.url} is inside the database {location.store.url}; open that."
            )
        log = Log(location.store)
        return cls(location.store, log, log.read_head(look=location.look))

    @classmethod
    def create(
        cls, path: StorePath, storage_options: StorageOptions | None = None
    ) -> ArrowDatabase:
        """Create an empty database. Raises AlreadyExistsError when one exists at the path."""
        location = locate(path, storage_options)
        refuse_existing(location)
        snapshot = create_database(location.store, lone_table=False)
        return cls(location.store, Log(location.store), snapshot)

    @property
    def path(self) -> str:
        """The location of the database."""
        return self._store.url

    @property
    def address(self) -> StoreAddress:
        """The address of the database. Another process opens the database by it."""
        return self._store.address

    @property
    def snapshot(self) -> Snapshot:
        """The newest state that was read so far."""
        return self._snapshot

    def refresh(self) -> Snapshot:
        """Look for newer epochs; costs one GET when there are none."""
        self._snapshot = self._log.refresh(self._snapshot)
        return self._snapshot

    def tables(self) -> list[str]:
        """The names of the tables, sorted."""
        return sorted(self.refresh().own_names().values())

    def table(self, name: str, *, epoch: int | None = None) -> ArrowTable:
        """Open the table that has this name, or that had it at `epoch`.

        With `epoch`, a dropped table is found, too, and its `scan(epoch=…)` reads it. Raises
        NotFoundError that lists the existing tables, and for an epoch that does not exist.
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
        constraints: Mapping[str, str] | None = None,
        identity: Mapping[str, IdentityColumn] | None = None,
        generated: Mapping[str, str] | None = None,
        primary_key: Sequence[str] = (),
        static: Sequence[str] = (),
        partition_key: Sequence[str] = (),
    ) -> ArrowTable:
        """Create an empty table; see `ArrowTable.create`.

        Raises AlreadyExistsError when the name is taken.
        """
        base = self.refresh()
        location = self._locate(name, base)
        design = described_table(
            name,
            schema,
            sort_key=sort_key,
            partition_by=partition_by,
            properties=properties,
            comment=comment,
            constraints=constraints,
            identity=identity,
            generated=generated,
            primary_key=primary_key,
            static=static,
            partition_key=partition_key,
        )
        location.require_absent(base)
        self._snapshot = commit_written(
            plan_write(location, base, "append", create=design, limits=self._log.limits),
            (),
            self._log,
            base,
            fresh=True,
        )
        return ArrowTable(location, self._log, self._snapshot)

    def drop_table(self, name: str) -> int:
        """Drop a table, and return the epoch of the drop. Its earlier epochs stay readable.

        `table(name, epoch=e).scan(epoch=e)` reads them. Raises NotFoundError for an unknown
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
        """Rename a table, and return the new epoch. Moves no file.

        Raises NotFoundError for an unknown name, AlreadyExistsError when the new name is taken, and
        InvalidInputError for a lone table, which is named by its folder.
        """
        base = self.refresh()
        table = self._locate(name, base).require(base)
        self._snapshot = alteration.commit_rename(self._log, base, table, new_name)
        return self._snapshot.epoch

    def transaction(self, *, commit: CommitSettings | None = None) -> transactions.Transaction:
        """Begin a transaction on the newest state; use it in a `with` block.

        It changes any number of tables in one epoch, or none: see `Transaction`.
        """
        return transactions.Transaction(self._log, self.refresh(), commit)

    def tags(self) -> dict[str, int]:
        """Return the tagged epochs by tag name."""
        return dict(sorted(self.refresh().tags.items()))

    def tag(self, name: str, epoch: int | None = None) -> int:
        """Tag an epoch (None: the newest) and return it. The tag keeps it for `scan(tag=…)`.

        Raises AlreadyExistsError for an existing tag, and NotFoundError for an epoch that was
        removed or never existed.
        """
        head = self.refresh()
        chosen = head.epoch if epoch is None else epoch_number(epoch)
        self._snapshot = commit_tag(self._log, head, name, chosen)
        return chosen

    def untag(self, name: str) -> None:
        """Remove a tag. Raises NotFoundError."""
        self._snapshot = commit_untag(self._log, self.refresh(), name)

    def pins(self) -> dict[str, PinnedEpoch]:
        """Return the pins, which keep an epoch until a time, by name."""
        return pinned(self.refresh())

    def pin(self, name: str, seconds: float, epoch: int | None = None) -> int:
        """Keep an epoch (None: the newest) readable for some seconds from now, and return it.

        A second call with the same name and epoch can extend a pin, but never shorten it. Raises
        AlreadyExistsError for an existing pin of another epoch, and NotFoundError for an epoch that
        was removed or never existed.
        """
        head = self.refresh()
        chosen = head.epoch if epoch is None else epoch_number(epoch)
        self._snapshot = commit_pin(self._log, head, name, chosen, seconds)
        return chosen

    def unpin(self, name: str) -> None:
        """Remove a pin before its time is over. Raises NotFoundError."""
        self._snapshot = commit_unpin(self._log, self.refresh(), name)

    def restore(
        self,
        *,
        epoch: int | None = None,
        timestamp: datetime | str | None = None,
        tag: str | None = None,
        commit: CommitSettings | None = None,
    ) -> int:
        """Restore all tables to an epoch, time or tag, and return the new epoch.

        Newer tables are dropped, and tables that were dropped since are created again. At the new
        epoch, every table is what it was, also if a concurrent writer changes, creates or drops one
        meanwhile: the restore then begins again, at most ten times.

        Raises NotFoundError for a state that was removed or never existed. Raises ConflictError
        after ten tries, and AlreadyExistsError when a table that stays has the former name of
        another table. Reads zones of times, and raises InvalidInputError, as `ArrowTable.restore`.
        """
        base = self.refresh()
        then = snapshot_at(self._log, base, epoch, timestamp, tag)
        self._snapshot = restoring.restore_database(self._log, base, then, commit)
        return self._snapshot.epoch

    def verify(
        self,
        depth: int = 3,
        *,
        tables: Collection[str] | None = None,
        epoch: int | None = None,
        threads: int | None = None,
        progress: checks.Progress | None = None,
        elsewhere: verify_job.VerifyWorkplace | None = None,
    ) -> VerifyReport:
        """Find damage, and say which file, column, block and rows it affects. Changes nothing.

        Each depth includes the checks before it:
        - 1 reads the log since its floor, anchors and checkpoints, and checks that every file of a
          live RowSet exists
        - 2 reads deletion vectors, footers and indexes
        - 3 compares each block with its checksum
        - 4 decodes each block, compares it with its statistics, and checks the keys of tables

        Checks `tables` (None: all) at `epoch`. Without an epoch, checks the newest reachable one
        and those that tags and pins keep. Damage is not an error: the report lists it. `elsewhere`
        checks RowSets on another place than threads here. `colonnade.verify` does the same when the
        head cannot be read.

        Raises InvalidInputError for another depth, NotFoundError for an unknown table or epoch or a
        dropped database, and StoreError.
        """
        return checks.verify(
            self._log,
            depth,
            tables=tables,
            epoch=epoch,
            threads=threads,
            progress=progress,
            elsewhere=elsewhere,
        )

    def repair(self, *, give_up_lost_epochs: bool = False) -> int:
        """Rebuild checkpoint and hint from the log alone, and return the epoch of the head.

        First restores damaged objects of anchors from their second copies, and writes damaged marks
        of freed slots anew. Changes nothing that a reader sees; `ArrowTable.repair` handles damaged
        data. With `give_up_lost_epochs`, newer epochs whose loss a checkpoint proves are given up.
        If the oldest readable state is lost, the epochs before the oldest whole checkpoint are
        given up instead.

        Raises CorruptionError when the log itself is damaged, and when an anchor has no intact
        copy. In the second case the error names the tags and pins that keep its epoch. Raises
        StoreError.
        """
        caches.rebuild_caches(self._log, give_up_lost_epochs=give_up_lost_epochs)
        self._snapshot = self._log.read_head()
        return self._snapshot.epoch

    def vacuum(
        self,
        retention_hours: float | None = None,
        *,
        retain_epochs: int | None = None,
        dry_run: bool = False,
        force: bool = False,
        trust_clock: bool = False,
    ) -> VacuumResult:
        """Remove old epochs that nothing keeps, and files that only they or failed jobs need.

        The properties `retention.hours` (168) and `retention.epochs` (1) say how long and how many
        epochs are kept; the largest value of all tables counts. Arguments replace them. Tags, pins
        and leases keep what they name, whatever its age. Safe beside concurrent writers, other
        vacuums, and readers of a kept epoch; a read of an epoch that is removed meanwhile may fail.
        `dry_run` removes nothing. `retention_hours` below 168 needs `force`. `trust_clock` trusts
        this machine's clock if the store's is over a day behind. Cost: docs/spec/vacuum.md#run.

        Raises InvalidInputError for an invalid retention, for a short one without `force`, and for
        a read-only store. Raises CorruptionError or UnsupportedFormatError, before anything is
        removed, when the log cannot be read. After a StoreError, another run continues.
        """
        refuse_short(retention_hours, force=force, dry_run=dry_run)
        request = vacuum_run.VacuumRequest(
            retention_hours, retain_epochs, None, dry_run, trust_clock
        )
        result = vacuum_run.vacuum(self._log, request)
        self.refresh()
        return result

    def upgrade(self, *, dry_run: bool = False) -> upgrades.UpgradeResult:
        """Enable the features of the log that new databases have and this one lacks.

        A database that an earlier version created then frees the slots of removed epochs, and
        concurrent appends may share an epoch (docs/growth.md#databases-of-earlier-versions).
        Nothing takes this back. Versions that do not know the features refuse the database from
        then on, and running processes of such versions stop. Readers and writers of this version
        may work meanwhile. Rewrites nothing; does nothing if no feature is missing. `dry_run` only
        says what would change. Cost: one commit. The features: docs/spec/epoch-log.md#upgrade.

        Raises InvalidInputError for a read-only store; ConflictError; StoreError. After a
        CommitUnknownError, call it again.
        """
        result = upgrades.upgrade(self._log, dry_run=dry_run)
        self.refresh()
        return result

    def _locate(self, name: str, snapshot: Snapshot) -> Location:
        names = set(snapshot.table_names().values())
        lone = snapshot.lone_table and name in names
        return Location(self._store, None if lone else name, exists=True)

    def __repr__(self) -> str:
        return f"ArrowDatabase({self.path!r}, epoch={self._snapshot.epoch})"
