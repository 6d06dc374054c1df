"""Tables of Spark's own catalog: by which statements they are made, and where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With a database `own` of Spark's own catalog, which is the current one."""
    spark_shell.sql("CREATE DATABASE own")
    spark_shell.sql("USE own")
    yield spark_shell
    spark_shell.sql("USE default")
    spark_shell.sql("DROP DATABASE own CASCADE")


@pytest.fixture
def by_default(spark: SparkShell) -> Iterator[SparkShell]:
    """The same where tables are Colonnade's unless USING says otherwise."""
    spark.sql("SET spark.sql.sources.default = colonnade")
    yield spark
    spark.sql("SET spark.sql.sources.default = parquet")


def provider(spark: SparkShell, table: str) -> str:
    rows = {row[0]: row[1] for row in spark.sql(f"DESCRIBE TABLE EXTENDED {table}")}
    return rows["Provider"]


def place(spark: SparkShell, path: str) -> Path:
    """A path in the folder of the database."""
    return spark.folder / "spark" / "own.db" / path


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE t (id BIGINT) PARTITIONED BY (id)",
        "CREATE TABLE t AS SELECT 0L AS id",
        "CREATE OR REPLACE TABLE t AS SELECT 0L AS id",
        "CREATE TABLE IF NOT EXISTS t (id BIGINT)",
    ],
)
def test_the_default_format_of_a_session_needs_no_using(
    by_default: SparkShell, statement: str
) -> None:
    by_default.sql(statement)
    assert provider(by_default, "t") == "colonnade"
    by_default.sql("REPLACE TABLE t AS SELECT 1L AS id")
    by_default.sql("INSERT INTO t VALUES (2)")
    assert by_default.sql("SELECT id FROM t VERSION AS OF 2") == [[1]]


def test_using_overrules_the_default_format(by_default: SparkShell) -> None:
    by_default.sql("CREATE TABLE t USING parquet AS SELECT 1 AS a")
    assert provider(by_default, "t") == "parquet"


@pytest.mark.parametrize("what", ["(a INT)", "AS SELECT 1 AS a"])
def test_a_relative_location_is_one_in_the_folder_of_the_database(
    spark: SparkShell, what: str
) -> None:
    columns, _, rows = what.partition("AS")
    select = f"AS {rows}" if rows else ""
    spark.sql(f"CREATE TABLE t {columns} USING colonnade LOCATION 'some/place' {select}")
    spark.sql("INSERT INTO t VALUES (2)")
    spark.sql("DROP TABLE t")
    assert (place(spark, "some/place") / "_manifest").is_dir()
    spark.sql("CREATE TABLE again USING colonnade LOCATION 'some/place'")
    assert spark.sql("SELECT max(a) FROM again") == [[2]]


def test_a_procedure_finds_a_table_of_sparks_own_catalog_without_its_name(
    spark: SparkShell,
) -> None:
    spark.sql("CREATE TABLE t USING colonnade AS SELECT 1 AS a")
    for name in ("t", "own.t", "spark_catalog.own.t"):
        assert len(spark.sql(f"CALL colonnade.system.history('{name}')")) == 1
    spark.sql("CREATE DATABASE colonnade.own")
    spark.sql("CREATE TABLE colonnade.own.t AS SELECT 1 AS a")
    spark.sql("INSERT INTO colonnade.own.t VALUES (2)")
    assert len(spark.sql("CALL colonnade.system.history('own.t')")) == 2
    spark.sql("DROP DATABASE colonnade.own CASCADE")
    assert "NOT_FOUND" in spark.refusal("CALL colonnade.system.history('own.none')")
    assert "NOT_FOUND" in spark.refusal("CALL colonnade.system.history('colonnade.own.t')")
    spark.sql("CREATE TABLE other USING parquet AS SELECT 1 AS a")
    text = spark.refusal("CALL colonnade.system.history('own.other')")
    assert "Table own.other is of another format" in text


@pytest.mark.parametrize("table", ["own.t", "colonnade.default.streamed"])
def test_a_stream_that_cannot_be_written_leaves_no_table(spark: SparkShell, table: str) -> None:
    stream = "spark.readStream.format('rate').load().writeStream.format('colonnade')"
    place = f"option('checkpointLocation', folder + '/checkpoint').toTable('{table}')"
    text = spark.refused_run(f"{stream}.{place}")
    assert "write each batch in foreachBatch, with the options txnAppId and txnVersion" in text
    assert spark.run(f"spark.catalog.tableExists('{table}')") is False
