"""Column defaults in Spark's SQL: what earlier rows have, and what later ones take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from tests.spark_ext.java.queries.read_road import OLDER
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

NAMES = ("colonnade.defaults.t", "spark_catalog.default.with_defaults")


@pytest.fixture(
    params=NAMES[:1] if OLDER else [NAMES[0], pytest.param(NAMES[1], marks=pytest.mark.long)]
)
def named(spark_shell: SparkShell, request: pytest.FixtureRequest) -> Iterator[str]:
    """A table with the rows 1 and 2 of the column `k`, in two catalogs."""
    name: str = request.param
    spark_shell.sql("CREATE DATABASE IF NOT EXISTS colonnade.defaults")
    spark_shell.sql(f"CREATE TABLE {name} (k INT) USING colonnade")
    spark_shell.sql(f"INSERT INTO {name} VALUES (1), (2)")
    yield name
    spark_shell.sql(f"DROP TABLE {name}")


def opened(spark: SparkShell, name: str) -> colonnade.ArrowTable:
    ours = name == NAMES[0]
    path = "warehouse/defaults/t" if ours else "spark/with_defaults"
    return colonnade.open(spark.folder / path)


def rows(spark: SparkShell, name: str) -> list[list[Any]]:
    return spark.sql(f"SELECT k, c FROM {name} ORDER BY k")


def test_earlier_rows_keep_the_first_default_and_every_statement_takes_the_current_one(
    spark_shell: SparkShell, named: str
) -> None:
    spark = spark_shell
    spark.sql(f"ALTER TABLE {named} ADD COLUMN c INT NOT NULL DEFAULT 5")
    assert rows(spark, named) == [[1, 5], [2, 5]]
    spark.sql(f"INSERT INTO {named} (k) VALUES (3)")
    spark.sql(f"ALTER TABLE {named} ALTER COLUMN c SET DEFAULT 3 + 4")
    spark.sql(f"INSERT INTO {named} VALUES (4, DEFAULT)")
    spark.sql(f"INSERT INTO {named} BY NAME SELECT 5 AS k")
    spark.sql(f"UPDATE {named} SET c = DEFAULT WHERE k = 1")
    spark.sql(
        f"MERGE INTO {named} USING (SELECT 2 AS i UNION ALL SELECT 6) ON k = i"
        " WHEN MATCHED THEN UPDATE SET c = DEFAULT"
        " WHEN NOT MATCHED THEN INSERT (k) VALUES (i)"
    )
    spark.run(f"spark.range(7, 8).selectExpr('int(id) AS k').writeTo('{named}').append()")
    path = opened(spark, named)._location.url
    frame = "spark.range(8, 9).selectExpr('int(id) AS k').write.mode('append')"
    spark.run(f"{frame}.format('colonnade').save('{path}')")
    by_name = frame.replace("8, 9", "9, 10")
    spark.run(f"{by_name}.format('colonnade').saveAsTable('{named}')")
    sevens = [[k, 7] for k in range(4, 10)]
    assert rows(spark, named) == [[1, 7], [2, 7], [3, 5], *sevens]
    assert spark.sql(f"SELECT count(*), min(c), sum(c) FROM {named} WHERE c > 5") == [[8, 7, 56]]
    assert spark.sql(f"SELECT count(c), min(c), max(c) FROM {named}") == [[9, 5, 7]]
    assert spark.sql(f"SELECT count(*) FROM {named} WHERE c IS NULL") == [[0]]
    with pytest.raises(InvalidInputError, match=r"'c' has the default '3 \+ 4', which only Spark"):
        opened(spark, named).append(pa.table({"k": pa.array([9], pa.int32())}))
    spark.sql(f"ALTER TABLE {named} ALTER COLUMN c DROP DEFAULT")
    assert "NO_DEFAULT_COLUMN_VALUE_AVAILABLE" in spark.refusal(
        f"INSERT INTO {named} VALUES (9, DEFAULT)"
    )


@pytest.mark.matrix
def test_a_default_that_is_a_literal_fills_rows_without_spark(
    spark_shell: SparkShell, named: str
) -> None:
    spark = spark_shell
    spark.sql(
        f"ALTER TABLE {named} ADD COLUMNS (c STRING DEFAULT 'it\\'s', d DECIMAL(9,2) DEFAULT 1.5)"
    )
    opened(spark, named).append(pa.table({"k": pa.array([3], pa.int32())}))
    assert rows(spark, named) == [[k, "it's"] for k in (1, 2, 3)]
    assert spark.sql(f"SELECT DISTINCT d FROM {named}") == [["1.50"]]


@pytest.mark.matrix
def test_the_time_of_a_statement_is_fixed_when_it_is_written(
    spark_shell: SparkShell, named: str
) -> None:
    spark = spark_shell
    spark.sql(f"ALTER TABLE {named} ADD COLUMN c TIMESTAMP DEFAULT current_timestamp()")
    first = rows(spark, named)
    assert first[0][1] == first[1][1]
    spark.sql(f"INSERT INTO {named} (k) VALUES (3), (4)")
    [*before, third, fourth] = rows(spark, named)
    assert before == first
    assert third[1] == fourth[1] > first[0][1]


def test_statements_that_describe_a_table_show_its_defaults(
    spark_shell: SparkShell, named: str
) -> None:
    spark = spark_shell
    spark.sql(f"ALTER TABLE {named} ADD COLUMN c INT DEFAULT 2 + 3")
    [[definition]] = spark.sql(f"SHOW CREATE TABLE {named}")
    assert "c INT DEFAULT 2 + 3" in definition
    assert ["c", "int", "2 + 3"] in spark.sql(f"DESCRIBE EXTENDED {named}")
    past = spark.sql(f"SELECT * FROM {named} VERSION AS OF 2 ORDER BY k")
    assert past == [[1], [2]]


def test_a_table_is_created_with_defaults(spark_shell: SparkShell, named: str) -> None:
    spark = spark_shell
    columns = (
        "k INT, c INT NOT NULL DEFAULT 5, d DATE DEFAULT current_date(), v CHAR(4) DEFAULT 'ab'"
    )
    spark.sql(f"CREATE OR REPLACE TABLE {named} ({columns}) USING colonnade")
    spark.sql(f"INSERT INTO {named} (k) VALUES (1)")
    assert spark.sql(f"SELECT k, c, d = current_date(), v FROM {named}") == [[1, 5, True, "ab  "]]
    refused = spark.refusal(
        f"CREATE OR REPLACE TABLE {named} (k INT NOT NULL DEFAULT NULL) USING colonnade"
    )
    assert "'k' is NOT NULL and cannot have the default NULL" in refused
    assert rows(spark, named) == [[1, 5]]


REFUSED = {
    "ADD COLUMN x INT DEFAULT 'abc'": "INVALID_DEFAULT_VALUE",
    "ADD COLUMN x INT DEFAULT k": "INVALID_DEFAULT_VALUE",
    "ADD COLUMN x STRING DEFAULT uuid()": "INVALID_DEFAULT_VALUE",
    "ADD COLUMN x INT NOT NULL DEFAULT NULL": "'x' is NOT NULL and cannot have the default",
    "ADD COLUMN x VARCHAR(3) DEFAULT 'four'": "EXCEED_LIMIT_LENGTH",
    "ADD COLUMN x DECIMAL(3,1) DEFAULT 100.0": "INVALID_DEFAULT_VALUE",
    "ADD COLUMN x ARRAY<INT> DEFAULT array(1)": "'x' cannot have the default 'array(1)'",
    "ALTER COLUMN k SET DEFAULT 'abc'": "INVALID_DEFAULT_VALUE",
    "ALTER COLUMN k SET DEFAULT k + 1": "INVALID_DEFAULT_VALUE",
}


def test_an_impossible_default_is_refused_and_nothing_changes(
    spark_shell: SparkShell, named: str
) -> None:
    before = opened(spark_shell, named).epoch
    for change, said in REFUSED.items():
        assert said in spark_shell.refusal(f"ALTER TABLE {named} {change}"), change
    assert opened(spark_shell, named).epoch == before
