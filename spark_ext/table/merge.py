"""`Table.merge`: build a MERGE from its clauses, with the method names of Delta's builder."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.public import public
from colonnade.spark_ext.session import is_connect
from colonnade.spark_ext.table.column_sql import SqlWriter, quoted
from colonnade.spark_ext.table.statements import (
    Expression,
    RunSql,
    assignments,
    write_values,
)
from colonnade.tableformat.statements.statement import RowCounts

_MATCHED = "WHEN MATCHED"
_NOT_MATCHED = "WHEN NOT MATCHED"
_BY_SOURCE = "WHEN NOT MATCHED BY SOURCE"


@public
class MergeBuilder:
    """Describes a MERGE; nothing happens before `execute()`. Methods can be chained.

    For each row, the first clause of its kind whose condition is true applies. Conditions and
    values are SQL text or Columns. They may name columns of the table and of the source; clauses
    "by source" may name only columns of the table, and clauses that insert only columns of the
    source. Each method raises InvalidInputError for a condition or value of another type.
    """

    def __init__(
        self,
        run: RunSql,
        target: str,
        source: DataFrame,
        condition: Expression,
    ) -> None:
        """Begin a MERGE that `run` will run. `target` is the name of the table, with its alias."""
        if not hasattr(source, "createOrReplaceTempView"):
            raise InvalidInputError(f"The source of a merge must be a DataFrame, not {source!r}.")
        self._spark: SparkSession = source.sparkSession
        self._run = run
        self._target = target
        self._source = source
        self._writer = SqlWriter(self._spark)
        self._condition = self._writer.write(condition, "The condition of a merge")
        self._clauses: list[str] = []
        self._verb = "MERGE"

    def whenMatchedUpdate(
        self,
        condition: Expression | None = None,
        set: Mapping[str, Expression] | None = None,
    ) -> MergeBuilder:
        """Set columns of rows that match."""
        return self._update(_MATCHED, condition, set)

    def whenMatchedUpdateAll(self, condition: Expression | None = None) -> MergeBuilder:
        """Set all columns of rows that match to the source's columns of the same names."""
        return self._add(_MATCHED, condition, "UPDATE SET *")

    def whenMatchedDelete(self, condition: Expression | None = None) -> MergeBuilder:
        """Delete rows that match."""
        return self._add(_MATCHED, condition, "DELETE")

    def whenNotMatchedInsert(
        self,
        condition: Expression | None = None,
        values: Mapping[str, Expression] | None = None,
    ) -> MergeBuilder:
        """Insert a row for each source row that matches no row; columns not given are NULL."""
        given = write_values(self._writer, values)
        columns, row = ", ".join(given), ", ".join(given.values())
        return self._add(_NOT_MATCHED, condition, f"INSERT ({columns}) VALUES ({row})")

    def whenNotMatchedInsertAll(self, condition: Expression | None = None) -> MergeBuilder:
        """Insert the source rows that match no row, with columns matched by name."""
        return self._add(_NOT_MATCHED, condition, "INSERT *")

    def whenNotMatchedBySourceUpdate(
        self,
        condition: Expression | None = None,
        set: Mapping[str, Expression] | None = None,
    ) -> MergeBuilder:
        """Set columns of rows that no row of the source matches."""
        return self._update(_BY_SOURCE, condition, set)

    def whenNotMatchedBySourceDelete(self, condition: Expression | None = None) -> MergeBuilder:
        """Delete rows that no row of the source matches."""
        return self._add(_BY_SOURCE, condition, "DELETE")

    def withSchemaEvolution(self) -> MergeBuilder:
        """Add the source's new columns to the table before the merge, and widen types.

        New columns are those of the source that an update or insert of all columns, or of that
        column, would set. Existing rows have NULL in them. Nothing is dropped.
        """
        self._verb = "MERGE WITH SCHEMA EVOLUTION"
        return self

    def execute(self) -> RowCounts:
        """Run the MERGE in one epoch and return what it changed.

        The MERGE runs again, at most ten times, after a conflict. It conflicts with a concurrent
        writer that changed one of its rows. It also conflicts with one that inserted a row with the
        same values in the columns that the condition compares with `=`. Raises
        InvalidInputError without clauses or without the jar, ConflictError after the last try, and
        Spark's errors; several source rows that match one row are such an error.
        """
        if not self._clauses:
            raise InvalidInputError(
                "This merge has no clause; add one, such as whenMatchedUpdateAll()."
            )
        view = f"colonnade_source_{secrets.token_hex(8)}"
        alias = _alias_of(self._source)
        named = view if alias is None else f"{view} AS {quoted(alias)}"
        clauses = "\n".join(self._clauses)
        text = f"{self._verb} INTO {self._target} USING {named} ON {self._condition}\n{clauses}"
        self._source.createOrReplaceTempView(view)
        try:
            return self._run(self._spark, text, self._writer.arguments)
        finally:
            self._spark.catalog.dropTempView(view)

    def _update(
        self, when: str, condition: Expression | None, values: Mapping[str, Expression] | None
    ) -> MergeBuilder:
        return self._add(when, condition, f"UPDATE SET {assignments(self._writer, values)}")

    def _add(self, when: str, condition: Expression | None, action: str) -> MergeBuilder:
        if condition is not None:
            when += f" AND {self._writer.write(condition, 'The condition of a clause')}"
        self._clauses.append(f"{when} THEN {action}")
        return self


def _alias_of(source: DataFrame) -> str | None:
    """Return the alias of a DataFrame, which its temporary view would lose; None without one."""
    if is_connect(source.sparkSession):
        plan: Any = source._plan
        return str(plan._alias) if type(plan).__name__ == "SubqueryAlias" else None
    logical = source._jdf.queryExecution().logical()
    is_alias = logical.getClass().getSimpleName() == "SubqueryAlias"
    return str(logical.alias()) if is_alias else None
