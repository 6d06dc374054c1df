"""What Spark has cached of a table is read anew after a write by another of the table's names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.spark_ext.java.spark_shell import SparkShell

NAME, SESSION_NAME = "colonnade.cached.t", "spark_catalog.default.cached_t"


@pytest.fixture
def path(spark_shell: SparkShell) -> Iterator[str]:
    """Of a table with the rows 1 and 2, which is known to both catalogs."""
    spark, found = spark_shell, f"{spark_shell.folder}/warehouse/cached/t"
    spark.sql("CREATE DATABASE colonnade.cached")
    spark.sql(f"CREATE TABLE {NAME} AS SELECT explode(array(1, 2)) AS a")
    spark.sql(f"CREATE TABLE {SESSION_NAME} USING colonnade LOCATION '{found}'")
    yield found
    spark.run("spark.catalog.clearCache()")
    spark.sql(f"DROP TABLE {SESSION_NAME}")
    spark.sql("DROP DATABASE colonnade.cached CASCADE")


def rows(spark: SparkShell, table: str) -> list[list[int]]:
    return spark.sql(f"SELECT a FROM {table} WHERE a > 0 ORDER BY a")


def test_a_write_by_one_name_shows_under_each_other(spark_shell: SparkShell, path: str) -> None:
    spark, by_path = spark_shell, f"colonnade.`{path}`"
    spark.sql(f"CACHE TABLE {NAME}")
    spark.sql(f"CACHE TABLE {SESSION_NAME}")
    spark.run(f"spark.read.format('colonnade').load('{path}').cache().count()")
    frame = f"spark.read.format('colonnade').load('{path}').select('a').orderBy('a')"
    append = "spark.sql('SELECT 3 AS a').write.format('colonnade').mode('append')"
    delete = f"colonnade.Table.forPath(spark, '{path}').delete('a = 4').rows_deleted"
    for write, expected in [
        (f"{append}.save('{path}')", [1, 2, 3]),
        (f"spark.sql('INSERT INTO {NAME} VALUES (4)')", [1, 2, 3, 4]),
        (f"spark.sql('DELETE FROM {SESSION_NAME} WHERE a = 1')", [2, 3, 4]),
        (f"spark.sql('UPDATE {by_path} SET a = 5 WHERE a = 2')", [3, 4, 5]),
        (delete, [3, 5]),
        (f"colonnade.Table.forPath(spark, '{path}').restoreToVersion(1)", [1, 2]),
        (f"spark.sql('TRUNCATE TABLE {NAME}')", []),
        (f"spark.sql('CREATE OR REPLACE TABLE {by_path} AS SELECT 7 AS a')", [7]),
    ]:
        spark.run(write)
        found = [[a] for a in expected]
        assert rows(spark, NAME) == rows(spark, SESSION_NAME) == spark.run(frame) == found, write


def test_all_rows_of_a_cached_table_are_deleted(spark_shell: SparkShell, path: str) -> None:
    spark = spark_shell
    for name in (NAME, SESSION_NAME):
        spark.sql(f"CACHE TABLE {name}")
    for name in (NAME, SESSION_NAME, f"colonnade.`{path}`"):
        spark.sql(f"INSERT INTO {NAME} VALUES (3)")
        assert [3] in rows(spark, SESSION_NAME)
        spark.sql(f"DELETE FROM {name}")
        assert rows(spark, NAME) == rows(spark, SESSION_NAME) == []


def test_a_write_shows_in_what_is_cached_of_a_subquery(spark_shell: SparkShell, path: str) -> None:
    spark = spark_shell
    spark.sql(f"CACHE TABLE c AS SELECT id FROM range(9) WHERE id IN (SELECT a FROM {NAME})")
    spark.sql("CACHE TABLE d AS SELECT count(*) AS n FROM c")
    for statement, expected in [
        (f"INSERT INTO {NAME} VALUES (5)", [[1], [2], [5]]),
        (f"DELETE FROM colonnade.`{path}` WHERE a < 3", [[5]]),
    ]:
        spark.sql(statement)
        assert spark.sql("SELECT id FROM c ORDER BY id") == expected
        assert spark.sql("SELECT n FROM d") == [[len(expected)]]


def test_static_values_and_rows_are_cached_together(spark_shell: SparkShell, path: str) -> None:
    spark, table = spark_shell, "colonnade.cached.s"
    spark.sql(
        f"CREATE TABLE {table} (k INT NOT NULL, room STRING) TBLPROPERTIES"
        " ('static' = 'room', 'partitionKey' = 'k')"
    )
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a')")
    for name in (table, f"{table}.statics"):
        spark.sql(f"CACHE TABLE {name}")
    for statement, room in [
        (f"INSERT INTO {table} VALUES (1, 'b')", "b"),
        (f"UPDATE {table} SET room = 'c'", "c"),
        (f"UPDATE {table}.statics SET room = 'd'", "d"),
        (f"ALTER TABLE {table} RENAME COLUMN room TO place", "d"),
        (f"DELETE FROM {table}.statics WHERE k = 1", None),
    ]:
        spark.sql(statement)
        assert spark.sql(f"SELECT DISTINCT * FROM {table}") == [[1, room]], statement
        found = spark.sql(f"SELECT * FROM {table}.statics")
        assert found == ([] if room is None else [[1, room]]), statement


def test_a_transaction_that_is_taken_back_leaves_nothing_in_the_cache(
    spark_shell: SparkShell, path: str
) -> None:
    spark = spark_shell
    spark.sql(f"CACHE TABLE {NAME}")
    assert rows(spark, NAME) == [[1], [2]]
    spark.sql("CALL colonnade.system.begin('cached')")
    spark.sql(f"INSERT INTO {NAME} VALUES (3)")
    assert rows(spark, NAME) == [[1], [2], [3]]
    spark.sql("CALL colonnade.system.rollback()")
    assert rows(spark, NAME) == [[1], [2]]


def test_other_sessions_never_see_what_a_transaction_has_not_committed(
    spark_shell: SparkShell, path: str
) -> None:
    spark, question = spark_shell, f"SELECT a FROM {NAME} WHERE a > 0 ORDER BY a"
    spark.sql(f"CACHE TABLE {NAME}")
    spark.run("globals().update(other=spark.newSession())")
    spark.sql("CALL colonnade.system.begin('cached')")
    for statement in (
        f"INSERT INTO {NAME} VALUES (3)",
        f"DELETE FROM colonnade.`{path}` WHERE a = 1",
    ):
        spark.sql(statement)
        assert spark.run(f"other.sql({question!r})") == [[1], [2]]
    assert rows(spark, NAME) == [[2], [3]]
    spark.sql("CALL colonnade.system.commit()")
    assert spark.run(f"other.sql({question!r})") == rows(spark, NAME) == [[2], [3]]


def test_a_cached_table_may_get_other_columns(spark_shell: SparkShell, path: str) -> None:
    spark = spark_shell
    spark.sql(f"CACHE TABLE {NAME}")
    spark.sql(f"ALTER TABLE colonnade.`{path}` ADD COLUMN b INT")
    assert spark.sql(f"SELECT * FROM {NAME} ORDER BY a") == [[1, None], [2, None]]
    spark.sql(f"ALTER TABLE colonnade.`{path}` DROP COLUMN a")
    assert spark.sql(f"SELECT * FROM {NAME}") == [[None], [None]]
