"""Changing rows, as methods of a table: SQL that Spark runs, and again after a conflict."""

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
    """The methods of a table that change its rows, by the names of Delta's."""

    _spark: SparkSession
    _table: StatementTarget
    _alias: str | None = None

    def alias(self: _Table, aliasName: str) -> _Table:
        """The same table by a name for conditions, as in `t.id = s.id`."""
        named = copy(self)
        named._alias = aliasName
        return named

    def delete(self, condition: Expression | None = None) -> RowCounts:
        """Delete the rows for which a condition is true; all without one.

        Reads the columns of the condition alone. Runs again where another statement moved one of
        the rows. Raises InvalidInputError for what is no condition, or without the jar,
        ConflictError after ten tries, and what Spark raises.
        """
        writer = SqlWriter(self._spark)
        text = f"DELETE FROM {self._named()}{_where(writer, condition)}"
        return run_statement(self._spark, self._table, text, writer.arguments)

    def update(
        self,
        condition: Expression | None = None,
        set: Mapping[str, Expression] | None = None,
    ) -> RowCounts:
        """Set columns of the rows for which a condition is true; of all without one.

        `set` gives SQL text or Columns by column; all of them see the row as it was. Where most
        rows of a RowSet change, only the columns that are set are written. Runs again and raises as
        `delete`.
        """
        writer = SqlWriter(self._spark)
        values = write_values(writer, set)
        where = None if condition is None else writer.write(condition, "A condition")
        alias = None if self._alias is None else quoted(self._alias)
        update = Update(table_name(self._table.path), alias, values, where, writer.arguments)
        require_jar(self._spark, f"Rows of table {self._table.path} are changed")
        alone = self._spark.conf.get(TRANSACTION, None) is None
        if alone and isinstance(self._table, ArrowTable):
            done = update_columns(self._spark, self._table, update)
            if done is not None:
                return done
        return run_statement(self._spark, self._table, update.text, writer.arguments)

    def merge(self, source: DataFrame, condition: Expression) -> MergeBuilder:
        """Begin to describe how rows of `source` change this table, matched by a condition.

        Name both sides, as in `t.alias("t").merge(rows.alias("s"), "t.id = s.id")`.
        """
        return MergeBuilder(self._spark, self._table, self._named(), source, condition)

    def _named(self) -> str:
        name = table_name(self._table.path)
        return name if self._alias is None else f"{name} AS {quoted(self._alias)}"


def _where(writer: SqlWriter, condition: Expression | None) -> str:
    return "" if condition is None else f" WHERE {writer.write(condition, 'A condition')}"
