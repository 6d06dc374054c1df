"""SET NOT NULL by SQL: the catalog looks at the rows, at any depth, and Spark lets it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

TABLE = "colonnade.needed.t"
COLUMNS = "k INT, s STRUCT<x: INT, y: STRING>, l ARRAY<INT>, m MAP<STRING, STRUCT<v: INT>>, n INT"
ROW = "({0}, struct({0}, 'y'), array({0}), map('a', struct({0})), {0})"


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With a table of rows 1 to 3; `n` of row 4 is NULL, and so is what is inside its columns."""
    spark_shell.sql("CREATE DATABASE colonnade.needed")
    spark_shell.sql(f"CREATE TABLE {TABLE} ({COLUMNS})")
    spark_shell.sql(f"INSERT INTO {TABLE} VALUES {', '.join(ROW.format(i) for i in (1, 2, 3))}")
    spark_shell.sql(
        f"INSERT INTO {TABLE} VALUES (4, struct(NULL, NULL), array(NULL), map('a', NULL), NULL)"
    )
    yield spark_shell
    spark_shell.sql("DROP DATABASE colonnade.needed CASCADE")


def alter(spark: SparkShell, *changes: str) -> None:
    for change in changes:
        spark.sql(f"ALTER TABLE {TABLE} {change}")


@pytest.mark.parametrize(
    ("path", "null"),
    [
        ("n", "(5, struct(5, 'y'), array(5), map('a', struct(5)), NULL)"),
        ("l.element", "(5, struct(5, 'y'), array(NULL), map('a', struct(5)), 5)"),
        ("m.value.v", "(5, struct(5, 'y'), array(5), map('a', struct(NULL)), 5)"),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (
                ("s.x", "(5, struct(NULL, 'y'), array(5), map('a', struct(5)), 5)"),
                ("m.value", "(5, struct(5, 'y'), array(5), map('a', NULL), 5)"),
            )
        ),
    ],
)
def test_a_column_without_null_becomes_not_null_and_stays_so(
    spark: SparkShell, path: str, null: str
) -> None:
    if path != "m.value.v":  # row 4 has no struct there
        refused = spark.refusal(f"ALTER TABLE {TABLE} ALTER COLUMN {path} SET NOT NULL")
        assert f"Column '{path}'" in refused
        assert "delete or update these rows first" in refused
        spark.sql(f"DELETE FROM {TABLE} WHERE k = 4")
    spark.sql(f"ALTER TABLE {TABLE} ALTER COLUMN {path} SET NOT NULL")
    before = spark.sql(f"SELECT * FROM {TABLE} ORDER BY k")
    spark.refusal(f"INSERT INTO {TABLE} VALUES {null}")
    assert spark.sql(f"SELECT * FROM {TABLE} ORDER BY k") == before
    spark.sql(f"INSERT INTO {TABLE} VALUES {ROW.format(6)}")
    alter(spark, f"ALTER COLUMN {path} SET NOT NULL", f"ALTER COLUMN {path} DROP NOT NULL")
    spark.sql(f"INSERT INTO {TABLE} VALUES {null}")


@pytest.mark.matrix
def test_set_not_null_shares_a_statement_with_other_changes(spark: SparkShell) -> None:
    spark.sql(f"DELETE FROM {TABLE} WHERE n IS NULL")
    alter(
        spark,
        "ADD COLUMN d INT DEFAULT 7",
        "ALTER COLUMN n TYPE BIGINT",
        "ALTER COLUMN k SET NOT NULL, s.y COMMENT 'text', n SET NOT NULL, d SET NOT NULL",
    )
    [[text]] = spark.sql(f"SHOW CREATE TABLE {TABLE}")
    for part in ("k INT NOT NULL", "n BIGINT NOT NULL", "d INT NOT NULL DEFAULT 7", "'text'"):
        assert part in text
    assert spark.sql(f"SELECT sum(n), sum(d) FROM {TABLE}") == [[6, 21]]
    spark.refusal(f"ALTER TABLE {TABLE} ALTER COLUMN nothing SET NOT NULL")


def test_tables_of_sparks_own_catalog_change_too_and_others_are_left_to_spark(
    spark: SparkShell,
) -> None:
    spark.sql("CREATE TABLE ours USING colonnade AS SELECT 1 AS a")
    spark.sql("CREATE TABLE theirs USING parquet AS SELECT 1 AS a")
    try:
        spark.sql("ALTER TABLE ours ALTER COLUMN a SET NOT NULL")
        assert "NOT NULL" in spark.sql("SHOW CREATE TABLE ours")[0][0]
        spark.refusal("ALTER TABLE theirs ALTER COLUMN a SET NOT NULL")
    finally:
        spark.sql("DROP TABLE ours")
        spark.sql("DROP TABLE theirs")
