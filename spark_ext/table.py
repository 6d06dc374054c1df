"""`colonnade.Table`: a table for users of a Spark session, by the names they know from Delta.

The log is read where this code runs, and data frames are made through the session alone, so that
classic Spark and Spark Connect are served alike; the path must mean the same to both sides.
"""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as spark

from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.spark_ext.answer_rows import (
    DETAIL_SCHEMA,
    HISTORY_SCHEMA,
    VACUUM_SCHEMA,
    detail_row,
    history_row,
    vacuum_row,
)
from colonnade.spark_ext.executors import verify_on_executors
from colonnade.spark_ext.optimize import OptimizeBuilder
from colonnade.spark_ext.options import epoch_or_tag
from colonnade.spark_ext.pyspark_types import from_spark
from colonnade.spark_ext.row_methods import RowMethods
from colonnade.spark_ext.settings import TRANSACTION
from colonnade.spark_ext.statements import refresh_cached, refuse_within, table_name
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.verify.findings import VerifyReport


class Table(RowMethods):
    """One table at one path. Use `Table.forPath` or `Table.create`."""

    _table: ArrowTable

    def __init__(self, spark_session: SparkSession, table: ArrowTable) -> None:
        self._spark = spark_session
        self._table = table

    @classmethod
    def forPath(cls, sparkSession: SparkSession, path: str) -> Table:
        """Open the table at `path`, or `<database>/<table>`.

        Raises NotFoundError when there is none.
        """
        return cls(sparkSession, ArrowTable.open(path))

    @classmethod
    def forName(cls, sparkSession: SparkSession, name: str) -> Table:
        """Open a table by the name that the session knows it by, such as `colonnade.db.t`.

        Raises InvalidInputError for a table of another format; Spark's error for no table.
        """
        rows = sparkSession.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
        details = {row["col_name"]: row["data_type"] for row in rows}
        if details.get("Provider") != "colonnade":
            raise InvalidInputError(f"{name} is no Colonnade table.")
        return cls(sparkSession, ArrowTable.open(details["Location"]))

    @staticmethod
    def isColonnadeTable(sparkSession: SparkSession, path: str) -> bool:
        """Whether there is a table at `path`; errors other than that there is none are raised."""
        try:
            ArrowTable.open(path)
        except NotFoundError:
            return False
        return True

    @staticmethod
    def create(sparkSession: SparkSession) -> TableBuilder:
        """Begin to describe a new table."""
        return TableBuilder(sparkSession)

    @staticmethod
    def createIfNotExists(sparkSession: SparkSession) -> TableBuilder:
        """Begin to describe a table that may be there already; then it is opened as it is."""
        return TableBuilder(sparkSession, open_existing=True)

    @property
    def path(self) -> str:
        """Where the table is."""
        return self._table.path

    def toDF(self) -> DataFrame:
        """The rows of the newest epoch. The DataFrame stays at that epoch, on Spark Connect too.

        In a transaction of the session they are those that it sees now.
        """
        if self._spark.conf.get(TRANSACTION, None) is not None:
            return self._spark.table(table_name(self.path))
        snapshot, _ = self._newest()
        reader = self._spark.read.format("colonnade")
        return reader.option("epoch", snapshot.epoch).load(self._table.path)

    def optimize(self) -> OptimizeBuilder:
        """Begin to describe a compaction, which runs on the session's executors."""
        return OptimizeBuilder.begin(self._spark, self._table)

    def vacuum(
        self,
        retentionHours: float | None = None,
        *,
        retainEpochs: int | None = None,
        dryRun: bool = False,
    ) -> DataFrame:
        """Remove what no kept epoch of the table's database needs; one row says what that was.

        Epochs are kept for the hours, and in the number, that the tables' properties
        `retention.hours` (168) and `retention.epochs` (1) ask for, the most of all; arguments
        replace those of this table. Safe at any retention beside writers and readers of kept
        epochs. With `dryRun` it only says what would go. Raises as `ArrowDatabase.vacuum`.
        """
        result = self._table.vacuum(retentionHours, retain_epochs=retainEpochs, dry_run=dryRun)
        return self._spark.createDataFrame([vacuum_row(result)], VACUUM_SCHEMA)

    def verify(self, depth: int = 3) -> VerifyReport:
        """Look for damage in the table, on the session's executors, and in its log.

        Changes nothing. Depths and errors are those of `ArrowDatabase.verify`. Damage is no error:
        the report tells it by file, column, block and rows.
        """
        return self._table.verify(depth, elsewhere=verify_on_executors(self._spark))

    def history(self, limit: int | None = None) -> DataFrame:
        """The epochs that changed the table, newest first."""
        rows = [history_row(entry) for entry in self._table.history(limit)]
        return self._spark.createDataFrame(rows, HISTORY_SCHEMA)

    def detail(self) -> DataFrame:
        """One row about the table as it is now."""
        snapshot, state = self._newest()
        row = detail_row(self._table, snapshot, state)
        return self._spark.createDataFrame([row], DETAIL_SCHEMA)

    def restoreToVersion(self, version: int | str) -> int:
        """Make the table again what it was at an epoch, or at a tag; returns the new epoch.

        Raises NotFoundError for what was never or is gone, ConflictError when another writer
        changed the table meanwhile.
        """
        refuse_within(self._spark, f"Restoring {self.path}")
        epoch, tag = epoch_or_tag(version)
        return self._restored(self._table.restore(epoch=epoch, tag=tag))

    def restoreToTimestamp(self, timestamp: datetime | str) -> int:
        """The same for the last epoch not after a time; one without a zone is UTC."""
        refuse_within(self._spark, f"Restoring {self.path}")
        return self._restored(self._table.restore(timestamp=timestamp))

    def _restored(self, epoch: int) -> int:
        refresh_cached(self._spark)
        return epoch

    def _newest(self) -> tuple[Snapshot, TableState]:
        """The database and the table as they are now.

        Raises NotFoundError for a table that was dropped: another one may have its path.
        """
        return self._table.refresh(), self._table.state

    def __repr__(self) -> str:
        return f"Table({self._table.path!r})"


