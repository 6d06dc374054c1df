"""Columns that sort and partition a table widen; every statement of Spark places rows rightly."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat, pytest.mark.matrix]

TABLE = "colonnade.wide.t"
ROW = "({0}, {0}, {0}, CAST({0} AS DECIMAL(5,2)), 'text{0}', {0}S)"
WIDER = {
    "p": "BIGINT",
    "b": "BIGINT",
    "d": "DECIMAL(20,2)",
    "v": "STRING",
    "k": "DECIMAL(12,1)",
    "o": "DOUBLE",
}


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With a table of rows 0 to 19 whose columns have widened, and rows 20 to 29 since."""
    spark_shell.sql("CREATE DATABASE colonnade.wide")
    spark_shell.sql(
        f"CREATE TABLE {TABLE} (k INT, p INT, b INT, d DECIMAL(5,2), v VARCHAR(9), o SMALLINT)"
        " TBLPROPERTIES (sortKey = 'k desc, o')"
    )
    path = f"{spark_shell.folder}/warehouse/wide/t"
    layout = ["p", "bucket(4, b)", "truncate(2, d)", "truncate(5, v)"]
    colonnade.open(path).alter(colonnade.SetPartitioning(tuple(layout)))
    for first, last in ((0, 10), (10, 20)):
        rows = ", ".join(ROW.format(i % 7 if first else i) for i in range(first, last))
        spark_shell.sql(f"INSERT INTO {TABLE} VALUES {rows}")
    for column, kind in WIDER.items():
        spark_shell.sql(f"ALTER TABLE {TABLE} ALTER COLUMN {column} TYPE {kind}")
    rows = ", ".join(ROW.format(i) for i in range(20, 30))
    spark_shell.sql(f"INSERT INTO {TABLE} VALUES {rows}")
    yield spark_shell
    spark_shell.sql("DROP DATABASE colonnade.wide CASCADE")


def keys(spark: SparkShell, where: str = "true") -> list[int]:
    """The keys of rows, which are the values of every column of theirs."""
    rows = spark.sql(
        f"SELECT CAST(k AS INT), p, b, CAST(d AS INT), o, v FROM {TABLE} WHERE {where}"
    )
    for row in rows:
        assert row == [*[row[0]] * 5, f"text{row[0]}"]
    return sorted(row[0] for row in rows)


def test_rows_of_both_types_are_found_by_their_partitions_and_their_order(
    spark: SparkShell,
) -> None:
    every = sorted([*range(10), *(i % 7 for i in range(10, 20)), *range(20, 30)])
    assert keys(spark) == every
    for where in ("p = 3", "b = 3", "d = 3", "v = 'text3'", "k = 3", "o = 3", "b IN (3, 900)"):
        assert keys(spark, where) == [3] * every.count(3), where
    assert keys(spark, "p > 8 AND k < 25.5") == [9, 20, 21, 22, 23, 24, 25]
    grouped = spark.sql(f"SELECT p, count(*) FROM {TABLE} GROUP BY p ORDER BY p LIMIT 4")
    assert grouped == [[i, every.count(i)] for i in range(4)]
    assert len(spark.sql(f"SHOW PARTITIONS {TABLE}")) == len(set(every))
    assert colonnade.open(f"{spark.folder}/warehouse/wide/t").verify(4).is_sound


