"""The methods of a table that change rows; Spark runs them as SQL, again after a conflict."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TypeVar

from pyspark.sql import DataFrame, SparkSession

from colonnade.spark_ext.column_sql import SqlWriter, quoted
from colonnade.spark_ext.merge import MergeBuilder
from colonnade.spark_ext.settings import TRANSACTION
from colonnade.spark_ext.statements import (
    Expression,
    StatementTarget,
    require_jar,
    run_statement,
    table_name,
    write_values,
)
from colonnade.spark_ext.update import Update, update_columns
from colonnade.tableformat.statements.statement import RowCounts
from colonnade.tableformat.table.table import ArrowTable

_Table = TypeVar("_Table", bound="RowMethods")


class RowMethods:
    """The methods of a table that change its rows, with the names of Delta's methods."""

    _spark: SparkSession
    _table: StatementTarget
    _alias: str | None = None

    def alias(self: _Table, aliasName: str) -> _Table:
        """Return the same table under an alias for conditions, as in `t.id = s.id`."""
        named = copy(self)
        named._alias = aliasName
        return named

    def delete(self, condition: Expression | None = None) -> RowCounts:
        """Delete the rows for which the condition is true; without one, delete all rows.

        Reads only the columns of the condition. Runs again, at most ten times, if a concurrent
        writer changed one of the rows. Raises InvalidInputError for a condition of a wrong type or
        in a session without the jar, ConflictError after the last try, and Spark's errors.
        """
        writer = SqlWriter(self._spark)
        text = f"DELETE FROM {self._named()}{_where(writer, condition)}"
        return run_statement(self._spark, self._table, text, writer.arguments)

    def update(
        self,
        condition: Expression | None = None,
        set: Mapping[str, Expression] | None = None,
    ) -> RowCounts:
        """Set columns of the rows for which the condition is true; without one, of all rows.

        `set` maps names of columns to SQL text or Columns, which see the values before the update.
        If most rows of a RowSet change, only the set columns are written. Runs again after
        conflicts and raises errors as `delete` does.
        """
        writer = SqlWriter(self._spark)
        values = write_values(writer, set)
        where = None if condition is None else writer.write(condition, "A condition")
        alias = None if self._alias is None else quoted(self._alias)
        update = Update(table_name(self._table.path), alias, values, where, writer.arguments)
        require_jar(self._spark, f"Changing rows of table {self._table.path}")
        alone = self._spark.conf.get(TRANSACTION, None) is None
        if alone and isinstance(self._table, ArrowTable):
            done = update_columns(self._spark, self._table, update)
            if done is not None:
                return done
        return run_statement(self._spark, self._table, update.text, writer.arguments)

    def merge(self, source: DataFrame, condition: Expression) -> MergeBuilder:
        """Begin to describe a MERGE of the rows of `source`, matched by a condition.

        Name both sides, as in `t.alias("t").merge(rows.alias("s"), "t.id = s.id")`.
        """
        return MergeBuilder(self._spark, self._table, self._named(), source, condition)

    def _named(self) -> str:
        name = table_name(self._table.path)
        return name if self._alias is None else f"{name} AS {quoted(self._alias)}"


def _where(writer: SqlWriter, condition: Expression | None) -> str:
    return "" if condition is None else f" WHERE {writer.write(condition, 'A condition')}"
