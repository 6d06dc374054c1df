"""Statements that change rows, carried out by Spark as SQL, and again after a conflict."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

from pyspark.errors import PySparkException
from pyspark.sql import Column, SparkSession

from manifests.errors import ConflictError, InvalidInputError
from manifests.ids import new_transaction_id
from spark_ext.column_sql import SqlWriter, quoted
from spark_ext.session import CATALOG
from tableformat.statements.rerun import TRIES, pause_before
from tableformat.statements.statement import RowCounts
from tableformat.table import ArrowTable

_CONFLICT = re.compile(rf"\[{ConflictError('').code}\] (.*)")
_TAG = "colonnade-transaction-"
"""Spark's source commits under the id behind this, where a tag of the statement begins with it."""

Expression = str | Column
"""SQL text, or a Column."""


def table_name(table: ArrowTable) -> str:
    """How SQL names a table by its path."""
    return f"colonnade.{quoted(table.path)}"


def run_statement(
    spark: SparkSession, table: ArrowTable, text: str, arguments: Mapping[str, Column]
) -> RowCounts:
    """Run a statement that changes rows of a table, and tell what it did.

    Where another one took the same rows meanwhile it is run again, ten times at most with growing
    pauses. Raises ConflictError then, InvalidInputError in a session without the jar, and what
    Spark raises.
    """
    if spark.conf.get(CATALOG, None) is None:
        raise InvalidInputError(
            f"Rows of table {table.path} are changed by Spark's source with the jar, which this"
            " session lacks; call colonnade.enable(spark)."
        )
    for attempt in range(TRIES):
        time.sleep(pause_before(attempt))
        before, transaction = table.refresh().epoch, new_transaction_id()
        tag = _TAG + transaction
        spark.addTag(tag)
        try:
            spark.sql(text, args=dict(arguments) or None)
            return table.find_counts(transaction, before)
        except PySparkException as error:
            conflict = _CONFLICT.search(str(error))
            if conflict is None:
                raise
            if attempt == TRIES - 1:
                raise ConflictError(conflict[1]) from error
        finally:
            spark.removeTag(tag)
    raise AssertionError("unreachable")


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