def test_rows_of_both_types_are_replaced_joined_and_changed_alike(spark: SparkShell) -> None:
    path = f"{spark.folder}/warehouse/wide/t"
    spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
    spark.sql(f"INSERT OVERWRITE {TABLE} VALUES {ROW.format(3)}, {ROW.format(31)}")
    spark.sql("RESET spark.sql.sources.partitionOverwriteMode")
    assert keys(spark, "k IN (3, 31)") == [3, 31]
    spark.sql(f"CREATE TABLE colonnade.wide.other PARTITIONED BY (p) AS SELECT p, k FROM {TABLE}")
    spark.sql("SET spark.sql.sources.v2.bucketing.enabled = true")
    joined = f"SELECT count(*) FROM {TABLE} t JOIN colonnade.wide.other o ON t.p = o.p AND t.p < 2"
    assert spark.sql(joined) == spark.sql(joined.replace("t.p = o.p", "t.p + 0 = o.p + 0"))
    spark.sql("RESET spark.sql.sources.v2.bucketing.enabled")
    merged = f"MERGE INTO {TABLE} t USING (SELECT 5L AS i UNION ALL SELECT 40L) s ON t.b = s.i"
    spark.sql(
        f"{merged} WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN"
        " INSERT (k, p, b, d, v, o) VALUES (s.i, s.i, s.i, s.i, concat('text', s.i), s.i)"
    )
    spark.sql(
        f"UPDATE {TABLE} SET k = 50, p = 50, b = 50, d = 50, v = 'text50', o = 50 WHERE p = 6"
    )
    spark.sql(f"DELETE FROM {TABLE} WHERE d BETWEEN 20 AND 27.5")
    found = keys(spark)
    assert {5, 6}.isdisjoint(found)
    assert found[-6:] == [28, 29, 31, 40, 50, 50]
    spark.sql("CALL colonnade.system.compact('wide.t', options => 'min-rowsets=2')")
    assert keys(spark) == found
    table = colonnade.open(path)
    assert table.verify(4).is_sound
    spark.sql("CALL colonnade.system.restore('wide.t', 4)")
    assert keys(spark) == sorted([*range(10), *(i % 7 for i in range(10, 20))])
    spark.sql(f"INSERT INTO {TABLE} VALUES {ROW.format(8)}")
    assert keys(spark, "p = 8 AND b = 8 AND k = 8") == [8, 8]
    assert colonnade.open(path).verify(4).is_sound


def test_dates_become_timestamps_and_texts_get_longer_also_inside_columns(
    spark: SparkShell,
) -> None:
    name = "colonnade.wide.dates"
    spark.sql(
        f"CREATE TABLE {name} (k INT, d DATE DEFAULT DATE'2020-02-02', v VARCHAR(2),"
        " s STRUCT<d: DATE, c: CHAR(2), l: ARRAY<VARCHAR(2)>>, m MAP<STRING, DATE>)"
        " PARTITIONED BY (months(d))"
    )
    day = "DATE'2024-05-06'"
    row = f"{day}, 'ab', named_struct('d', {day}, 'c', 'x', 'l', array('yz')), map('a', {day})"
    spark.sql(f"INSERT INTO {name} VALUES (1, {row}), (2, NULL, NULL, NULL, NULL)")
    for column, kind in {
        "d": "TIMESTAMP_NTZ",
        "s.d": "TIMESTAMP_NTZ",
        "m.value": "TIMESTAMP_NTZ",
        "v": "VARCHAR(4)",
        "s.c": "VARCHAR(4)",
    }.items():
        spark.sql(f"ALTER TABLE {name} ALTER COLUMN {column} TYPE {kind}")
    at = "TIMESTAMP_NTZ'2024-05-06 07:08:09'"
    row = row.replace(day, at).replace("'ab'", "'abcd'").replace("'x'", "'wxyz'")
    spark.sql(f"INSERT INTO {name} VALUES (3, {row})")
    spark.sql(f"INSERT INTO {name} (k) VALUES (4)")
    assert "4" in spark.refusal(f"INSERT INTO {name} (k, v) VALUES (5, 'abcde')")
    columns = "CAST(d AS STRING), v, CAST(s.d AS STRING), s.c, s.l[0], CAST(m['a'] AS STRING)"
    midnight, later = "2024-05-06 00:00:00", "2024-05-06 07:08:09"
    assert spark.sql(f"SELECT k, {columns} FROM {name} ORDER BY k") == [
        [1, midnight, "ab", midnight, "x ", "yz", midnight],
        [2, *[None] * 6],
        [3, later, "abcd", later, "wxyz", "yz", later],
        [4, "2020-02-02 00:00:00", *[None] * 5],
    ]
    for where, expected in {
        f"d = {at}": [3],
        f"d < {at}": [1, 4],
        f"d >= {day}": [1, 3],
        f"s.d = TIMESTAMP_NTZ'{midnight}'": [1],
        f"m['a'] > {day}": [3],
    }.items():
        assert spark.sql(f"SELECT k FROM {name} WHERE {where} ORDER BY k") == [
            [each] for each in expected
        ], where
    assert colonnade.open(f"{spark.folder}/warehouse/wide/dates").verify(4).is_sound
    assert "to other partitions" in spark.refusal(
        f"ALTER TABLE {TABLE} ALTER COLUMN b TYPE DECIMAL(20,0)"
    )
