"""The methods of a table that change rows; Spark runs them, again after a conflict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from typing import TypeVar

from pyspark.sql import Column, DataFrame, SparkSession

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.table.column_sql import SqlWriter, quoted
from colonnade.spark_ext.table.merge import MergeBuilder
from colonnade.spark_ext.table.statements import Expression, assignments, table_name
from colonnade.tableformat.statements.statement import RowCounts

_Table = TypeVar("_Table", bound="RowMethods")


class RowMethods(ABC):
    """The methods of a table that change its rows, with the names of Delta's methods.

    A subclass runs the statements: alone, or as a part of a transaction. A statement about the rows
    of a DataFrame runs in the session of the DataFrame, which alone knows its views. In
    `foreachBatch`, this is not the session in which the table was opened.
    """

    _spark: SparkSession
    _alias: str | None = None

    @property
    @abstractmethod
    def path(self) -> str:
        """The path of the table."""

    @abstractmethod
    def _change(self, spark: SparkSession, run: Callable[[], object]) -> RowCounts:
        """Run a statement of a session and return what it changed."""

    def _run(self, spark: SparkSession, text: str, arguments: Mapping[str, Column]) -> RowCounts:
        return self._change(spark, lambda: spark.sql(text, args=dict(arguments) or None))

    def _write(self, rows: DataFrame, mode: str, options: Mapping[str, str | int]) -> RowCounts:
        writer = rows.write.format("colonnade").mode(mode).options(**options)
        return self._change(rows.sparkSession, lambda: writer.save(self.path))

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
        return self._run(self._spark, text, writer.arguments)

    def update(
        self,
        condition: Expression | None = None,
        set: Mapping[str, Expression] | None = None,
    ) -> RowCounts:
        """Set columns of the rows where the condition is true; without a condition, of all rows.

        `set` maps names of columns to SQL text or Columns, which see the values before the update.
        If most rows of a large RowSet change, only the set columns are written. Runs again after
        conflicts and raises errors as `delete` does.
        """
        writer = SqlWriter(self._spark)
        values = assignments(writer, set)
        text = f"UPDATE {self._named()} SET {values}{_where(writer, condition)}"
        return self._run(self._spark, text, writer.arguments)

    def merge(self, source: DataFrame, condition: Expression) -> MergeBuilder:
        """Begin to describe a MERGE of the rows of `source`, matched by a condition.

        Name both sides, as in `t.alias("t").merge(rows.alias("s"), "t.id = s.id")`.
        """
        named = self._named()
        return MergeBuilder(self._run, named, source, condition)

    def upsert(self, rows: DataFrame, options: Mapping[str, str | int] | None = None) -> RowCounts:
        """Merge rows into the rows of the table with the same primary keys; add the other rows.

        `rows` has the columns of the primary key, and may have other columns, which are matched by
        name. A row of the table keeps its values in the columns that are missing, and a new row has
        defaults there. Several rows may have one key. Merge modes and sequences, which are
        properties of the table, decide what they become. `options` are those of a write: `txnAppId`
        and `txnVersion` name a batch that counts once, and `ignoreUnknownColumns` leaves out what
        the table lacks.

        Tasks write the rows. This process, or the planner, merges rows whose key the table has.
        Only these are merged again if a concurrent writer changed them. Raises InvalidInputError
        for rows that are not a DataFrame, and in a session without the jar. Raises Spark's errors,
        such as for a table without a primary key, a missing key column, an unknown column, or a key
        whose sum overflows.
        """
        if not hasattr(rows, "write"):
            raise InvalidInputError(f"The rows of an upsert must be a DataFrame, not {rows!r}.")
        given = dict(options or {})
        if any(name.casefold() == "onduplicate" for name in given):
            raise InvalidInputError(
                "An upsert always merges, so it has no option onDuplicate; leave it out."
            )
        return self._write(rows, "append", {**given, "onDuplicate": "merge"})

    def _named(self) -> str:
        name = table_name(self.path)
        return name if self._alias is None else f"{name} AS {quoted(self._alias)}"


def _where(writer: SqlWriter, condition: Expression | None) -> str:
    return "" if condition is None else f" WHERE {writer.write(condition, 'A condition')}"
