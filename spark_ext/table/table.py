"""`colonnade.Table`: a table in a Spark session, with the method names of Delta.

This process reads the log, and the session alone makes DataFrames. Classic Spark and Spark Connect
therefore work alike, as long as the path means the same to this process and to the server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as spark

from colonnade.manifests.engine import working_for
from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from colonnade.manifests.later import later
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import StoreAddress, StorePath
from colonnade.spark_ext.answer_rows import (
    DETAIL_SCHEMA,
    RESTORE_SCHEMA,
    VACUUM_SCHEMA,
    detail_row,
    restore_row,
    vacuum_row,
)
from colonnade.spark_ext.executors import verify_on_executors
from colonnade.spark_ext.history_rows import HISTORY_SCHEMA, history_row
from colonnade.spark_ext.options.read import epoch_or_tag
from colonnade.spark_ext.options.user_options import storage_texts
from colonnade.spark_ext.session import session as present_session
from colonnade.spark_ext.session_author import author_of
from colonnade.spark_ext.session_storage import (
    StorageOptions,
    address_in,
    refuse_filesystem,
    require_session_options,
)
from colonnade.spark_ext.settings import TRANSACTION
from colonnade.spark_ext.table.column_sql import require_escapes
from colonnade.spark_ext.table.columns import fill_column, type_text
from colonnade.spark_ext.table.description import TableDescription
from colonnade.spark_ext.table.moments import moment_of
from colonnade.spark_ext.table.optimize import OptimizeBuilder
from colonnade.spark_ext.table.row_methods import RowMethods
from colonnade.spark_ext.table.statements import (
    joined,
    refresh_cached,
    refuse_within,
    require_jar,
    run_change,
    table_name,
)
from colonnade.tableformat.statements.statement import RowCounts
from colonnade.tableformat.table.design.generated import NewGenerated
from colonnade.tableformat.table.epochs.restore_counts import Restored
from colonnade.tableformat.table.report.notebook import table_html
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.verify.findings import VerifyReport

if TYPE_CHECKING:
    from colonnade.tableformat.table.report import report as reports
else:
    reports = later("colonnade.tableformat.table.report.report")

CREATE = "CREATE TABLE"
CREATE_IF_NOT_EXISTS = "CREATE TABLE IF NOT EXISTS"
REPLACE = "REPLACE TABLE"
CREATE_OR_REPLACE = "CREATE OR REPLACE TABLE"


@public
class Table(RowMethods):
    """One table at one path. Use `Table.forPath` or `Table.create`."""

    def __init__(self, spark_session: SparkSession, table: ArrowTable) -> None:
        refuse_filesystem(table._log.store.address)
        self._spark = spark_session
        self._table = table
        table._log.author = partial(author_of, spark_session)

    @classmethod
    def forPath(
        cls, sparkSession: SparkSession, path: str, storage_options: StorageOptions = None
    ) -> Table:
        """Open the table at `path`: a lone table, or `<database>/<table>`.

        `storage_options` are options of its store; they replace the session's settings
        `spark.colonnade.storage.<name>`. Methods that change rows use the settings alone. Raises
        NotFoundError if the table does not exist.
        """
        return cls(sparkSession, ArrowTable.open(address_in(sparkSession, path, storage_options)))

    @classmethod
    def forName(cls, sparkSession: SparkSession, name: str) -> Table:
        """Open a table by its name in the session, such as `colonnade.db.t`.

        Raises InvalidInputError for a table of another format, and Spark's error if the table does
        not exist.
        """
        rows = sparkSession.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
        details = {row["col_name"]: row["data_type"] for row in rows}
        if details.get("Provider") != "colonnade":
            raise InvalidInputError(
                f"{name} is not a Colonnade table; name one that was created USING colonnade."
            )
        return cls(sparkSession, ArrowTable.open(address_in(sparkSession, details["Location"])))

    @staticmethod
    def isColonnadeTable(
        sparkSession: SparkSession, path: str, storage_options: StorageOptions = None
    ) -> bool:
        """Whether a table exists at `path`. Raises any error other than NotFoundError."""
        try:
            ArrowTable.open(address_in(sparkSession, path, storage_options))
        except NotFoundError:
            return False
        return True

    @staticmethod
    def create(
        sparkSession: SparkSession | None = None, storage_options: StorageOptions = None
    ) -> TableBuilder:
        """Begin to describe a new table; `storage_options` are those of `forPath`.

        Without a session, it is that of `colonnade.session()`.
        """
        return TableBuilder(sparkSession, storage_options=storage_options)

    @staticmethod
    def createIfNotExists(
        sparkSession: SparkSession | None = None, storage_options: StorageOptions = None
    ) -> TableBuilder:
        """Begin to describe a table; if it exists already, `execute()` opens it unchanged.

        Arguments are those of `create`.
        """
        return TableBuilder(
            sparkSession, verb=CREATE_IF_NOT_EXISTS, storage_options=storage_options
        )

    @staticmethod
    def replace(
        sparkSession: SparkSession | None = None, storage_options: StorageOptions = None
    ) -> TableBuilder:
        """Begin to describe a table that replaces one that exists, in one epoch.

        Its rows, columns and properties go; earlier epochs stay readable. Arguments are those of
        `create`, and `execute()` runs a statement of SQL. Raises Spark's error if there is no such
        table.
        """
        return TableBuilder(sparkSession, verb=REPLACE, storage_options=storage_options)

    @staticmethod
    def createOrReplace(
        sparkSession: SparkSession | None = None, storage_options: StorageOptions = None
    ) -> TableBuilder:
        """Begin to describe a table as `replace` does, which may be a new one."""
        return TableBuilder(sparkSession, verb=CREATE_OR_REPLACE, storage_options=storage_options)

    @property
    def path(self) -> str:
        """The path of the table."""
        return self._table.path

    def toDF(self) -> DataFrame:
        """Return the rows of the newest epoch; the DataFrame stays at it, on Spark Connect too.

        Within a transaction of the session, return the rows that the transaction sees now.
        """
        if self._spark.conf.get(TRANSACTION, None) is not None:
            require_session_options(self._spark, self._address, f"Reading {self.path}")
            return self._spark.table(table_name(self.path))
        snapshot, _ = self._newest()
        reader = self._spark.read.format("colonnade").options(**storage_texts(self._address))
        return reader.option("epoch", snapshot.epoch).load(self._table.path)

    def addColumn(
        self,
        colName: str,
        dataType: str | spark.DataType,
        expression: str,
        nullable: bool = True,
        comment: str | None = None,
    ) -> RowCounts:
        """Add a column whose values Spark computes from other columns of the row, in one epoch.

        `expression` is SQL text. It is evaluated for every row, and its values are converted to the
        type as in an INSERT. Writes this column alone. Rows that concurrent writers add before the
        epoch get values, too; earlier epochs do not show the column. Values that are not
        deterministic, such as `uuid()`, are computed once and stored. Runs again if a concurrent
        writer alters the columns.

        Raises InvalidInputError that names the column when it exists, cannot have the type of the
        expression, is computed from several rows, or is NOT NULL and gets NULL; ConflictError after
        ten tries; Spark's errors. After any error the table is unchanged.
        """
        column = type_text(dataType, nullable, comment)
        given = {"name": colName, "type": column, "expression": expression}
        return self._filled("add_column", given)

    def backfill(self, colName: str, expression: str, condition: str | None = None) -> RowCounts:
        """Give a column a value that Spark computes, in the rows where a condition is true.

        Without a condition, in all rows. This is an update that never moves rows, and that needs no
        new try after appends, deletes and compactions. Raises the errors of `addColumn`.
        """
        given = {"column": colName, "expression": expression, "where": condition}
        return self._filled("backfill", given)

    def _filled(self, procedure: str, given: Mapping[str, str | None]) -> RowCounts:
        return fill_column(self._spark, self.path, procedure, given)

    def deleteKeys(self, keys: DataFrame) -> RowCounts:
        """Delete the rows that have one of the primary keys in `keys`.

        `keys` has exactly the columns of the primary key, and the sequence of a table that has one.
        They are collected into this process, which finds their rows by the indexes of the table. A
        key that no row has is ignored. With a sequence, a row that is newer than its deletion
        stays, and an older row that an upsert brings later stays out. Runs again when a concurrent
        statement changed one of the rows. Raises InvalidInputError for keys
        that are not a DataFrame, and within a transaction of the session. Raises the errors of
        `ArrowTable.delete_keys`, and Spark's.
        """
        if not hasattr(keys, "toArrow"):
            raise InvalidInputError(f"The keys to delete must be a DataFrame, not {keys!r}.")
        for session in (self._spark, keys.sparkSession):
            refuse_within(session, f"Deleting keys of {self.path}")
        counts = self._table.delete_keys(keys.toArrow())
        refresh_cached(self._spark)
        return counts

    def deleteRange(self, condition: str) -> RowCounts:
        """Delete a range of rows without reading them, however many there are.

        `condition` is SQL text. It compares the leading columns of the sort key or primary key with
        values, all but the last by `=`, or columns of the partitioning, or both; `IN` and `OR` give
        several ranges. All these columns are NOT NULL. Rows that a concurrent writer adds later
        stay. A DELETE with such a condition does the same. Raises InvalidInputError for any other
        condition, and within a transaction of the session; the errors of
        `ArrowTable.delete_range`.
        """
        refuse_within(self._spark, f"Deleting a range of {self.path}")
        counts = self._table.delete_range(condition)
        refresh_cached(self._spark)
        return counts

    def optimize(self) -> OptimizeBuilder:
        """Begin to describe a compaction that runs on the session's executors."""
        return OptimizeBuilder(self._spark, self.path, self._table.optimize())

    def vacuum(
        self,
        retentionHours: float | None = None,
        *,
        retainEpochs: int | None = None,
        dryRun: bool = False,
        force: bool = False,
    ) -> DataFrame:
        """Remove the files that no kept epoch of the database needs; return one row about them.

        The properties `retention.hours` (168) and `retention.epochs` (1) say how long, and how
        many, epochs are kept; the largest values of all tables of the database hold. Arguments
        replace the values of this table. Any retention is safe beside writers, and beside readers
        of kept epochs. With `dryRun` nothing is removed. `retentionHours` below 168 needs `force`.
        Raises the errors of `ArrowDatabase.vacuum`.
        """
        result = self._table.vacuum(
            retentionHours, retain_epochs=retainEpochs, dry_run=dryRun, force=force
        )
        return self._spark.createDataFrame([vacuum_row(self.path, result)], VACUUM_SCHEMA)

    def verify(self, depth: int = 3) -> VerifyReport:
        """Look for damage in the log, and in the table on the session's executors.

        Changes nothing. Depths and errors are those of `ArrowDatabase.verify`. Damage raises no
        error; the report lists it by file, column, block and rows.
        """
        return self._table.verify(depth, elsewhere=verify_on_executors(self._spark))

    def report(self, epochs: int = 200) -> reports.Report:
        """Make an HTML page about the table; see `ArrowTable.report`. Starts no Spark job."""
        return self._table.report(epochs)

    def history(self, limit: int | None = None) -> DataFrame:
        """Return the epochs that changed the table, newest first, at most `limit`."""
        rows = [history_row(entry) for entry in self._table.history(limit)]
        return self._spark.createDataFrame(rows, HISTORY_SCHEMA)

    def detail(self) -> DataFrame:
        """Return one row that describes the newest state of the table."""
        snapshot, state = self._newest()
        row = detail_row(self._table, snapshot, state)
        return self._spark.createDataFrame([row], DETAIL_SCHEMA)

    def restoreToVersion(self, version: int | str) -> DataFrame:
        """Restore the table to an epoch or tag; return one row: sizes, and the new `epoch`.

        Raises NotFoundError if the epoch or tag does not exist or has been removed, ConflictError
        if a concurrent writer changed the table, and InvalidInputError if a property needs a column
        that the table did not have.
        """
        refuse_within(self._spark, f"Restoring {self.path}")
        epoch, tag = epoch_or_tag(version)
        return self._restored(self._table._restore(epoch, tag=tag))

    def restoreToTimestamp(self, timestamp: datetime | str) -> DataFrame:
        """Restore as `restoreToVersion`, to the last epoch up to a time.

        Text without an offset is in the session's time zone. Raises InvalidInputError for text that
        is not a time, and for a datetime without a time zone.
        """
        refuse_within(self._spark, f"Restoring {self.path}")
        return self._restored(self._table._restore(timestamp=moment_of(self._spark, timestamp)))

    def _restored(self, done: Restored) -> DataFrame:
        refresh_cached(self._spark)
        row = restore_row([self._table._state], done)
        return self._spark.createDataFrame([row], RESTORE_SCHEMA)

    def _newest(self) -> tuple[Snapshot, TableState]:
        """Return the newest states of the database and of the table.

        Raises NotFoundError if the table was dropped, even if a new table has its path.
        """
        return self._table._refresh(), self._table._state

    @property
    def _address(self) -> StoreAddress:
        return self._table._log.store.address

    def _change(self, spark: SparkSession, run: Callable[[], object]) -> RowCounts:
        require_session_options(spark, self._address, f"Changing rows of {self.path}")
        with joined(spark, self._spark):
            return run_change(spark, self._table, run)

    def __repr__(self) -> str:
        return f"Table({self._table.path!r})"

    def _repr_html_(self) -> str:
        return table_html(self, self._table._open)


