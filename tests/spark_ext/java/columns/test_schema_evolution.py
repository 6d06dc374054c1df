"""Statements of Spark bring new columns and wider types into a table where a user asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

import colonnade
from colonnade.manifests.model.schema import type_text
from tests.spark_ext.java.spark_shell import SparkShell

TABLE = "colonnade.evo.t"
SPARK_41 = pyspark.__version__.startswith("4.1")


def merge(source: str) -> str:
    return (
        f"MERGE WITH SCHEMA EVOLUTION INTO {TABLE} t USING ({source}) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With a table `colonnade.evo.t` of the ids 1 and 2."""
    spark_shell.sql("CREATE DATABASE colonnade.evo")
    spark_shell.sql(f"CREATE TABLE {TABLE} (id BIGINT, v INT, c VARCHAR(3))")
    spark_shell.sql(f"INSERT INTO {TABLE} VALUES (1, 10, 'a'), (2, 20, 'b')")
    yield spark_shell
    spark_shell.sql("DROP DATABASE IF EXISTS colonnade.evo CASCADE")


def table(spark: SparkShell) -> colonnade.ArrowTable:
    return colonnade.open(path(spark))


def path(spark: SparkShell) -> Path:
    return spark.folder / "warehouse" / "evo" / "t"


def types(spark: SparkShell) -> dict[str, str]:
    return {field.name: str(field.type) for field in table(spark)._state.schema.fields}


def rows(spark: SparkShell) -> list[list[object]]:
    found = spark.sql(f"SELECT * FROM {TABLE} ORDER BY id")
    python = table(spark).scan().to_arrow().sort_by("id").to_pylist()
    assert [[*row.values()] for row in python] == found
    return found


@pytest.mark.spark_compat
def test_a_merge_adds_columns_and_widens_types(spark: SparkShell) -> None:
    source = "VALUES (2L, 2000000000000L, 'x', array(1)), (3L, 3L, 'y', NULL) AS (id, v, c, n)"
    statement = merge(f"SELECT * FROM {source}")
    spark.sql(statement)
    assert rows(spark) == [[1, 10, "a", None], [2, 2 * 10**12, "x", [1]], [3, 3, "y", None]]
    assert types(spark)["v"] == "long"
    assert types(spark)["c"] == "varchar(3)"
    # The same again finds every column.
    spark.sql(statement)
    entries = list(table(spark).history())[:3]
    assert [entry.operation for entry in entries] == ["merge", "merge", "append"]
    assert ["changes" in entry.parameters for entry in entries] == [False, True, False]


@pytest.mark.spark_compat
def test_a_merge_that_is_explained_or_refused_brings_no_column(spark: SparkShell) -> None:
    spark.sql(f"ALTER TABLE {TABLE} ADD CONSTRAINT small CHECK (v < 100)")
    before = table(spark).epoch
    spark.sql(f"EXPLAIN FORMATTED {merge('SELECT 3L id, 3000000000L v, 1 n')}")
    assert "small" in spark.refusal(merge("SELECT 3L id, 3000000000L v, 1 n"))
    assert "DIVIDE_BY_ZERO" in spark.refusal(merge("SELECT id, 1 v, 1 / (id - 3) n FROM range(9)"))
    assert table(spark).epoch == before


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_a_merge_may_read_its_own_table_and_replace_columns_that_it_widens(
    spark: SparkShell,
) -> None:
    spark.sql("SET spark.colonnade.replaceColumnsBytes = 0")
    try:
        spark.sql(f"INSERT INTO {TABLE} SELECT id, 1, 'z' FROM range(10, 1000)")
        source = f"SELECT id, v + 3000000000L AS v, id % 2 AS n FROM {TABLE}"
        spark.sql(f"WITH q AS ({source}) {merge('SELECT * FROM q')}")
    finally:
        spark.sql("RESET spark.colonnade.replaceColumnsBytes")
    assert table(spark).history(1)[0].metrics["rows_updated"] == 992
    found = spark.sql(f"SELECT count(*), min(v), max(v), sum(n), min(c) FROM {TABLE}")
    assert found == [[992, 3 * 10**9 + 1, 3 * 10**9 + 20, 496, "a"]]
    assert table(spark).verify().is_sound


