"""Joins and windows over the sort key need no sort where tasks return rows in its order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest

import colonnade
from tests.spark_ext.java.kept import KeptDatabase
from tests.spark_ext.java.spark_shell import SparkShell

TABLE = "colonnade.ordered.t"
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("at", pa.date32())])


@pytest.fixture(scope="module")
def database(spark_shell: SparkShell) -> Iterator[KeptDatabase]:
    kept = KeptDatabase(spark_shell, "ordered")
    spark_shell.sql("SET spark.sql.autoBroadcastJoinThreshold = -1")
    spark_shell.sql("SET spark.sql.shuffle.partitions = 3")
    spark_shell.sql("SET spark.colonnade.readInOrder = true")
    yield kept
    spark_shell.sql("RESET spark.colonnade.readInOrder")
    spark_shell.sql("SET spark.sql.shuffle.partitions = 1")
    spark_shell.sql("RESET spark.sql.autoBroadcastJoinThreshold")
    kept.drop()


@pytest.fixture
def spark(database: KeptDatabase) -> SparkShell:
    return database.ready()


def make(spark: SparkShell, name: str, key: list[str], partitions: Sequence[str] = ()) -> None:
    """A table of five RowSets for each partition, whose keys overlap, and some deleted rows."""
    database = colonnade.open_database(spark.folder / "warehouse" / "ordered")
    table = database.create_table(name, SCHEMA, sort_key=key, partition_by=partitions)
    for part in range(5):
        numbers = range(part, 1000, 5)
        names = [f"n{n % 13}" if n % 13 != 5 else None for n in numbers]
        days = pa.array([n * 11 % 40 for n in numbers], pa.int32()).cast(pa.date32())
        table.append(pa.table([numbers, names, days], SCHEMA))
    table.delete("id BETWEEN 300 AND 358")


def plan(spark: SparkShell, query: str) -> str:
    text: str = spark.sql(f"EXPLAIN {query}")[0][0]
    return text


def unordered(spark: SparkShell, query: str) -> list[list[object]]:
    """The rows that a query finds without the setting."""
    spark.sql("SET spark.colonnade.readInOrder = false")
    try:
        return spark.sql(query)
    finally:
        spark.sql("SET spark.colonnade.readInOrder = true")


@pytest.mark.spark_compat
def test_rows_come_in_the_order_of_the_key(spark: SparkShell) -> None:
    make(spark, "t", ["name desc", "id"])
    query = f"SELECT name, id, at FROM {TABLE}"
    ordered = f"{query} ORDER BY name DESC, id"
    rows = spark.sql(query)
    assert rows == unordered(spark, ordered)
    assert len(rows) == 1000 - 59
    assert spark.sql(f"{ordered} LIMIT 30") == rows[:30]


@pytest.mark.spark_compat
def test_tables_bucketed_and_sorted_alike_are_joined_without_exchange_or_sort(
    spark: SparkShell,
) -> None:
    for name in ("t", "u"):
        make(spark, name, ["id", "at"], ["bucket(4, id)"])
    query = f"SELECT a.id, b.name FROM {TABLE} a JOIN colonnade.ordered.u b ON a.id = b.id"
    shown = plan(spark, query)
    assert "SortMergeJoin" in shown
    assert "Exchange" not in shown
    assert "Sort [" not in shown
    assert sorted(map(str, spark.sql(query))) == sorted(map(str, unordered(spark, query)))
    assert len(spark.sql(query)) == 1000 - 59
    window = f"SELECT id, at, count(*) OVER (PARTITION BY id ORDER BY at) AS n FROM {TABLE}"
    shown = plan(spark, window)
    assert "Exchange" not in shown
    assert "Sort [" not in shown
    assert {row[2] for row in spark.sql(window)} == {1}


def test_a_filter_that_is_found_while_a_join_runs_keeps_the_order(spark: SparkShell) -> None:
    for name in ("t", "u"):
        make(spark, name, ["id"], ["bucket(4, id)"])
    query = (
        f"SELECT a.id, b.at FROM {TABLE} a JOIN colonnade.ordered.u b ON a.id = b.id"
        " WHERE b.name = 'n3' AND b.id < 300"
    )
    assert sorted(map(str, spark.sql(query))) == sorted(map(str, unordered(spark, query)))


def test_rowsets_of_another_sort_key_are_read_as_they_are(spark: SparkShell) -> None:
    make(spark, "t", ["id"])
    folder = spark.folder / "warehouse" / "ordered" / "t"
    colonnade.open(folder).alter(colonnade.SetSortKey(("at", "id")))
    query = f"SELECT at, id FROM {TABLE} ORDER BY at, id"
    assert spark.sql(query) == unordered(spark, query)
