"""Have Spark compute a column of a table, through the procedures `add_column` and `backfill`."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession
from pyspark.sql import types as spark

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.table.column_sql import literal
from colonnade.spark_ext.table.statements import call, refuse_within, require_jar, rerun
from colonnade.tableformat.statements.statement import RowCounts


def type_text(data_type: str | spark.DataType, nullable: bool, comment: str | None) -> str:
    """Return the type of a new column as DDL. Raises InvalidInputError for another type."""
    if isinstance(data_type, spark.DataType):
        data_type = data_type.simpleString()
    if not isinstance(data_type, str):
        raise InvalidInputError(f"A type is text or a DataType of Spark, not {data_type!r}.")
    text = data_type if nullable else f"{data_type} NOT NULL"
    if comment is None:
        return text
    return f"{text} COMMENT {literal(comment)}"


def fill_column(
    session: SparkSession, path: str, procedure: str, given: Mapping[str, str | None]
) -> RowCounts:
    """Run a procedure that fills a column, again after a conflict, and return what it changed.

    Raises InvalidInputError in a session without the jar, in a transaction, and for an argument
    that is not text. Raises ConflictError after ten tries, and Spark's errors.
    """
    require_jar(session, f"Computing a column of table {path}")
    refuse_within(session, "Computing a column")
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise InvalidInputError(f"{name.capitalize()} must be text, not {value!r}.")
    counts = rerun(lambda: call(session, procedure, table=path, **given)).asDict()
    return RowCounts(
        **counts,
        rowsets_in_place=counts["rowsets_touched"],
        bytes_in_place=counts["bytes_written"],
    )
