"""Transactions in Spark: many statements on many tables become one epoch.

    with colonnade.Database.forPath(spark, "shop").transaction() as tx:
        tx.table("stock").update("item = 7", {"left": "left - 1"})
        tx.table("orders").append(new_orders)

The transaction belongs to the session: until its end, SQL and DataFrames of the session see its
changes and take part in it. Other sessions see nothing of it before the commit. If a DataFrame of
another session is written, that session takes part in the transaction meanwhile. Do not cache a
table within a transaction, because all sessions of one Spark share the cache. A write drops the
cached data of its table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.public import public
from colonnade.spark_ext.settings import TRANSACTION
from colonnade.spark_ext.table.column_sql import literal, require_escapes
from colonnade.spark_ext.table.row_methods import RowMethods
from colonnade.spark_ext.table.statements import (
    call,
    conflict_of,
    joined,
    require_jar,
    run_within,
    table_name,
)
from colonnade.tableformat.statements.statement import RowCounts
from colonnade.tableformat.table.change_plan import AlsoChange
from colonnade.tableformat.write.settings import CommitSettings


@public
class Transaction:
    """A transaction that `Database.transaction` begins and the end of its `with` block commits.

    An exception in the block, or a conflict at its end, leaves every table unchanged. A session
    has one transaction at a time, which its threads share. Every method raises InvalidInputError
    after the end of the transaction.
    """

    def __init__(self, spark: SparkSession, path: str, commit: CommitSettings) -> None:
        require_jar(spark, f"A transaction on database {path}")
        self._spark = spark
        self._path = path
        self._end: str | None = None
        app, version = commit.batch or (None, None)
        self._id: str = call(
            spark,
            "begin",
            database=path,
            user_metadata=commit.metadata,
            txn_app_id=app,
            txn_version=version,
            expect_epoch=commit.expect_epoch,
        )[0]

    def tables(self) -> list[str]:
        """Return the names of the tables that the transaction sees, sorted."""
        self.check_open()
        rows = self._spark.sql(f"SHOW TABLES IN {table_name(self._path)}").collect()
        return sorted(row["tableName"] for row in rows)

    def table(self, name: str) -> TransactionTable:
        """Return a table by its name. Raises NotFoundError that lists the tables."""
        known = self.tables()
        if name not in known:
            raise NotFoundError(
                f"Table {name!r} does not exist in this transaction, whose tables are:"
                f" {', '.join(known) or 'none yet'}."
            )
        return TransactionTable(self._spark, self, f"{self._path}/{name}")

    def create(
        self,
        name: str,
        schema: StructType | str,
        *,
        sortKey: Sequence[str] = (),
        primaryKey: Sequence[str] = (),
        properties: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> TransactionTable:
        """Create a table with the columns of `schema`: a StructType, or as in "id bigint".

        Raises Spark's error if a table of this name exists.
        """
        self.check_open()
        table = TransactionTable(self._spark, self, f"{self._path}/{name}")
        columns = schema.toDDL() if isinstance(schema, StructType) else schema
        given = dict(properties or {})
        if sortKey:
            given["sortKey"] = ", ".join(sortKey)
        if primaryKey:
            given["primaryKey"] = ", ".join(primaryKey)
        text = f"CREATE TABLE {table_name(table.path)} ({columns}) USING colonnade"
        if comment is not None:
            text += f" COMMENT {literal(comment)}"
        if given:
            pairs = ", ".join(f"{literal(k)} = {literal(v)}" for k, v in given.items())
            text += f" TBLPROPERTIES ({pairs})"
        require_escapes(self._spark, text)
        self._spark.sql(text)
        return table

    def drop(self, name: str) -> None:
        """Drop a table. Raises Spark's error if it does not exist."""
        self.check_open()
        self._spark.sql(f"DROP TABLE {table_name(f'{self._path}/{name}')}")

    def changes(
        self,
        table: str,
        consumer: str,
        *,
        net: bool = False,
        also: Collection[AlsoChange] = (),
        schemaEpoch: int | None = None,
    ) -> DataFrame:
        """Return the changes of a table that a consumer has not read, as the transaction began.

        If a query reads them in the transaction, its commit moves the consumer. If another process
        moves the consumer first, the commit raises ConflictError. The other arguments are those of
        `ArrowTable.changes`.

        Raises NotFoundError for an unknown table. Raises Spark's error with the sentence of
        [`ArrowTransaction.changes`][colonnade.ArrowTransaction.changes] for an unknown consumer,
        for one of another table, and for one that was not used in time.
        """
        path = self.table(table).path
        options: dict[str, Any] = {"readChangeFeed": True, "consumer": consumer}
        if net:
            options["deduplicationMode"] = "netChanges"
        if also:
            options["also"] = ", ".join(also)
        if schemaEpoch is not None:
            options["schemaEpoch"] = schemaEpoch
        return self._spark.read.format("colonnade").options(**options).load(path)

    def commit(self) -> int:
        """End the transaction and commit its changes as one epoch; return the epoch.

        Returns the base epoch if there are no changes. The `with` block calls this at its end.
        Raises ConflictError that names table, rows and epoch if a concurrent writer committed a
        conflicting change, and Spark's errors.
        """
        self.check_open()
        self._end = "failed at its commit"
        try:
            epoch: int = call(self._spark, "commit")[0]
        except PySparkException as error:
            conflict = conflict_of(error)
            if conflict is None:
                raise
            raise conflict from error
        self._end = f"was committed as epoch {epoch}"
        return epoch

    def rollback(self) -> None:
        """End the transaction and discard its changes. Vacuum removes the files that it wrote."""
        self.check_open()
        self._end = "was rolled back"
        self._spark.sql("CALL colonnade.system.rollback()").collect()

    def check_open(self) -> None:
        """Raise InvalidInputError if the transaction has ended, or the session is in another."""
        end = self._end
        if end is None and self._spark.conf.get(TRANSACTION, None) != self._id:
            end = "was ended by a statement of its session"
        if end is not None:
            raise InvalidInputError(f"This transaction {end}; begin another one.")

    def __enter__(self) -> Transaction:
        self.check_open()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if self._end is None and kind is None:
            self.commit()
        elif self._end is None:
            # The error of the block must not be hidden if the transaction has already ended.
            with suppress(InvalidInputError, PySparkException):
                self.rollback()


