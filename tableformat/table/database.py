"""A database as users of Arrow see it: its tables, by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from typing_extensions import Self, Unpack

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.later import later
from colonnade.manifests.log.log import Log, create_database
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
from colonnade.tableformat.table.creation import ChangedTypes, commit_created, designed
from colonnade.tableformat.table.design.spec import SpecKeywords, TableSpec
from colonnade.tableformat.table.epochs.restore_counts import Restored
from colonnade.tableformat.table.epochs.tags_and_pins import (
    PinnedEpoch,
    commit_pin,
    commit_tag,
    commit_unpin,
    commit_untag,
    pinned,
)
from colonnade.tableformat.table.epochs.time_travel import epoch_number, snapshot_at
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.input.column_types import GivenSchema
from colonnade.tableformat.verify.findings import VerifyReport
from colonnade.tableformat.write.settings import CommitSettings, check_settings

if TYPE_CHECKING:
    from colonnade.manifests.vacuum import run as vacuum_run
    from colonnade.tableformat.engines import dataset as datasets
    from colonnade.tableformat.engines import duckdb_query as queries
    from colonnade.tableformat.repair import caches
    from colonnade.tableformat.table import alteration, consumers
    from colonnade.tableformat.table.epochs import epoch_range
    from colonnade.tableformat.table.epochs import restore as restoring
    from colonnade.tableformat.table.report import notebook
    from colonnade.tableformat.table.report import report as reports
    from colonnade.tableformat.table.transaction import transaction as transactions
    from colonnade.tableformat.verify import job as verify_job
    from colonnade.tableformat.verify import run as checks
else:
    datasets = later("colonnade.tableformat.engines.dataset")
    queries = later("colonnade.tableformat.engines.duckdb_query")
    consumers = later("colonnade.tableformat.table.consumers")
    epoch_range = later("colonnade.tableformat.table.epochs.epoch_range")
    vacuum_run = later("colonnade.manifests.vacuum.run")
    caches = later("colonnade.tableformat.repair.caches")
    restoring = later("colonnade.tableformat.table.epochs.restore")
    notebook = later("colonnade.tableformat.table.report.notebook")
    reports = later("colonnade.tableformat.table.report.report")
    checks = later("colonnade.tableformat.verify.run")
    verify_job = later("colonnade.tableformat.verify.job")
    alteration = later("colonnade.tableformat.table.alteration")
    transactions = later("colonnade.tableformat.table.transaction.transaction")


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
    def open(
        cls,
        path: StorePath,
        storage_options: StorageOptions | None = None,
        *,
        filesystem: Any = None,
    ) -> ArrowDatabase:
        """Open the database at `path`; a lone table is a database with one table.

        `filesystem` is one of fsspec, such as `s3fs.S3FileSystem(...)`. `path` is then one in it.

        Raises NotFoundError when no database exists, and InvalidInputError for the path of a
        table.
        """
        location = locate_existing(StoreAddress.of(path, storage_options, filesystem=filesystem))
        if location.table is not None:
            raise InvalidInputError(
                f"{location.url} is inside the database {location.store.url}; open that."
            )
        log = Log(location.store)
        return cls(location.store, log, log.reader.read_head(opening=location.opening))

    @classmethod
    def create(
        cls,
        path: StorePath,
        storage_options: StorageOptions | None = None,
        *,
        filesystem: Any = None,
    ) -> ArrowDatabase:
        """Create an empty database. Raises AlreadyExistsError when one exists at the path.

        `filesystem` is that of `open`.
        """
        location = locate(StoreAddress.of(path, storage_options, filesystem=filesystem))
        refuse_existing(location)
        snapshot = create_database(location.store, lone_table=False)
        return cls(location.store, Log(location.store), snapshot)

    @property
    def path(self) -> str:
        """The location of the database."""
        return self._store.url

    @property
    def epoch(self) -> int:
        """The newest epoch that was read so far."""
        return self._snapshot.epoch

    def refresh(self) -> Self:
        """Look for newer epochs, and return this database; costs one GET when there are none."""
        self._refresh()
        return self

    def tables(self) -> list[str]:
        """The names of the tables, sorted."""
        return sorted(self._refresh().own_names().values())

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the tables, sorted."""
        return iter(self.tables())

    def __len__(self) -> int:
        return len(self.tables())

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: object) -> bool:
        """Whether a table has this name now."""
        return name in self.tables()

    def __getitem__(self, name: str) -> ArrowTable:
        """Open a table: `table(name)`."""
        return self.table(name)

    def _ipython_key_completions_(self) -> list[str]:
        """The names that a notebook offers after `db["`."""
        return self.tables()

    def table(self, name: str, *, epoch: int | None = None) -> ArrowTable:
        """Open the table that has this name, or that had it at `epoch`.

        With `epoch`, a dropped table is found, too, and its `scan(epoch=…)` reads it. Raises
        NotFoundError that lists the existing tables, and for an epoch that does not exist.
        """
        head = self._refresh()
        named = head if epoch is None else self._log.reader.read_at(epoch_number(epoch), head=head)
        return ArrowTable(self._locate(name, named).follow(named), self._log, head)

    def create_table(
        self,
        name: str,
        schema: TableSpec | GivenSchema | Any,
        *,
        data: Any = None,
        changed_types: ChangedTypes = "warn",
        **keywords: Unpack[SpecKeywords],
    ) -> ArrowTable:
        """Create a table, with rows if `schema` or `data` has some; see `ArrowTable.create`.

        Raises AlreadyExistsError when the name is taken.
        """
        base = self._refresh()
        location = self._locate(name, base)
        design, rows = designed(name, schema, data, changed_types, **keywords)
        location.require_absent(base)
        self._snapshot = commit_created(self._log, location, base, design, rows)
        return ArrowTable(location, self._log, self._snapshot)

    def drop_table(self, name: str) -> int:
        """Drop a table, and return the epoch of the drop. Its earlier epochs stay readable.

        `table(name, epoch=e).scan(epoch=e)` reads them. Raises NotFoundError for an unknown
        name.
        """
        base = self._refresh()
        self._snapshot = alteration.commit_drop(
            self._log, base, self._locate(name, base).require(base)
        )
        return self._snapshot.epoch

    def rename_table(self, name: str, new_name: str) -> int:
        """Rename a table, and return the new epoch. Moves no file.

        Raises NotFoundError for an unknown name, AlreadyExistsError when the new name is taken, and
        InvalidInputError for a lone table, which is named by its folder.
        """
        base = self._refresh()
        table = self._locate(name, base).require(base)
        self._snapshot = alteration.commit_rename(self._log, base, table, new_name)
        return self._snapshot.epoch

    def transaction(self, *, commit: CommitSettings | None = None) -> transactions.ArrowTransaction:
        """Begin a transaction on the newest state; use it in a `with` block.

        It changes any number of tables in one epoch, or none: see `ArrowTransaction`.
        """
        return transactions.ArrowTransaction(self._log, self._refresh(), commit)

    def sql(
        self,
        query: str,
        parameters: queries.Parameters | None = None,
        *,
        epoch: int | None = None,
        timestamp: datetime | str | None = None,
        tag: str | None = None,
    ) -> Any:
        """Return a `duckdb.DuckDBPyRelation`: what DuckDB finds in the tables of one epoch.

        Tables have their names in the SQL of DuckDB. `parameters` are the values of `?` in a list,
        or of `$name` in a dict. `epoch`, `timestamp` and `tag` are those of `ArrowTable.scan`. Rows
        are read when the relation is: by `fetchall`, `show`, `df`, `pl` or `arrow`. With
        parameters, the query runs at once, and its result is held in memory.

        Raises ImportError if DuckDB is not installed; InvalidInputError for a query that DuckDB
        refuses or that returns no rows; and NotFoundError for a state that was removed or never
        existed.
        """
        head = self._refresh()
        pinned = any(each is not None for each in (epoch, timestamp, tag))
        then = snapshot_at(self._log, head, epoch, timestamp, tag) if pinned else head

        def dataset_of(name: str) -> datasets.ScanDataset:
            table = ArrowTable(self._locate(name, then).follow(then), self._log, head)
            seen_at = None if pinned else "now"
            data: datasets.ScanDataset = table.dataset(epoch=then.epoch, seen_at=seen_at)
            return data

        return queries.query(query, parameters, list(then.own_names().values()), dataset_of)

    def tags(self) -> dict[str, int]:
        """Return the tagged epochs by tag name."""
        return dict(sorted(self._refresh().tags.items()))

    def tag(self, name: str, epoch: int | None = None) -> int:
        """Tag an epoch (None: the newest) and return it. The tag keeps it for `scan(tag=…)`.

        Raises AlreadyExistsError for an existing tag, and NotFoundError for an epoch that was
        removed or never existed.
        """
        head = self._refresh()
        chosen = head.epoch if epoch is None else epoch_number(epoch)
        self._snapshot = commit_tag(self._log, head, name, chosen)
        return chosen

    def untag(self, name: str) -> None:
        """Remove a tag. Raises NotFoundError."""
        self._snapshot = commit_untag(self._log, self._refresh(), name)

    def pins(self) -> dict[str, PinnedEpoch]:
        """Return the pins, which keep an epoch until a time, by name."""
        return pinned(self._refresh())

    def pin(self, name: str, seconds: float, epoch: int | None = None) -> int:
        """Keep an epoch (None: the newest) readable for some seconds from now, and return it.

        A second call with the same name and epoch can extend a pin, but never shorten it. Raises
        AlreadyExistsError for an existing pin of another epoch, and NotFoundError for an epoch that
        was removed or never existed.
        """
        head = self._refresh()
        chosen = head.epoch if epoch is None else epoch_number(epoch)
        self._snapshot = commit_pin(self._log, head, name, chosen, seconds)
        return chosen

    def unpin(self, name: str) -> None:
        """Remove a pin before its time is over. Raises NotFoundError."""
        self._snapshot = commit_unpin(self._log, self._refresh(), name)

    def consumers(self) -> list[consumers.Consumer]:
        """Return how far each consumer has read the changes of its table, by name."""
        return consumers.consumers_of(self._refresh())

    def create_consumer(
        self, name: str, table: str, start: epoch_range.Bound | None = None, *, keep: str = "7 days"
    ) -> None:
        """Create a consumer of the changes of a table, for `transaction().changes`.

        Its first changes are those of `start`, an epoch, a time or a tag as in
        `ArrowTable.changes` (None: of the next epoch). Vacuums keep the epochs that it has not read
        for the time `keep`, such as "7 days", after it last moved.

        Raises AlreadyExistsError for a name that is in use, NotFoundError for an unknown table, and
        the errors of `ArrowTable.changes` for the start.
        """
        head = self._refresh()
        found = head.table(table)
        self._snapshot = consumers.create_consumer(self._log, head, name, found, start, keep)

    def reset_consumer(self, name: str, start: epoch_range.Bound | None = None) -> None:
        """Let a consumer go on with the changes of `start` (None: of the next epoch).

        Raises NotFoundError for an unknown consumer or a dropped table, and the errors of
        `ArrowTable.changes` for the start.
        """
        self._snapshot = consumers.reset_consumer(self._log, self._refresh(), name, start)

    def drop_consumer(self, name: str) -> None:
        """Remove a consumer. Raises NotFoundError for an unknown one."""
        self._snapshot = consumers.drop_consumer(self._log, self._refresh(), name)

    def restore(
        self,
        epoch: int | None = None,
        *,
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
        check_settings(None, commit)
        return self._restore(epoch, timestamp, tag, commit).after.epoch

    def _restore(
        self,
        epoch: int | None = None,
        timestamp: datetime | str | None = None,
        tag: str | None = None,
        commit: CommitSettings | None = None,
    ) -> Restored:
        """Restore all tables, and return what was done. Raises as `restore`."""
        base = self._refresh()
        then = snapshot_at(self._log, base, epoch, timestamp, tag)
        self._snapshot, done = restoring.restore_database(self._log, base, then, commit)
        return Restored(self._snapshot, then.epoch, done)

    def verify(
        self,
        depth: int = 3,
        *,
        tables: Collection[str] | None = None,
        epoch: int | None = None,
        threads: int | None = None,
        elsewhere: verify_job.VerifyRunner | None = None,
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
        checks RowSets elsewhere than on threads here. `colonnade.verify` does the same when the
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
            elsewhere=elsewhere,
        )

    def report(self, epochs: int = 200) -> reports.Report:
        """Make an HTML page about the database and its tables; see `ArrowTable.report`.

        Shows the last `epochs` of the database.
        """
        return reports.make_report(self._log, self._refresh(), epochs)

    def repair(
        self, *, give_up_lost_epochs: bool = False, dry_run: bool = False
    ) -> caches.LogRepairResult:
        """Rebuild checkpoint and hint from the log alone, and say what was done.

        First puts lost marks of freed slots again, and restores damaged objects of anchors from
        their second copies. Changes nothing that a
        reader sees; `ArrowTable.repair` handles damaged data. With `give_up_lost_epochs`, newer
        epochs whose loss a checkpoint proves are given up. If the oldest readable state is lost,
        the epochs before the oldest whole checkpoint are given up instead. With `dry_run`, nothing
        is written: the result says what would be done, and an error says what the repair would
        raise. It takes the time from this machine's clock.

        Raises CorruptionError when the log itself is damaged, and when an anchor has no intact
        copy. In the second case the error names the tags and pins that keep its epoch. Raises
        StoreError.
        """
        result = caches.rebuild_caches(
            self._log, give_up_lost_epochs=give_up_lost_epochs, dry_run=dry_run
        )
        if not dry_run:
            self._snapshot = self._log.reader.read_head()
        return result

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
        epochs are kept; the largest value of all tables counts. Arguments replace them. Tags, pins,
        leases and consumers keep what they name, whatever its age. Safe beside concurrent writers,
        other vacuums, and readers of a kept epoch; a read of an epoch that is removed meanwhile may
        fail.
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
        self._refresh()
        return result

    def __reduce__(self) -> tuple[Callable[..., ArrowDatabase], tuple[Any, ...]]:
        """Pickle which database it is. The other process reads its newest state at once."""
        return _opened_again, (self._store,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, epoch={self._snapshot.epoch})"

    def _repr_html_(self) -> str:
        return notebook.database_html(self, self._log, self._refresh)

    def _refresh(self) -> Snapshot:
        """Look for newer epochs, and return the newest state."""
        self._snapshot = self._log.reader.refresh(self._snapshot)
        return self._snapshot

    def _locate(self, name: str, snapshot: Snapshot) -> Location:
        names = set(snapshot.table_names().values())
        lone = snapshot.lone_table and name in names
        return Location(self._store, None if lone else name, exists=True)


def _opened_again(store: ObjectStore) -> ArrowDatabase:
    """Open a database in another process. Raises the errors of `LogReader.read_head`."""
    log = Log(store)
    return ArrowDatabase(store, log, log.reader.read_head())
