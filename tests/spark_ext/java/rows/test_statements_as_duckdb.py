"""Random statements through Spark leave the same rows as DuckDB executing the same text."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import colonnade
from tests.spark_ext.java.rows.statements import COLUMNS, Statements
from tests.spark_ext.java.spark_shell import SparkShell

TABLE = "colonnade.db.t"


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    spark_shell.sql("CREATE DATABASE colonnade.db")
    yield spark_shell
    spark_shell.sql("DROP DATABASE IF EXISTS colonnade.db CASCADE")


def compare(spark: SparkShell, seed: int, count: int, sort_key: str) -> None:
    """Run `count` statements in both engines, and compare all rows after each of them."""
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    duck = duckdb.connect()
    duck.execute(f"CREATE TABLE t ({columns})")
    spark.sql(f"CREATE TABLE {TABLE} ({columns}){sort_key}")
    table = colonnade.open(spark.folder / "warehouse" / "db" / "t")
    make = Statements(random.Random(seed))
    done = []
    for number in range(count):
        statement = make.insert("{t}") if number < 2 else make.any("{t}")
        done.append(statement)
        duck.execute(statement.format(t="t"))
        spark.sql(statement.format(t=TABLE))
        table.refresh()
        found = table.scan().to_arrow()
        rows: list[tuple[Any, ...]] = [*zip(*found.to_pydict().values(), strict=True)]
        expected = duck.execute("FROM t").fetchall()
        assert Counter(rows) == Counter(expected), (seed, done)
    # Spark reads what the last statements left as Arrow does.
    assert spark.sql(f"SELECT count(*), count(id), sum(n) FROM {TABLE}") == [
        [len(expected), *duck.execute("SELECT count(id), sum(n) FROM t").fetchall()[0]]
    ]
    spark.sql(f"DROP TABLE {TABLE}")


def test_random_statements_leave_the_rows_that_duckdb_has(spark: SparkShell) -> None:
    compare(spark, 1, 14, " CLUSTER BY (n, name)")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 20))
def test_many_random_statements_leave_the_rows_that_duckdb_has(
    spark: SparkShell, seed: int
) -> None:
    compare(spark, seed, 40, " CLUSTER BY (id)" if seed % 2 else "")