def test_a_merge_lands_if_its_column_came_meanwhile_and_not_if_another_one_did(
    spark: SparkShell,
) -> None:
    table_ = f"colonnade.open({str(path(spark))!r})"

    def meddle(name: str, kind: str) -> None:
        column = f"colonnade.SchemaField(name={name!r}, type={kind!r})"
        change = f"{table_}.alter(colonnade.AddColumn({column}))"
        body = f"({name!r} in {table_}.schema.names or {change}) and 'y'"
        spark.run(f"spark.udf.register('meddle', lambda id: {body}, 'string') and None")

    meddle("n", "string")
    spark.sql(merge("SELECT id, 22 v, meddle(id) n FROM range(2, 4)"))
    assert rows(spark) == [[1, 10, "a", None], [2, 22, "b", "y"], [3, 22, None, "y"]]
    merged, altered = list(table(spark).history())[:2]
    assert ("changes" in merged.parameters, altered.operation) == (False, "alter_table")
    meddle("k", "int")
    refusal = spark.refusal(merge("SELECT 1L id, 1 v, meddle(1) m"))
    assert "another writer changed them first" in refusal
    assert "m" not in types(spark)


@pytest.mark.spark_compat
def test_a_narrower_source_is_cast_or_refused_by_name(spark: SparkShell) -> None:
    statement = merge("SELECT 1 id, 11 v, 'z' c, 'new' n")
    if SPARK_41:
        before = table(spark).epoch
        assert "Column 'id' is long and cannot become int; cast" in spark.refusal(statement)
        assert table(spark).epoch == before
    else:
        spark.sql(statement)
        assert rows(spark) == [[1, 11, "z", "new"], [2, 20, "b", None]]
        assert types(spark)["id"] == "long"


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_constraints_are_checked_on_the_rows_of_a_merge_that_evolves_the_table(
    spark: SparkShell,
) -> None:
    spark.sql(f"ALTER TABLE {TABLE} ADD CONSTRAINT small CHECK (v < 100 OR c = 'x')")
    spark.sql(merge("SELECT 2L id, 300 v, 'x' c, 1 n"))
    assert rows(spark) == [[1, 10, "a", None], [2, 300, "x", 1]]
    for source in ("SELECT 1L id, 4000000000L v, 'y' c", "SELECT 9L id, 101L v, 'y' c"):
        assert "small" in spark.refusal(merge(f"{source}, 1 n, 2 m"))
    assert len(rows(spark)) == 2


@pytest.mark.spark_compat
def test_a_merge_adds_and_widens_fields_at_any_depth(spark: SparkShell) -> None:
    spark.sql(f"ALTER TABLE {TABLE} ADD COLUMN s STRUCT<a: INT, l: ARRAY<STRUCT<x: INT>>>")
    struct = "named_struct('a', 7000000000L, 'l', array(named_struct('x', 1, 'c', 'p')), 'v', 'q')"
    spark.sql(merge(f"SELECT 2L id, 20 v, 'b' c, {struct} s"))
    [column] = [each for each in table(spark)._state.schema.fields if each.name == "s"]
    assert type_text(column.type) == "struct<a:long,l:array<struct<x:int,c:string>>,v:string>"
    [found] = spark.sql(f"SELECT s.a, s.l[0].x, s.l[0].c, s.v FROM {TABLE} WHERE id = 2")
    assert found == [7 * 10**9, 1, "p", "q"]


def test_the_builders_of_merges_evolve_the_table(spark: SparkShell) -> None:
    source = "spark.sql(\"SELECT 1L id, 5 v, 'q' c, 0.5D d\").alias('s')"
    table = f"colonnade.Table.forPath(spark, {str(path(spark))!r}).alias('t')"
    merged = f"{table}.merge({source}, 't.id = s.id')"
    counts = spark.run(f"{merged}.whenMatchedUpdateAll().withSchemaEvolution().execute().metrics()")
    assert counts["rows_updated"] == 1
    assert rows(spark) == [[1, 5, "q", 0.5], [2, 20, "b", None]]
    source = source.replace("0.5D d", "0.5D d, true e")
    spark.run(
        f"{source}.mergeInto('{TABLE}', F.expr('{TABLE}.id = s.id'))"
        ".whenMatched().updateAll().withSchemaEvolution().merge()"
    )
    assert rows(spark) == [[1, 5, "q", 0.5, True], [2, 20, "b", None, None]]


