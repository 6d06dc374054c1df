"""DELETE of ranges through Spark: no row is read, and every query sees the rows that are left."""

from __future__ import annotations

import pytest

import colonnade
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

TABLE = "colonnade.db.r"
ROWS = 60_000
NESTED = "IF(id % 7 = 0, NULL, named_struct('n', INT(id), 'l', array(STRING(id), NULL)))"
database = kept_database(
    "db",
    f"CREATE TABLE {TABLE} (device BIGINT NOT NULL, minute BIGINT NOT NULL, s STRUCT<n: INT,"
    " l: ARRAY<STRING>>) CLUSTER BY (device, minute)",
    f"INSERT INTO {TABLE} SELECT id % 6, id DIV 6, {NESTED} FROM range({ROWS})",
)

pytestmark = pytest.mark.spark_compat


@pytest.fixture
def spark(database: KeptDatabase) -> SparkShell:
    return database.ready()


def table(spark: SparkShell) -> colonnade.ArrowTable:
    return colonnade.open(spark.folder / "warehouse" / "db" / "r")


def left(spark: SparkShell, condition: str) -> None:
    """Compare all queries with the rows that do not meet the condition."""
    expected = f"(SELECT id % 6 AS device, id DIV 6 AS minute, {NESTED} AS s FROM range({ROWS}))"
    for query in (
        "SELECT count(*), count(s), sum(hash(device, minute, s)), max(minute) FROM {t}",
        "SELECT count(*) FROM {t}",
        "SELECT max(device) FROM {t}",
        "SELECT device, count(s.n) FROM {t} GROUP BY device ORDER BY device",
        "SELECT device, minute FROM {t} ORDER BY device, minute LIMIT 3",
        "SELECT count(*) FROM (SELECT device FROM {t} LIMIT 1000000)",
    ):
        rest = f"(SELECT * FROM {expected} WHERE NOT ({condition}))"
        assert spark.sql(query.format(t=TABLE)) == spark.sql(query.format(t=rest)), query


def test_a_range_is_deleted_unread_and_later_statements_see_what_is_left(
    spark: SparkShell,
) -> None:
    first = "device = 2 AND minute < 7000"
    spark.sql(f"DELETE FROM {TABLE} WHERE {first}")
    newest = table(spark).history(1)[0]
    assert (newest.operation, newest.metrics["ranges_deleted"]) == ("delete", 1)
    assert "rows_deleted" not in newest.metrics
    left(spark, first)
    second = "device IN (0, 5) AND minute BETWEEN 100 AND 9000"
    spark.run(
        f"colonnade.Table.forPath(spark, {str(table(spark).path)!r}).deleteRange({second!r})"
        ".ranges_deleted"
    )
    gone = f"({first}) OR ({second})"
    left(spark, gone)
    # These rows are in the edges of ranges. Each statement finds the ones that are left.
    spark.sql(f"UPDATE {TABLE} SET s = NULL WHERE device = 2 AND minute < 7010")
    assert table(spark).history(1)[0].metrics["rows_updated"] == 10
    spark.sql(f"DELETE FROM {TABLE} WHERE device = 5 AND minute % 2 = 0 AND minute < 110")
    assert table(spark).history(1)[0].metrics["rows_deleted"] == 50
    spark.sql(f"CALL colonnade.system.compact('{TABLE.removeprefix('colonnade.')}')")
    assert not table(spark)._state.range_tombstones
    expected = ROWS - 7000 - 2 * 8901 - 50
    assert spark.sql(f"SELECT count(*) FROM {TABLE}") == [[expected]]


def test_a_deletion_that_counts_its_rows_reads_them(
    spark: SparkShell,
) -> None:
    spark.sql("SET spark.colonnade.countRows = yes")
    refused = spark.refusal(f"DELETE FROM {TABLE} WHERE device = 1 AND minute < 10")
    assert "Setting spark.colonnade.countRows must be true or false, not 'yes'." in refused
    spark.sql("SET spark.colonnade.countRows = true")
    spark.sql(f"DELETE FROM {TABLE} WHERE device = 1 AND minute < 10")
    spark.sql("RESET spark.colonnade.countRows")
    assert table(spark).history(1)[0].metrics["rows_deleted"] == 10
    assert not table(spark)._state.range_tombstones


def test_only_ranges_are_deleted_as_ranges(spark: SparkShell) -> None:
    named = f"colonnade.Table.forPath(spark, {str(table(spark).path)!r})"
    refused = spark.refused_run(f"{named}.deleteRange('minute < 10')")
    assert "leaves out a leading column" in refused
