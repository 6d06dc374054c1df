"""Tables of the catalog are found whatever the case of their names, as in Delta and in Hive."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

TABLES = "SHOW TABLES IN colonnade.CASES"


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """A session beside the table `Orders` of the database `Cases`, with one row."""
    spark_shell.sql("CREATE DATABASE colonnade.Cases")
    spark_shell.sql("CREATE TABLE colonnade.Cases.Orders (id INT)")
    spark_shell.sql("INSERT INTO colonnade.cases.orders VALUES (1)")
    yield spark_shell
    spark_shell.sql("DROP DATABASE colonnade.cases CASCADE")


STATEMENTS = (
    "SELECT * FROM colonnade.cASES.oRDERS",
    "INSERT INTO colonnade.cases.ORDERS VALUES (2)",
    "DELETE FROM colonnade.cases.ORDERS WHERE id = 2",
    "UPDATE colonnade.CASES.orders SET id = 3",
    "MERGE INTO colonnade.cases.orders t USING (SELECT 3 id) s ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "ALTER TABLE colonnade.cases.ORDERS ADD COLUMN day DATE",
    "DESCRIBE colonnade.cases.ORDERS",
    "SELECT * FROM colonnade.cases.ORDERS VERSION AS OF 2",
    "SELECT * FROM colonnade.cases.ORDERS.History",
    "CALL colonnade.system.compact('CASES.orders')",
    "CREATE TABLE IF NOT EXISTS colonnade.cases.orders (id INT)",
    "TRUNCATE TABLE colonnade.CASES.ORDERS",
)
FRAMES = (
    "spark.table('colonnade.cases.ORDERS').count()",
    "spark.range(1).selectExpr('int(id) AS id').writeTo('colonnade.cases.ORDERS').append()",
    "spark.range(1).selectExpr('int(id) AS id').write.mode('append')"
    ".saveAsTable('colonnade.cases.ORDERS')",
    "colonnade.Table.forName(spark, 'colonnade.CASES.ORDERS').delete('id = 1')",
)


def test_each_statement_finds_a_table_and_its_database_in_any_case(spark: SparkShell) -> None:
    for statement in STATEMENTS:
        spark.sql(statement)
    assert spark.sql(TABLES) == [["CASES", "Orders", False]]
    spark.sql("DROP TABLE colonnade.cases.orders")
    assert spark.sql(TABLES) == []


def test_each_call_of_a_data_frame_finds_a_table_in_any_case(spark: SparkShell) -> None:
    for code in FRAMES:
        spark.run(code)
    assert spark.sql("SELECT id FROM colonnade.Cases.Orders ORDER BY id") == [[0], [0]]
    assert len(spark.sql(TABLES)) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE colonnade.cases.orders (id INT)",
        "CREATE TABLE colonnade.cases.ORDERS AS SELECT 1 AS id",
        "CREATE DATABASE colonnade.cASES",
    ],
)
def test_a_new_name_that_differs_by_case_alone_is_refused(
    spark: SparkShell, statement: str
) -> None:
    assert "already exists" in spark.refusal(statement)
    assert spark.sql(TABLES) == [["CASES", "Orders", False]]


def test_the_builder_of_a_table_refuses_such_a_name(spark: SparkShell) -> None:
    made = f"colonnade.Database.forPath(spark, '{spark.folder}/warehouse/Cases')"
    for method in ("createTable", "createTableIfNotExists"):
        refused = spark.refused_run(f"{made}.{method}('ORDERS').addColumn('id', 'int').execute()")
        assert "'Orders' exists already, and 'ORDERS' differs from it by case alone" in refused
    spark.run(f"{made}.createTableIfNotExists('Orders').execute()")
    assert spark.sql(TABLES) == [["CASES", "Orders", False]]


def test_of_names_that_differ_by_case_alone_one_is_created_at_once(spark: SparkShell) -> None:
    code = (
        "[pool := __import__('concurrent.futures', fromlist=['x']).ThreadPoolExecutor(4),"
        " [each.exception() is None for each in [pool.submit(spark.sql, 'CREATE TABLE"
        " colonnade.Cases.' + name + ' AS SELECT 1 AS id') for name in"
        " ('race', 'RACE', 'Race', 'rAcE')]]][1]"
    )
    assert sum(spark.run(code)) == 1
    assert len(spark.sql(TABLES)) == 2


def test_a_table_is_renamed_to_another_case_and_not_to_that_of_another_table(
    spark: SparkShell,
) -> None:
    spark.sql("CREATE TABLE colonnade.cases.other (id INT)")
    refused = spark.refusal("ALTER TABLE colonnade.cases.OTHER RENAME TO cases.ORDERS")
    assert "'Orders' exists already, and 'ORDERS' differs from it by case alone" in refused
    spark.sql("ALTER TABLE colonnade.cases.ORDERS RENAME TO cases.orders")
    assert sorted(row[1] for row in spark.sql(TABLES)) == ["orders", "other"]


def test_a_replacement_takes_the_place_of_the_table_of_another_case(spark: SparkShell) -> None:
    spark.sql("CREATE OR REPLACE TABLE colonnade.cases.orders AS SELECT 'x' AS name")
    assert spark.sql(TABLES) == [["CASES", "Orders", False]]
    assert spark.sql("SELECT * FROM colonnade.Cases.Orders") == [["x"]]


def test_a_session_that_asks_for_case_has_tables_that_differ_by_it(spark: SparkShell) -> None:
    spark.sql("SET spark.sql.caseSensitive = true")
    try:
        spark.refusal("SELECT * FROM colonnade.Cases.orders")
        spark.sql("CREATE TABLE colonnade.Cases.orders AS SELECT 5 AS id")
        assert spark.sql("SELECT * FROM colonnade.Cases.Orders") == [[1]]
    finally:
        spark.sql("RESET spark.sql.caseSensitive")
    assert spark.sql("SELECT * FROM colonnade.cases.orders") == [[5]]
    assert "'ORDERS' could be any of Orders, orders" in spark.refusal(
        "SELECT * FROM colonnade.cases.ORDERS"
    )