@public
class TableBuilder(TableDescription):
    """Describes a new table; nothing is written before `execute()`. Methods can be chained.

    Each method raises InvalidInputError for an argument of a wrong type.
    """

    def __init__(
        self,
        spark_session: SparkSession | None,
        path: StorePath | None = None,
        verb: str = CREATE,
        storage_options: StorageOptions = None,
    ) -> None:
        super().__init__()
        self._spark = present_session() if spark_session is None else spark_session
        self._path = path
        self._verb = verb
        self._storage_options = storage_options

    def execute(self) -> Table:
        """Create the table in one epoch and open it.

        Raises AlreadyExistsError if it exists, unless the description began with another method
        than `create`. Raises InvalidInputError that names the column for a schema that cannot be
        stored. A table that is described by its name, or that replaces another one, is made by a
        statement of SQL: it needs the jar, and also raises Spark's errors.
        """
        if self._path is None and self._name is None:
            raise InvalidInputError(
                "The new table has no place yet; call location(path) or tableName(name) first."
            )
        if self._name is None and self._verb in (CREATE, CREATE_IF_NOT_EXISTS):
            return Table(self._spark, self._created())
        return self._run()

    def _created(self) -> ArrowTable:
        """Create the table without a statement of Spark."""
        assert self._path is not None
        address = address_in(self._spark, self._path, self._storage_options)
        refuse_within(self._spark, f"Creating {address.url}")
        zone = str(self._spark.conf.get("spark.sql.session.timeZone"))
        generated = {
            name: NewGenerated(name, sql, time_zone=zone) for name, sql in self._generated.items()
        }
        try:
            with working_for(author_of(self._spark)):
                return ArrowTable.create(
                    address,
                    self._schema(),
                    sort_key=self._sort_key,
                    partition_by=self._partition_by,
                    properties=self._properties,
                    comment=self._comment,
                    constraints=self._constraints,
                    generated=generated,
                    identity=self._identity,
                    primary_key=self._primary_key,
                    static=self._static,
                    partition_key=self._partition_key,
                )
        except AlreadyExistsError:
            if self._verb == CREATE:
                raise
            return ArrowTable.open(address)

    def _run(self) -> Table:
        """Create or replace the table by a statement, and find it as the statement has."""
        url = None
        if self._path is not None:
            address = address_in(self._spark, self._path, self._storage_options)
            url = address.url
            require_session_options(self._spark, address, f"Creating {url}")
        elif self._storage_options:
            raise InvalidInputError(
                f"Table {self._name} is found by its name, which takes no storage options; set them"
                " in the session, or give its location, too."
            )
        name = self._name or table_name(str(url))
        require_jar(self._spark, f"Creating table {name}")
        refuse_within(self._spark, f"Creating {name}")
        text = self._statement(self._verb, name, url if self._name else None)
        require_escapes(self._spark, text)
        self._spark.sql(text)
        return Table.forName(self._spark, name)
