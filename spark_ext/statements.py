"""Statements that change rows, carried out by Spark as SQL, and again after a conflict."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from pyspark.errors import PySparkException
from pyspark.sql import Column, Row, SparkSession

from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.spark_ext.column_sql import SqlWriter, quoted
from colonnade.spark_ext.settings import CATALOG, TRANSACTION
from colonnade.tableformat.statements.rerun import TRIES, pause_before
from colonnade.tableformat.statements.statement import RowCounts

_CONFLICT = re.compile(rf"\[{ConflictError('').code}\] (.*)")
_TAG = "colonnade-transaction-"
"""Spark's source commits under the id behind this, where a tag of the statement begins with it."""

Expression = str | Column
"""SQL text, or a Column."""


class StatementTarget(Protocol):
    """The table that a statement changes, where it finds what it did."""

    @property
    def path(self) -> str:
        """Where it is."""

    def refresh(self) -> Snapshot:
        """The newest state of its database."""

    def find_counts(self, transaction: str, after: int) -> RowCounts:
        """What the statement that was committed as `transaction` did."""


def table_name(path: str) -> str:
    """How SQL names a table by its path."""
    return f"colonnade.{quoted(path)}"


def run_statement(
    spark: SparkSession, table: StatementTarget, text: str, arguments: Mapping[str, Column]
) -> RowCounts:
    """Run a statement that changes rows of a table, and tell what it did.

    Where another one took the same rows meanwhile it is run again, ten times at most with growing
    pauses; in a transaction of the session it runs once. Raises ConflictError then,
    InvalidInputError in a session without the jar, and what Spark raises.
    """
    require_jar(spark, f"Rows of table {table.path} are changed")

    def run() -> None:
        spark.sql(text, args=dict(arguments) or None)

    if spark.conf.get(TRANSACTION, None) is not None:
        return run_within(spark, run)
    for attempt in range(TRIES):
        time.sleep(pause_before(attempt))
        before = table.refresh().epoch
        try:
            return table.find_counts(_run_tagged(spark, run), before)
        except PySparkException as error:
            conflict = conflict_of(error)
            if conflict is None:
                raise
            if attempt == TRIES - 1:
                raise conflict from error
    raise AssertionError("unreachable")


def run_within(spark: SparkSession, run: Callable[[], None]) -> RowCounts:
    """Carry out a statement as part of the session's transaction, and tell what it did there."""
    statement = _run_tagged(spark, run)
    counts = call(spark, "statement_counts", statement=statement)
    return RowCounts(**counts.asDict())


def call(spark: SparkSession, procedure: str, **arguments: str | int | None) -> Row:
    """The first row of what a procedure of Colonnade's returns."""
    given = {name: value for name, value in arguments.items() if value is not None}
    names = ", ".join(f"{name} => :{name}" for name in given)
    found: Row = spark.sql(f"CALL colonnade.system.{procedure}({names})", args=given).collect()[0]
    return found


def refresh_cached(spark: SparkSession) -> None:
    """Let Spark read anew what it has cached of tables, after a write that it did not do itself."""
    if spark.conf.get(CATALOG, None) is not None:
        call(spark, "refresh")


def refuse_within(spark: SparkSession, what: str) -> None:
    """Refuse in a transaction what would be an epoch of its own. Raises InvalidInputError."""
    if spark.conf.get(TRANSACTION, None) is not None:
        raise InvalidInputError(
            f"{what} is no part of the session's transaction; do it before or after, or by SQL or"
            " a method of the transaction."
        )


def require_jar(spark: SparkSession, what: str) -> None:
    """Raises InvalidInputError in a session without the jar."""
    if spark.conf.get(CATALOG, None) is None:
        raise InvalidInputError(
            f"{what} by Spark's source with the jar, which this session lacks; call"
            " colonnade.enable(spark)."
        )


def conflict_of(error: PySparkException) -> ConflictError | None:
    """The conflict that Spark's error tells of, if it does."""
    found = _CONFLICT.search(str(error))
    return None if found is None else ConflictError(found[1])


def _run_tagged(spark: SparkSession, run: Callable[[], None]) -> str:
    """Run a statement under a transaction id, which is returned."""
    transaction = new_transaction_id()
    tag = _TAG + transaction
    spark.addTag(tag)
    try:
        run()
    finally:
        spark.removeTag(tag)
    return transaction


def assignments(writer: SqlWriter, values: Mapping[str, Expression] | None) -> str:
    """Columns and their values as in `SET a = 1, b = 2`. Raises InvalidInputError for none."""
    pairs = write_values(writer, values)
    return ", ".join(f"{column} = {value}" for column, value in pairs.items())


def write_values(writer: SqlWriter, values: Mapping[str, Expression] | None) -> dict[str, str]:
    """The values given for columns, as SQL. Raises InvalidInputError for none, or other types."""
    if not isinstance(values, Mapping) or not values:
        raise InvalidInputError(
            f"Give the values by column, as in {{'a': 'a + 1'}}, not {values!r}."
        )
    for column in values:
        if not isinstance(column, str):
            raise InvalidInputError(f"A column to set is named by text, not {column!r}.")
    return {
        column: writer.write(value, f"The value of column {column!r}")
        for column, value in values.items()
    }
