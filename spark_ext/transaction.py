"""`with database.transaction() as tx:` in Spark: many statements, many tables, one epoch.

    with colonnade.Database.forPath(spark, "shop").transaction() as tx:
        tx.table("stock").update("item = 7", {"left": "left - 1"})
        tx.table("orders").append(new_orders)

The transaction is one of the session: until its end, SQL and DataFrames of the same session see
and add to it, too. Nothing is visible to others before. Do not cache a table within it: sessions of
one Spark share what is cached. What was cached of a table that it writes is forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.spark_ext.row_methods import RowMethods
from colonnade.spark_ext.settings import TRANSACTION
from colonnade.spark_ext.statements import call, conflict_of, require_jar, run_within, table_name
from colonnade.tableformat.statements.statement import RowCounts
from colonnade.tableformat.write.settings import CommitSettings


class Transaction:
    """Made by `Database.transaction`, and over when its `with` block ends.

    An exception in the block, or a conflict at its end, leaves every table as it was. One session
    has one transaction at a time; its threads share it. Used after its end it raises
    InvalidInputError.
    """

    def __init__(self, spark: SparkSession, path: str, commit: CommitSettings) -> None:
        require_jar(spark, f"Transactions on database {path} are carried out")
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
        """The names of the tables as it sees them, sorted."""
        self.check_open()
        rows = self._spark.sql(f"SHOW TABLES IN {table_name(self._path)}").collect()
        return sorted(row["tableName"] for row in rows)

    def table(self, name: str) -> TransactionTable:
        """A table by its name. Raises NotFoundError that lists what there is."""
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
        properties: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> TransactionTable:
        """Create a table with the columns of `schema`, a StructType or as in "id bigint, day date".

        Raises Spark's error where the name is taken.
        """
        self.check_open()
        table = TransactionTable(self._spark, self, f"{self._path}/{name}")
        columns = schema.toDDL() if isinstance(schema, StructType) else schema
        given = dict(properties or {})
        if sortKey:
            given["sortKey"] = ", ".join(sortKey)
        text = f"CREATE TABLE {table_name(table.path)} ({columns}) USING colonnade"
        if comment is not None:
            text += f" COMMENT {_literal(comment)}"
        if given:
            pairs = ", ".join(f"{_literal(k)} = {_literal(v)}" for k, v in given.items())
            text += f" TBLPROPERTIES ({pairs})"
        self._spark.sql(text)
        return table

    def drop(self, name: str) -> None:
        """Drop a table. Raises Spark's error where there is none."""
        self.check_open()
        self._spark.sql(f"DROP TABLE {table_name(f'{self._path}/{name}')}")

    def commit(self) -> int:
        """End it, and make what it did one epoch; returns that, or its base where it did nothing.

        The `with` block does this at its end. Raises ConflictError naming table, rows and epoch
        where another writer got at what it changed, replaced or inserted, and what Spark raises.
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
        """End it and change nothing. Files that it wrote belong to vacuum."""
        self.check_open()
        self._end = "was rolled back"
        self._spark.sql("CALL colonnade.system.rollback()").collect()

    def check_open(self) -> None:
        """Raises InvalidInputError where it is over, or the session is in another one."""
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
            # What went wrong in the block matters more than a transaction that is over already.
            with suppress(InvalidInputError, PySparkException):
                self.rollback()


class TransactionTable(RowMethods):
    """One table as a transaction sees it; what changes it is committed with the transaction."""

    def __init__(self, spark: SparkSession, transaction: Transaction, path: str) -> None:
        self._spark = spark
        self._transaction = transaction
        self._table = _Place(transaction, path)

    @property
    def path(self) -> str:
        """Where the table is."""
        return self._table.path

    def _named(self) -> str:
        self._transaction.check_open()
        return super()._named()

    def toDF(self) -> DataFrame:
        """The rows, those that the transaction wrote included; for use before its end."""
        self._transaction.check_open()
        return self._spark.table(table_name(self.path))

    def append(self, rows: DataFrame) -> RowCounts:
        """Add the rows of a DataFrame, by the names of its columns."""
        return self._write(rows, "append")

    def overwrite(self, rows: DataFrame, where: str | None = None) -> RowCounts:
        """Replace all rows by those of a DataFrame, or those that meet a predicate in SQL text.

        Raises what Spark does where a new row does not meet it.
        """
        return self._write(rows, "overwrite", {} if where is None else {"replaceWhere": where})

    def _write(
        self, rows: DataFrame, mode: str, options: Mapping[str, str] | None = None
    ) -> RowCounts:
        # A table that was dropped must not be made again by the way, as by any DataFrame's append.
        self.toDF()
        writer = rows.write.format("colonnade").mode(mode).options(**(options or {}))
        return run_within(self._spark, lambda: writer.save(self.path))


class _Place:
    """A table of a transaction to `run_statement`, which looks nothing up in the log for it."""

    def __init__(self, transaction: Transaction, path: str) -> None:
        self._transaction = transaction
        self.path = path

    def refresh(self) -> Snapshot:
        self._transaction.check_open()
        raise AssertionError("a statement ran beside its transaction")

    def find_counts(self, transaction: str, after: int) -> RowCounts:
        raise AssertionError("a statement ran beside its transaction")


def _literal(text: str) -> str:
    """A text as a literal of SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