@public
class TransactionTable(RowMethods):
    """One table as a transaction sees it; its changes are committed with the transaction."""

    def __init__(self, spark: SparkSession, transaction: Transaction, path: str) -> None:
        self._spark = spark
        self._transaction = transaction
        self._path = path

    @property
    def path(self) -> str:
        """The path of the table."""
        return self._path

    def _named(self) -> str:
        self._transaction.check_open()
        return super()._named()

    def _change(self, spark: SparkSession, run: Callable[[], object]) -> RowCounts:
        self._transaction.check_open()
        with joined(spark, self._spark):
            return run_within(spark, run)

    def toDF(self) -> DataFrame:
        """Return the rows, including those that the transaction wrote; use it before its end."""
        self._transaction.check_open()
        return self._spark.table(table_name(self.path))

    def append(self, rows: DataFrame) -> RowCounts:
        """Append the rows of a DataFrame; columns are matched by name."""
        return self._write(rows, "append", {})

    def overwrite(self, rows: DataFrame, where: str | None = None) -> RowCounts:
        """Replace all rows by those of a DataFrame; with `where`, only the rows that it selects.

        `where` is a predicate in SQL text. Raises Spark's error if a new row does not meet it.
        """
        return self._write(rows, "overwrite", {} if where is None else {"replaceWhere": where})

    def _write(self, rows: DataFrame, mode: str, options: Mapping[str, str | int]) -> RowCounts:
        # This fails for a dropped table, which the append of a DataFrame would create again.
        self.toDF()
        return super()._write(rows, mode, options)
