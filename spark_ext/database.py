"""`colonnade.Database`: create, list and drop the tables of a database from a Spark session."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import SparkSession

from colonnade.manifests.errors import AlreadyExistsError
from colonnade.spark_ext.executors import verify_on_executors
from colonnade.spark_ext.options import epoch_or_tag
from colonnade.spark_ext.statements import refresh_cached, refuse_within
from colonnade.spark_ext.table import Table, TableBuilder
from colonnade.spark_ext.transaction import Transaction
from colonnade.tableformat.table.database import Database as ArrowDatabase
from colonnade.tableformat.table.kept_epochs import PinnedEpoch
from colonnade.tableformat.verify.findings import VerifyReport
from colonnade.tableformat.write.settings import CommitSettings, check_settings


class Database:
    """A directory of tables with one log. Use `Database.forPath` or `Database.create`."""

    def __init__(self, spark_session: SparkSession, database: ArrowDatabase) -> None:
        self._spark = spark_session
        self._database = database

    @classmethod
    def forPath(cls, sparkSession: SparkSession, path: str) -> Database:
        """Open the database at `path`. Raises NotFoundError when there is none."""
        return cls(sparkSession, ArrowDatabase.open(path))

    @classmethod
    def create(cls, sparkSession: SparkSession, path: str) -> Database:
        """Create an empty database. Raises AlreadyExistsError when there is one."""
        return cls(sparkSession, ArrowDatabase.create(path))

    @classmethod
    def createIfNotExists(cls, sparkSession: SparkSession, path: str) -> Database:
        """Open the database at `path`, creating it when there is none."""
        try:
            return cls.create(sparkSession, path)
        except AlreadyExistsError:
            return cls.forPath(sparkSession, path)

    @property
    def path(self) -> str:
        """Where the database is."""
        return self._database.path

    def tables(self) -> list[str]:
        """The names of the tables, sorted."""
        return self._database.tables()

    def table(self, name: str) -> Table:
        """Open a table. Raises NotFoundError that lists what there is."""
        return Table(self._spark, self._database.table(name))

    def createTable(self, name: str) -> TableBuilder:
        """Begin to describe a new table of this database."""
        return TableBuilder(self._spark, path=f"{self._database.path}/{name}")

    def createTableIfNotExists(self, name: str) -> TableBuilder:
        """Begin to describe a table that may be there already; then it is opened as it is."""
        return TableBuilder(self._spark, path=f"{self._database.path}/{name}", open_existing=True)

    def dropTable(self, name: str) -> None:
        """Remove a table; its files stay until vacuum. Raises NotFoundError."""
        refuse_within(self._spark, f"Dropping {self.path}/{name}")
        self._database.drop_table(name)

    def transaction(self, commit: CommitSettings | None = None) -> Transaction:
        """Begin a transaction over any number of tables; use it in a `with` block.

        What the session does until its end lands in one epoch or not at all. Raises
        InvalidInputError in a session without the jar, where
        `colonnade.open_database(path).transaction()` does the same through Arrow, and within
        another transaction.
        """
        check_settings(None, commit)
        return Transaction(self._spark, self.path, commit or CommitSettings())

    def verify(self, depth: int = 3) -> VerifyReport:
        """Look for damage in all tables, on the session's executors, and in the log.

        As `Table.verify`; changes nothing.
        """
        return self._database.verify(depth, elsewhere=verify_on_executors(self._spark))

    def tags(self) -> dict[str, int]:
        """Epochs by the names that they were given."""
        return self._database.tags()

    def tag(self, name: str, epoch: int | None = None) -> int:
        """Name an epoch (None: the newest), which is kept and returned; read it by `versionAsOf`.

        Raises AlreadyExistsError for a tag that exists, NotFoundError for an epoch that is gone.
        """
        return self._database.tag(name, epoch)

    def untag(self, name: str) -> None:
        """Remove a tag. Raises NotFoundError."""
        self._database.untag(name)

    def pins(self) -> dict[str, PinnedEpoch]:
        """Epochs that are kept until a time, by name."""
        return self._database.pins()

    def pin(self, name: str, seconds: float, epoch: int | None = None) -> int:
        """Keep an epoch (None: the newest) readable for some seconds; called again it renews.

        Raises AlreadyExistsError for the pin of another epoch, NotFoundError for an epoch that is
        gone.
        """
        return self._database.pin(name, seconds, epoch)

    def unpin(self, name: str) -> None:
        """Give a pin up before its time. Raises NotFoundError."""
        self._database.unpin(name)

    def restoreToVersion(self, version: int | str) -> int:
        """Make all tables again what they were at an epoch or tag; returns the new epoch.

        Tables that came since are dropped, and those that were dropped since are made again. Raises
        NotFoundError for what was never or is gone, ConflictError, AlreadyExistsError where a
        table that stays has got the name of another.
        """
        refuse_within(self._spark, f"Restoring {self.path}")
        epoch, tag = epoch_or_tag(version)
        return self._restored(self._database.restore(epoch=epoch, tag=tag))

    def restoreToTimestamp(self, timestamp: datetime | str) -> int:
        """The same for the last epoch not after a time; one without a zone is UTC."""
        refuse_within(self._spark, f"Restoring {self.path}")
        return self._restored(self._database.restore(timestamp=timestamp))

    def _restored(self, epoch: int) -> int:
        refresh_cached(self._spark)
        return epoch

    def __repr__(self) -> str:
        return f"Database({self._database.path!r})"
