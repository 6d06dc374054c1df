"""Rows of range tombstones are gone in SQL, as if deletion vectors had deleted them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import colonnade
from tests.spark_ext.java.kept import KeptDatabase
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark_compat, pytest.mark.matrix]

RANGES = ("k >= 1000 AND k < 2500", "k > 5000 AND k <= 5500")
EXACT = " OR ".join(f"({each})" for each in RANGES)


def statements() -> list[str]:
    """Make two tables of equal rows, in RowSets that the ranges divide."""
    columns = "k BIGINT NOT NULL, n INT, s STRUCT<f: INT, g: STRING>, x DOUBLE, m STRING"
    values = "id, id % 7, named_struct('f', id % 5, 'g', 'x'), id / 4, concat('m', id % 100)"
    found = []
    for name in ("t", "u"):
        table = f"colonnade.hides.{name}"
        found.append(f"CREATE TABLE {table} ({columns}) TBLPROPERTIES (sortKey = 'k')")
        ranges = ("range(0, 3000, 1, 1)", "range(2000, 6000, 1, 1)")
        found += [f"INSERT INTO {table} SELECT {values} FROM {each}" for each in ranges]
    return [
        *found,
        *(f"DELETE FROM colonnade.hides.t WHERE {each}" for each in RANGES),
        f"DELETE FROM colonnade.hides.u WHERE ({EXACT}) AND k % 1 = 0",
    ]


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    kept = KeptDatabase(spark_shell, "hides", statements())
    yield kept.ready()
    kept.drop()


def both(spark: SparkShell, statement: str) -> list[Any]:
    return [spark.sql(statement.replace("@", f"colonnade.hides.{name}")) for name in "tu"]


READS = [
    "SELECT count(*), sum(n), min(k), max(k), count(m), sum(x), avg(n) FROM @",
    "SELECT * FROM @ ORDER BY k, n, x",
    "SELECT count(*), max(n) FROM @ WHERE k > 2400 AND k < 5100",
    "SELECT m, count(*) FROM @ GROUP BY m ORDER BY m",
    "SELECT count(*) FROM (SELECT k FROM @ LIMIT 5000)",
]

CHANGES = [
    "UPDATE @ SET n = 100 WHERE k % 3 = 0",
    "UPDATE @ SET x = x + 1, s.f = n",
    "DELETE FROM @ WHERE m = 'm7'",
    "MERGE INTO @ t USING (SELECT id AS k, 5 AS n FROM range(900, 2700, 3)) s ON t.k = s.k"
    " WHEN MATCHED THEN UPDATE SET n = s.n WHEN NOT MATCHED THEN INSERT (k, n) VALUES (k, n)",
]


@pytest.mark.parametrize("least", ["0", pytest.param("1g", marks=pytest.mark.long)])
def test_queries_and_statements_see_the_rows_that_no_range_tombstone_hides(
    spark: SparkShell, least: str
) -> None:
    table = colonnade.open(spark.folder / "warehouse" / "hides" / "t")
    assert len(table._state.range_tombstones) == 2
    assert table.scan()._plan.view.hidden
    spark.sql(f"SET spark.colonnade.replaceColumnsBytes = {least}")
    for change in ("SELECT 1", *CHANGES):
        both(spark, change)
        for query in READS:
            hidden, deleted = both(spark, query)
            assert hidden == deleted, f"{query} after {change}"
    spark.sql("RESET spark.colonnade.replaceColumnsBytes")
