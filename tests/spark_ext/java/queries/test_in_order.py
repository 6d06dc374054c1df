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


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_a_query_may_name_the_key_in_another_case(spark: SparkShell) -> None:
    make(spark, "t", ["name desc", "id"])
    query = f"SELECT NAME, iD FROM {TABLE} WHERE Name > 'n' ORDER BY name DESC, ID LIMIT 7"
    shown = plan(spark, query)
    assert "TakeOrderedAndProject" in shown or "Sort [" not in shown
    assert spark.sql(query) == unordered(spark, query)
    window = f"SELECT NAME, rank() OVER (PARTITION BY NAME ORDER BY ID) AS r, AT FROM {TABLE}"
    assert sorted(map(str, spark.sql(window))) == sorted(map(str, unordered(spark, window)))
    nested = "colonnade.ordered.n"
    spark.sql(f"CREATE TABLE {nested} (Id BIGINT, s STRUCT<A: INT, B: INT>, PRIMARY KEY (Id))")
    for start in range(3):
        rows = f"SELECT id, named_struct('A', 1, 'B', 2) FROM range({start}, 90, 3)"
        spark.sql(f"INSERT INTO {nested} {rows}")
    join = f"SELECT x.ID, x.S.a FROM {nested} x JOIN {nested} y ON x.ID = y.iD"
    assert len(spark.sql(join)) == 90
    window = f"SELECT ID, S.a, count(*) OVER (PARTITION BY ID) AS n FROM {nested}"
    assert "Sort [" not in plan(spark, window).split("Exchange")[-1]
    assert sorted(map(str, spark.sql(window))) == sorted(map(str, unordered(spark, window)))


@pytest.mark.spark_compat
def test_keyed_tables_in_buckets_of_their_key_are_joined_without_a_shuffle(
    spark: SparkShell,
) -> None:
    for name in ("t", "u"):
        spark.sql(
            f"CREATE TABLE colonnade.ordered.{name} (id BIGINT, v BIGINT, PRIMARY KEY (id))"
            " USING colonnade PARTITIONED BY (bucket(4, id))"
        )
        for start in range(3):
            spark.sql(
                f"INSERT INTO colonnade.ordered.{name} SELECT id, id * 2 FROM"
                f" range({start}, 300, 3)"
            )
    query = f"SELECT a.id, b.v FROM {TABLE} a JOIN colonnade.ordered.u b ON a.id = b.ID"
    shown = plan(spark, query)
    assert "SortMergeJoin" in shown
    assert "Exchange" not in shown
    assert "Sort [" not in shown
    spark.sql("SET spark.colonnade.readInOrder = false")
    try:
        assert "Exchange" not in plan(spark, query)
    finally:
        spark.sql("SET spark.colonnade.readInOrder = true")
    assert sorted(spark.sql(query)) == [[n, n * 2] for n in range(300)]


@pytest.mark.matrix
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
