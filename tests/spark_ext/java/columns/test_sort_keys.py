"""ALTER TABLE … CLUSTER BY changes the sort key, beside rows in the order of the former one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import colonnade
from colonnade import ArrowTable
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat, pytest.mark.matrix]

TABLE = "colonnade.keys.t"


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With a database `colonnade.keys`, and rows in the order of the column `a` in its table."""
    spark_shell.sql("CREATE DATABASE colonnade.keys")
    spark_shell.sql(f"CREATE TABLE {TABLE} (a INT, b INT, s STRUCT<x: INT>) CLUSTER BY (a)")
    insert(spark_shell)
    yield spark_shell
    spark_shell.sql("DROP DATABASE colonnade.keys CASCADE")


def insert(spark: SparkShell) -> None:
    values = "int(id), int((id * 7) % 100), named_struct('x', int(id))"
    spark.sql(f"INSERT INTO {TABLE} SELECT {values} FROM range(100)")


def opened(spark: SparkShell) -> ArrowTable:
    return colonnade.open(spark.folder / "warehouse" / "keys" / "t")


def orders(spark: SparkShell) -> list[int]:
    table = opened(spark)
    return [each.entry.sort_order_id for each in table._log.rowsets.read(table._state)]


def findings(spark: SparkShell) -> object:
    return colonnade.open_database(spark.folder / "warehouse" / "keys").verify(4).findings


def test_statements_and_queries_are_right_beside_rows_of_a_former_key(spark: SparkShell) -> None:
    spark.sql(f"ALTER TABLE {TABLE} CLUSTER BY (b, a)")
    insert(spark)
    assert orders(spark) == [0, *[1] * (len(orders(spark)) - 1)]
    assert "cluster_by(b, a)" in spark.sql(f"SHOW CREATE TABLE {TABLE}")[0][0]
    for column in ("a", "b"):
        query = f"SELECT {column} FROM {TABLE} ORDER BY {column}"
        assert [n for (n,) in spark.sql(query)] == sorted([*range(100), *range(100)])
        top = f"SELECT {column} FROM {TABLE} ORDER BY {column} DESC LIMIT 3"
        assert spark.sql(top) == [[99], [99], [98]]
        joined = f"SELECT count(*) FROM {TABLE} x JOIN {TABLE} y ON x.{column} = y.{column}"
        assert spark.sql(joined) == [[400]]
    spark.sql(f"UPDATE {TABLE} SET b = b + 1000 WHERE a < 10")
    spark.sql(f"DELETE FROM {TABLE} WHERE b BETWEEN 50 AND 59")
    merged = f"MERGE INTO {TABLE} t USING (SELECT 500 AS k) s ON t.a = s.k"
    spark.sql(f"{merged} WHEN NOT MATCHED THEN INSERT (a, b) VALUES (k, -k)")
    assert findings(spark) == ()
    before = spark.sql(f"SELECT a, b FROM {TABLE} ORDER BY a, b")
    spark.sql(f"CALL colonnade.system.compact('{TABLE}')")
    assert set(orders(spark)) == {1}
    assert spark.sql(f"SELECT a, b FROM {TABLE} ORDER BY a, b") == before
    assert findings(spark) == ()


def test_a_sort_key_is_dropped_set_again_and_may_descend(spark: SparkShell) -> None:
    spark.sql(f"ALTER TABLE {TABLE} CLUSTER BY NONE")
    assert "cluster_by" not in spark.sql(f"SHOW CREATE TABLE {TABLE}")[0][0]
    insert(spark)
    spark.sql(f"ALTER TABLE {TABLE} SET TBLPROPERTIES (sortKey = 'b DESC, a', zone = 'x')")
    assert spark.sql(f"SHOW TBLPROPERTIES {TABLE}") == [["sortKey", "b desc, a"], ["zone", "x"]]
    insert(spark)
    spark.sql(f"ALTER TABLE {TABLE} UNSET TBLPROPERTIES (sortKey)")
    assert spark.sql(f"SHOW TBLPROPERTIES {TABLE}") == [["zone", "x"]]
    spark.sql(f"ALTER TABLE {TABLE} CLUSTER BY (a)")
    insert(spark)
    assert sorted(set(orders(spark))) == [0, 1, 2]
    assert spark.sql(f"SELECT count(*), sum(a), sum(b) FROM {TABLE}") == [[400, 19800, 19800]]
    assert findings(spark) == ()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("CLUSTER BY (nothing)", "nothing"),
        ("CLUSTER BY (s)", "Column 's' of type struct<x:int> has no order to sort by"),
        ("CLUSTER BY (s.x)", "Field 's.x' cannot be in a sort key"),
        ("SET TBLPROPERTIES (sortKey = 'a, A')", "Column 'a' is in the sort key twice"),
    ],
)
def test_an_impossible_key_is_refused_and_nothing_changes(
    spark: SparkShell, change: str, sentence: str
) -> None:
    epoch = opened(spark).epoch
    assert sentence in spark.refusal(f"ALTER TABLE {TABLE} {change}")
    assert opened(spark).epoch == epoch
