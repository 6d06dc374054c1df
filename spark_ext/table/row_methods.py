"""The methods of a table that change rows; Spark runs them as SQL, again after a conflict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import TypeVar

from pyspark.sql import Column, DataFrame, SparkSession

from colonnade.spark_ext.table.column_sql import SqlWriter, quoted
from colonnade.spark_ext.table.merge import MergeBuilder
from colonnade.spark_ext.table.statements import (
    Expression,
    require_jar,
    table_name,
    write_values,
)
from colonnade.spark_ext.table.update import Update
from colonnade.tableformat.statements.statement import RowCounts

_Table = TypeVar("_Table", bound="RowMethods")


class RowMethods(ABC):
    """The methods of a table that change its rows, with the names of Delta's methods.

    A subclass runs the statements: alone, or as a part of a transaction.
    """

    _spark: SparkSession
    _alias: str | None = None

    @property
    @abstractmethod
    def path(self) -> str:
        """The path of the table."""

    @abstractmethod
    def _run(self, text: str, arguments: Mapping[str, Column]) -> RowCounts:
        """Run a statement and return what it changed."""

    def _replace_columns(self, update: Update) -> RowCounts | None:
        """Run an update by replacing columns if that is cheaper; else return None."""
        return None

    def alias(self: _Table, aliasName: str) -> _Table:
        """Return the same table under an alias for conditions, as in `t.id = s.id`."""
        named = copy(self)
        named._alias = aliasName
        return named

    def delete(self, condition: Expression | None = None) -> RowCounts:
        """Delete the rows where the condition is true; without a condition, delete all rows.

        Reads only the columns of the condition. Runs again, at most ten times, if a concurrent
        writer changed one of the rows. Raises InvalidInputError for a condition of a wrong type or
        in a session without the jar, ConflictError after the last try, and Spark's errors.
        """
        writer = SqlWriter(self._spark)
        text = f"DELETE FROM {self._named()}{_where(writer, condition)}"
        return self._run(text, writer.arguments)

    def update(
        self,
        condition: Expression | None = None,
        set: Mapping[str, Expression] | None = None,
    ) -> RowCounts:
        """Set columns of the rows where the condition is true; without a condition, of all rows.

        `set` maps names of columns to SQL text or Columns, which see the values before the update.
        If most rows of a RowSet change, only the set columns are written. Runs again after
        conflicts and raises errors as `delete` does.
        """
        writer = SqlWriter(self._spark)
        values = write_values(writer, set)
        where = None if condition is None else writer.write(condition, "A condition")
        alias = None if self._alias is None else quoted(self._alias)
        update = Update(table_name(self.path), alias, values, where, writer.arguments)
        require_jar(self._spark, f"Changing rows of table {self.path}")
        done = self._replace_columns(update)
        return self._run(update.text, writer.arguments) if done is None else done

    def merge(self, source: DataFrame, condition: Expression) -> MergeBuilder:
        """Begin to describe a MERGE of the rows of `source`, matched by a condition.

        Name both sides, as in `t.alias("t").merge(rows.alias("s"), "t.id = s.id")`.
        """
        named = self._named()
        return MergeBuilder(self._spark, self._run, named, source, condition)

    def _named(self) -> str:
        name = table_name(self.path)
        return name if self._alias is None else f"{name} AS {quoted(self._alias)}"


def _where(writer: SqlWriter, condition: Expression | None) -> str:
    return "" if condition is None else f" WHERE {writer.write(condition, 'A condition')}"
