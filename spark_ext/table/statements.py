"""Run statements that change rows as Spark SQL, and run them again after a conflict."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import Column, Row, SparkSession

from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import TRIES, pause_before
from colonnade.spark_ext.settings import CATALOG, TRANSACTION
from colonnade.spark_ext.table.column_sql import SqlWriter, quoted
from colonnade.tableformat.statements.statement import RowCounts
from colonnade.tableformat.table.epochs.history import counts_of
from colonnade.tableformat.table.table import ArrowTable

_CONFLICT = re.compile(rf"\[{ConflictError('').code}\] (.*)")
_TAG = "colonnade-transaction-"
"""The prefix of a job tag; the Java source commits the statement under the id that follows it."""

Result = TypeVar("Result")

Expression = str | Column
"""SQL text, or a Column."""


RunSql = Callable[[SparkSession, str, Mapping[str, Column]], RowCounts]
"""Runs a statement that changes rows, in a session, from its text and its arguments."""


def table_name(path: str) -> str:
    """Return the name of a table in SQL, made from its path."""
    return f"colonnade.{quoted(path)}"


def run_change(spark: SparkSession, table: ArrowTable, run: Callable[[], object]) -> RowCounts:
    """Run a statement of Spark that changes rows of a table, and return what it changed.

    If a concurrent writer changed the same rows, the statement runs again, at most ten times with
    growing pauses; within a transaction of the session it runs once. Raises ConflictError after the
    last try, InvalidInputError in a session without the jar, and Spark's errors.
    """
    require_jar(spark, f"Changing rows of table {table.path}")
    if spark.conf.get(TRANSACTION, None) is not None:
        return run_within(spark, run)

    def run_once() -> RowCounts:
        before = table.refresh().epoch
        transaction = _run_tagged(spark, run)
        return counts_of(table._log, table._refresh(), transaction, before)

    return rerun(run_once)


def rerun(run: Callable[[], Result]) -> Result:
    """Run a statement of Spark, and again after a conflict, at most ten times with growing pauses.

    Raises ConflictError after the last try, and Spark's errors.
    """
    for attempt in range(TRIES):
        if attempt:
            time.sleep(pause_before(attempt))
        try:
            return run()
        except PySparkException as error:
            conflict = conflict_of(error)
            if conflict is None:
                raise
            if attempt == TRIES - 1:
                raise conflict from error
    raise AssertionError("unreachable")


def run_within(spark: SparkSession, run: Callable[[], object]) -> RowCounts:
    """Run a statement as part of the session's transaction, and return what it changed."""
    statement = _run_tagged(spark, run)
    counts = call(spark, "statement_counts", statement=statement)
    return RowCounts(**counts.asDict())


@contextmanager
def joined(spark: SparkSession, owner: SparkSession) -> Iterator[None]:
    """Have statements of `spark` take part in the transaction of the session `owner`, if any.

    Raises InvalidInputError if `spark` is in another transaction.
    """
    wanted, present = owner.conf.get(TRANSACTION, None), spark.conf.get(TRANSACTION, None)
    if wanted is None or wanted == present:
        yield
        return
    if present is not None:
        raise InvalidInputError(
            "The session of the DataFrame is in another transaction than the session of the table;"
            " end one of them first."
        )
    spark.conf.set(TRANSACTION, wanted)
    try:
        yield
    finally:
        spark.conf.unset(TRANSACTION)


def call(spark: SparkSession, procedure: str, **arguments: str | int | None) -> Row:
    """Call one of Colonnade's procedures and return the first row of its result."""
    given = {name: value for name, value in arguments.items() if value is not None}
    texts = ", ".join(f"{name} => {_literal(value)}" for name, value in given.items())
    found: Row = spark.sql(f"CALL colonnade.system.{procedure}({texts})").collect()[0]
    return found


def _literal(value: str | int) -> str:
    """Write a value as SQL, which means the same whether backslashes escape or not.

    A parameter would be simpler. But the extensions of Iceberg 1.12 lose the parameters of a CALL.
    """
    return str(value) if isinstance(value, int) else f"CAST(X'{value.encode().hex()}' AS STRING)"


def refresh_cached(spark: SparkSession) -> None:
    """Have Spark drop its cached data of tables, after a write that bypassed Spark."""
    if spark.conf.get(CATALOG, None) is not None:
        call(spark, "refresh")


def refuse_within(spark: SparkSession, what: str) -> None:
    """Raise InvalidInputError in a transaction for an operation that needs its own epoch."""
    if spark.conf.get(TRANSACTION, None) is not None:
        raise InvalidInputError(
            f"{what} cannot be part of the session's transaction; do it before or after, or use SQL"
            " or a method of the transaction."
        )


def require_jar(spark: SparkSession, what: str) -> None:
    """Raise InvalidInputError in a session without the jar; `what` names what needs the jar."""
    if spark.conf.get(CATALOG, None) is None:
        raise InvalidInputError(
            f"{what} needs Colonnade's jar, which this session does not have; call"
            " colonnade.enable(spark)."
        )


def conflict_of(error: PySparkException) -> ConflictError | None:
    """Return the ConflictError that an error of Spark contains as text, or None."""
    found = _CONFLICT.search(str(error))
    return None if found is None else ConflictError(found[1])


def _run_tagged(spark: SparkSession, run: Callable[[], object]) -> str:
    """Run a statement under a new transaction id, and return the id."""
    transaction = new_transaction_id()
    tag = _TAG + transaction
    spark.addTag(tag)
    try:
        run()
    finally:
        spark.removeTag(tag)
    return transaction


def assignments(writer: SqlWriter, values: Mapping[str, Expression] | None) -> str:
    """Write columns and values as in `SET a = 1, b = 2`. Raises InvalidInputError if empty."""
    pairs = write_values(writer, values)
    return ", ".join(f"{column} = {value}" for column, value in pairs.items())


def write_values(writer: SqlWriter, values: Mapping[str, Expression] | None) -> dict[str, str]:
    """Write the values of columns as SQL.

    Raises InvalidInputError if there are none, and for a column or value of a wrong type.
    """
    if not isinstance(values, Mapping) or not values:
        raise InvalidInputError(
            f"Give the values by column, as in {{'a': 'a + 1'}}, not {values!r}."
        )
    for column in values:
        if not isinstance(column, str):
            raise InvalidInputError(f"The name of a column to set must be text, not {column!r}.")
    return {
        column: writer.write(value, f"The value of column {column!r}")
        for column, value in values.items()
    }
