"""`colonnade.Database`: create, list and drop tables of a database in a Spark session."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from colonnade.manifests.engine import working_for
from colonnade.manifests.errors import AlreadyExistsError
from colonnade.manifests.later import later
from colonnade.manifests.public import public
from colonnade.spark_ext.answer_rows import RESTORE_SCHEMA, restore_row
from colonnade.spark_ext.executors import verify_on_executors
from colonnade.spark_ext.options.read import epoch_or_tag
from colonnade.spark_ext.session_author import author_of
from colonnade.spark_ext.session_storage import (
    StorageOptions,
    address_in,
    refuse_filesystem,
    require_session_options,
)
from colonnade.spark_ext.table.moments import moment_of
from colonnade.spark_ext.table.statements import refresh_cached, refuse_within
from colonnade.spark_ext.table.table import CREATE, CREATE_IF_NOT_EXISTS, Table, TableBuilder
from colonnade.spark_ext.table.transaction import Transaction
from colonnade.spark_ext.table_design import refuse_other_case
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.epochs.restore_counts import Restored
from colonnade.tableformat.table.epochs.tags_and_pins import PinnedEpoch
from colonnade.tableformat.table.report.notebook import database_html
from colonnade.tableformat.verify.findings import VerifyReport
from colonnade.tableformat.write.settings import CommitSettings, check_settings

if TYPE_CHECKING:
    from colonnade.tableformat.table import consumers
    from colonnade.tableformat.table.epochs import epoch_range
    from colonnade.tableformat.table.report import report as reports
else:
    consumers = later("colonnade.tableformat.table.consumers")
    epoch_range = later("colonnade.tableformat.table.epochs.epoch_range")
    reports = later("colonnade.tableformat.table.report.report")


@public
class Database:
    """A directory of tables with one log. Use `Database.forPath` or `Database.create`."""

    def __init__(self, spark_session: SparkSession, database: ArrowDatabase) -> None:
        refuse_filesystem(database._store.address)
        self._spark = spark_session
        self._database = database
        database._log.author = partial(author_of, spark_session)

    @classmethod
    def forPath(
        cls, sparkSession: SparkSession, path: str, storage_options: StorageOptions = None
    ) -> Database:
        """Open the database at `path`. Raises NotFoundError if it does not exist.

        `storage_options` are those of [`Table.forPath`][colonnade.Table.forPath].
        """
        return cls(
            sparkSession, ArrowDatabase.open(address_in(sparkSession, path, storage_options))
        )

    @classmethod
    def create(
        cls, sparkSession: SparkSession, path: str, storage_options: StorageOptions = None
    ) -> Database:
        """Create an empty database. Raises AlreadyExistsError if it exists."""
        address = address_in(sparkSession, path, storage_options)
        with working_for(author_of(sparkSession)):
            return cls(sparkSession, ArrowDatabase.create(address))

    @classmethod
    def createIfNotExists(
        cls, sparkSession: SparkSession, path: str, storage_options: StorageOptions = None
    ) -> Database:
        """Open the database at `path`; create it if it does not exist."""
        try:
            return cls.create(sparkSession, path, storage_options)
        except AlreadyExistsError:
            return cls.forPath(sparkSession, path, storage_options)

    @property
    def path(self) -> str:
        """The path of the database."""
        return self._database.path

    def tables(self) -> list[str]:
        """Return the names of the tables, sorted."""
        return self._database.tables()

    def table(self, name: str) -> Table:
        """Open a table. Raises NotFoundError that lists the tables."""
        return Table(self._spark, self._database.table(name))

    def createTable(self, name: str) -> TableBuilder:
        """Begin to describe a new table of this database.

        Raises AlreadyExistsError if the name differs from that of a table by case alone, unless
        `spark.sql.caseSensitive` is set.
        """
        return self._described(name, CREATE)

    def createTableIfNotExists(self, name: str) -> TableBuilder:
        """Begin to describe a table; if it exists already, `execute()` opens it unchanged.

        Raises AlreadyExistsError as `createTable`.
        """
        return self._described(name, CREATE_IF_NOT_EXISTS)

    def _described(self, name: str, verb: str) -> TableBuilder:
        if self._spark.conf.get("spark.sql.caseSensitive") != "true":
            refuse_other_case(self._database._refresh(), name)
        return TableBuilder(self._spark, self._database._store.address / name, verb)

    def dropTable(self, name: str) -> None:
        """Drop a table; its files stay until vacuum. Raises NotFoundError if it does not exist."""
        refuse_within(self._spark, f"Dropping {self.path}/{name}")
        self._database.drop_table(name)

    def transaction(self, commit: CommitSettings | None = None) -> Transaction:
        """Begin a transaction over any number of tables; use it in a `with` block.

        All changes of the session until its end become one epoch, or none of them happens. Raises
        InvalidInputError within another transaction, and in a session without the jar. Without the
        jar, use `colonnade.open_database(path).transaction()`, which works through Arrow.
        """
        check_settings(None, commit)
        require_session_options(self._spark, self._database._store.address, "A transaction")
        return Transaction(self._spark, self.path, commit or CommitSettings())

    def verify(self, depth: int = 3) -> VerifyReport:
        """Look for damage in the log, and in all tables on the session's executors.

        Changes nothing. Depths, errors and report are those of `Table.verify`.
        """
        return self._database.verify(depth, elsewhere=verify_on_executors(self._spark))

    def report(self, epochs: int = 200) -> reports.Report:
        """Make an HTML page about the database; see `ArrowDatabase.report`. Starts no Spark job."""
        return self._database.report(epochs)

    def tags(self) -> dict[str, int]:
        """Return the tagged epochs by their tags."""
        return self._database.tags()

    def tag(self, name: str, epoch: int | None = None) -> int:
        """Tag an epoch (None: the newest) and return it; vacuum keeps it until the tag is removed.

        Read it with `versionAsOf`. Raises AlreadyExistsError if the tag exists, NotFoundError if
        the epoch does not exist or has been removed.
        """
        return self._database.tag(name, epoch)

    def untag(self, name: str) -> None:
        """Remove a tag. Raises NotFoundError if it does not exist."""
        self._database.untag(name)

    def pins(self) -> dict[str, PinnedEpoch]:
        """Return the pinned epochs, which are kept until a time, by the names of their pins."""
        return self._database.pins()

    def pin(self, name: str, seconds: float, epoch: int | None = None) -> int:
        """Keep an epoch (None: the newest) readable for some seconds, and return it.

        Another call with the same name renews the pin. Raises AlreadyExistsError if the pin holds
        another epoch, NotFoundError if the epoch does not exist or has been removed.
        """
        return self._database.pin(name, seconds, epoch)

    def unpin(self, name: str) -> None:
        """Remove a pin before its time. Raises NotFoundError if it does not exist."""
        self._database.unpin(name)

    def consumers(self) -> list[consumers.Consumer]:
        """Return how far each consumer has read the changes of its table, by name."""
        return self._database.consumers()

    def createConsumer(
        self, name: str, table: str, start: epoch_range.Bound | None = None, keep: str = "7 days"
    ) -> None:
        """Create a consumer of the changes of a table, for `transaction().changes`.

        A time without an offset is in the session's time zone. All else is as for
        [`ArrowDatabase.create_consumer`][colonnade.ArrowDatabase.create_consumer].
        """
        refuse_within(self._spark, f"Creating consumer {name!r}")
        self._database.create_consumer(name, table, self._bound(start), keep=keep)

    def resetConsumer(self, name: str, start: epoch_range.Bound | None = None) -> None:
        """Let a consumer go on with the changes of `start` (None: of the next epoch).

        A time without an offset is in the session's time zone. Raises the errors of
        [`ArrowDatabase.reset_consumer`][colonnade.ArrowDatabase.reset_consumer].
        """
        refuse_within(self._spark, f"Resetting consumer {name!r}")
        self._database.reset_consumer(name, self._bound(start))

    def _bound(self, start: epoch_range.Bound | None) -> epoch_range.Bound | None:
        is_time = isinstance(start, str) and start[:1].isdigit() and start not in self.tags()
        return moment_of(self._spark, str(start)) if is_time else start

    def dropConsumer(self, name: str) -> None:
        """Remove a consumer. Raises NotFoundError for an unknown one."""
        refuse_within(self._spark, f"Dropping consumer {name!r}")
        self._database.drop_consumer(name)

    def restoreToVersion(self, version: int | str) -> DataFrame:
        """Restore all tables to an epoch or tag; return one row: sizes, and the new `epoch`.

        Tables created since then are dropped, and tables dropped since then are created again. If
        a concurrent writer changes a table meanwhile, the restore begins again, at most ten times.
        Raises NotFoundError if the epoch or tag does not exist or has been removed. Raises
        ConflictError after ten tries, and AlreadyExistsError if a table that stays now has the name
        of a restored one. Raises InvalidInputError if a property needs a column that a table did
        not have.
        """
        refuse_within(self._spark, f"Restoring {self.path}")
        epoch, tag = epoch_or_tag(version)
        return self._restored(self._database._restore(epoch, tag=tag))

    def restoreToTimestamp(self, timestamp: datetime | str) -> DataFrame:
        """Restore as `restoreToVersion`, to the last epoch up to a time.

        Text without an offset is in the session's time zone. Raises InvalidInputError for text that
        is not a time, and for a datetime without a time zone.
        """
        refuse_within(self._spark, f"Restoring {self.path}")
        return self._restored(self._database._restore(timestamp=moment_of(self._spark, timestamp)))

    def _restored(self, done: Restored) -> DataFrame:
        refresh_cached(self._spark)
        row = restore_row(done.after.tables.values(), done)
        return self._spark.createDataFrame([row], RESTORE_SCHEMA)

    def __repr__(self) -> str:
        return f"Database({self._database.path!r})"

    def _repr_html_(self) -> str:
        return database_html(self, self._database._log, self._database._refresh)