class TableBuilder:
    """Describes a new table; nothing is written before `execute()`. Methods can be chained."""

    def __init__(
        self,
        spark_session: SparkSession,
        path: str | None = None,
        open_existing: bool = False,
    ) -> None:
        self._spark = spark_session
        self._path = path
        self._open_existing = open_existing
        self._fields: list[spark.StructField] = []
        self._sort_key: tuple[str, ...] = ()
        self._partition_by: tuple[str, ...] = ()
        self._properties: dict[str, str] = {}
        self._comment: str | None = None

    def location(self, location: str) -> TableBuilder:
        """Where the table shall be: a path of its own, or `<database>/<name>`."""
        self._path = location
        return self

    def comment(self, comment: str) -> TableBuilder:
        """Say what the table is for."""
        self._comment = comment
        return self

    def addColumn(
        self,
        colName: str,
        dataType: str | spark.DataType,
        nullable: bool = True,
        comment: str | None = None,
    ) -> TableBuilder:
        """Add a column; the type is a Spark type or its text, such as `decimal(12,2)`."""
        data_type = spark.DataType.fromDDL(dataType) if isinstance(dataType, str) else dataType
        metadata = {} if comment is None else {"comment": comment}
        self._fields.append(spark.StructField(colName, data_type, nullable, metadata))
        return self

    def addColumns(self, cols: spark.StructType | list[spark.StructField]) -> TableBuilder:
        """Add columns as a Spark schema describes them, comments and NOT NULL included."""
        self._fields += list(cols)
        return self

    def clusterBy(self, *colNames: str) -> TableBuilder:
        """Set the sort key: each task's rows are stored in this order, `"a desc"` downwards."""
        self._sort_key = colNames
        return self

    def partitionedBy(self, *cols: str) -> TableBuilder:
        """Keep rows apart by columns, or by transforms such as `days(ts)` or `bucket(16, id)`."""
        self._partition_by = cols
        return self

    def property(self, key: str, value: str) -> TableBuilder:
        """Set a property."""
        self._properties[key] = value
        return self

    def execute(self) -> Table:
        """Create the table in one epoch and open it.

        Raises AlreadyExistsError when there is one (unless `createIfNotExists` began this),
        InvalidInputError naming the column for a schema that cannot be stored.
        """
        if self._path is None:
            raise InvalidInputError("The new table has no place yet; call location(path) first.")
        refuse_within(self._spark, f"Creating {self._path}")
        schema: TableSchema = from_spark(spark.StructType(self._fields))
        try:
            table = ArrowTable.create(
                self._path,
                schema,
                sort_key=self._sort_key,
                partition_by=self._partition_by,
                properties=self._properties,
                comment=self._comment,
            )
        except AlreadyExistsError:
            if not self._open_existing:
                raise
            table = ArrowTable.open(self._path)
        return Table(self._spark, table)