@pytest.mark.skipif(SPARK_41, reason="Spark 4.1 does not parse INSERT WITH SCHEMA EVOLUTION")
def test_an_insert_adds_columns_and_widens_types_by_name_or_by_position(spark: SparkShell) -> None:
    insert = f"INSERT WITH SCHEMA EVOLUTION INTO {TABLE}"
    spark.sql(f"{insert} BY NAME SELECT 'n' AS new, 5000000000 AS v, 3 AS id")
    assert rows(spark)[2:] == [[3, 5 * 10**9, None, "n"]]
    spark.sql(f"{insert} SELECT 4L, 4, 'd', 'n4', 'more' AS further")
    assert rows(spark)[3:] == [[4, 4, "d", "n4", "more"]]
    before = table(spark).epoch
    assert "safely cast `v`" in spark.refusal(f"{insert} BY NAME SELECT 'x' AS v, 1 AS y")
    spark.sql(f"EXPLAIN {insert} BY NAME SELECT 1 AS y")
    assert table(spark).epoch == before
    writer = f"spark.sql('SELECT 5L id, 1 AS z')._jdf.writeTo('{TABLE}').withSchemaEvolution()"
    spark.run(f"{writer}.append()")
    assert types(spark)["z"] == "int"


def test_without_it_a_merge_takes_the_columns_of_the_table_and_names_another_one(
    spark: SparkShell,
) -> None:
    """`*` means the columns of the table, so a source may have more of them."""
    text = merge("SELECT 1L id, 1 v, 'z' c, 2 n").replace(" WITH SCHEMA EVOLUTION", "")
    spark.sql(text)
    assert rows(spark) == [[1, 1, "z"], [2, 20, "b"]]
    for named in ("UPDATE SET n = s.n", "UPDATE SET v = s.n, n = s.v"):
        said = spark.refusal(text.replace("UPDATE SET *", named))
        assert "`n`" in said
    assert rows(spark) == [[1, 1, "z"], [2, 20, "b"]]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("SELECT 1L id, array(1) v, 'a' c", ""),
        ("SELECT 1L id, 1 v, 'a' c, array(NULL) n", "void"),
        ("SELECT 1L id, 'x' v, 'a' c, 2 n", "Column 'v' is int and cannot become string; cast"),
    ],
)
def test_a_merge_that_cannot_evolve_the_table_is_refused_and_nothing_changes(
    spark: SparkShell, source: str, words: str
) -> None:
    before = types(spark)
    assert words.lower() in spark.refusal(merge(source)).lower()
    assert types(spark) == before
    assert len(rows(spark)) == 2


def test_a_transaction_of_the_session_refuses_to_evolve(spark: SparkShell) -> None:
    spark.sql("CALL colonnade.system.begin(database => 'evo')")
    try:
        text = spark.refusal(merge("SELECT 1L id, 1 v, 'a' c, 2 n"))
    finally:
        spark.sql("CALL colonnade.system.rollback()")
    assert "transaction" in text
    assert "n" not in types(spark)


def test_a_merge_into_sparks_own_catalog_evolves_the_table(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE evolving (id INT) USING colonnade")
    spark.sql("INSERT INTO evolving VALUES (1)")
    spark.sql(
        "MERGE WITH SCHEMA EVOLUTION INTO evolving t USING (SELECT 1 id, 'x' n) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET *"
    )
    assert spark.sql("SELECT * FROM evolving") == [[1, "x"]]
    spark.sql("DROP TABLE evolving")


def test_an_insert_lands_that_was_planned_before_a_column_widened(spark: SparkShell) -> None:
    column = "colonnade.SchemaField(name='x', type='int')"
    changes = f"colonnade.WidenColumn(('v',), 'long'), colonnade.AddColumn({column})"
    table = f"colonnade.open({str(path(spark))!r})"
    body = f"({table}.schema.names[-1] == 'x' or {table}.alter({changes})) and True"
    spark.run(f"spark.udf.register('meddle', lambda id: {body}, 'boolean') and None")
    spark.sql(f"INSERT INTO {TABLE} SELECT id, 30, 'c' FROM range(3, 4) WHERE meddle(id)")
    assert rows(spark) == [[1, 10, "a", None], [2, 20, "b", None], [3, 30, "c", None]]
    assert types(spark)["v"] == "long"
