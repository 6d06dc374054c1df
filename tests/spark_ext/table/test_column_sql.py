"""Columns as SQL text mean what they mean in a DataFrame, or are refused."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.table.column_sql import SqlWriter

FIRST_HALF_PAST_ONE = datetime(2026, 11, 1, 5, 30, tzinfo=timezone.utc)
SECOND_HALF_PAST_ONE = datetime(2026, 11, 1, 6, 30, tzinfo=timezone.utc)


@pytest.fixture(scope="module")
def new_york(spark: SparkSession) -> SparkSession:
    """A session of its own, in whose time zone there was half past one twice on a day."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    return session


def test_a_column_means_the_same_as_text(new_york: SparkSession) -> None:
    columns = [
        F.lit("${spark.app.name} $ {x} it's \\ \n"),
        F.concat(F.lit("${"), F.col("id").cast("string"), F.lit("}")),
        F.lit(FIRST_HALF_PAST_ONE),
        F.lit(SECOND_HALF_PAST_ONE),
        F.lit(SECOND_HALF_PAST_ONE) > F.lit(datetime(1900, 1, 1)),
        F.lit(None).cast("timestamp"),
        (F.col("id") + 1).alias("other"),
        F.struct(F.col("id").alias("a b")),
        (F.col("id") - (F.lit(3) - F.col("id"))) * 2 % 5 / 3 == F.lit(1) + 1,
        (F.col("id") < 1) & ~(F.col("id").eqNullSafe(7) | (F.upper(F.lit("a")) >= "B")),
    ]
    frame = new_york.range(1)
    frame.createOrReplaceTempView("one")
    writer = SqlWriter(new_york)
    texts = ", ".join(f"{writer.write(each, 'A value')} AS c{n}" for n, each in enumerate(columns))
    named = [each.alias(f"c{n}") for n, each in enumerate(columns)]
    assert new_york.sql(f"SELECT {texts} FROM one").collect() == frame.select(named).collect()


def test_operators_are_written_as_operators(new_york: SparkSession) -> None:
    condition = ((F.col("id") + 1) * 2 <= 7) & (F.col("name").isNull() | (F.col("name") == "="))
    text = SqlWriter(new_york).write(condition, "A condition")
    assert text == "(((((id + 1) * 2) <= 7) AND (isNull(name) OR (name = '='))))"


def test_columns_that_have_no_text_are_refused(new_york: SparkSession) -> None:
    def refuse(column: Column) -> None:
        with pytest.raises(InvalidInputError, match="cannot be written"):
            SqlWriter(new_york).write(column, "A value")

    refuse(F.transform(F.array(F.col("id")), lambda each: each + 1))
    refuse(F.struct(F.col("id")).withField("b", F.lit(1)))
    refuse(F.col("at").between(F.lit(FIRST_HALF_PAST_ONE), F.lit(SECOND_HALF_PAST_ONE)))
    new_york.conf.set("spark.sql.parser.escapedStringLiterals", "true")
    refuse(F.lit("\\d"))
