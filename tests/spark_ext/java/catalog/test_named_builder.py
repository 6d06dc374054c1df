"""Tables that `Table.create(spark).tableName(…)` makes, and tables that a builder replaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

TYPES = "__import__('pyspark').sql.types"
DESCRIPTIONS = {
    "values of the table": """
        .addColumn("id", "bigint", False, "it's ${not.a.setting} \\\\ or `so`")
        .addColumn("at", "timestamp").addColumn("day", "date", generatedAlwaysAs="CAST(at AS DATE)")
        .addColumn("n", "bigint", generatedByDefaultAs=colonnade.IdentityColumn(start=5, step=2))
        .partitionedBy("days(at)", "bucket(4, id)").clusterBy("day desc", "id")
        .property("it's", "o'er ${b} \\\\").comment("what's \\n it").addConstraint("few", "id < 9")
    """,
    "odd names": """
        .addColumn("a, `b`", "int").addColumn("x desc", "string").addColumn("Äö", "double")
        .primaryKey(["a, `b`", "x desc"]).clusterBy("x desc", "a, `b` desc").static("Äö")
        .partitionKey("a, `b`")
    """,
    "nested types": f"""
        .addColumns([{TYPES}.StructField("s", {TYPES}.StructType([
            {TYPES}.StructField("a b", {TYPES}.IntegerType(), False, {{"comment": "inner"}}),
            {TYPES}.StructField("l", {TYPES}.ArrayType({TYPES}.StringType()))]), False)])
        .addColumn("v", {TYPES}.VarcharType(8)).addColumn("d", "decimal(9,2)")
        .partitionedBy("v", "truncate(4, d)")
    """,
}


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With a database `colonnade.built`."""
    spark_shell.sql("CREATE NAMESPACE colonnade.built")
    yield spark_shell
    spark_shell.sql("DROP NAMESPACE colonnade.built CASCADE")


def built(spark: SparkShell, begin: str, description: str) -> str:
    """Build a table, and return its path."""
    path: str = spark.run(f"(colonnade.Table.{begin}{description}.execute().path)")
    return path


def design(path: str) -> dict[str, Any]:
    """All that a description says of a table."""
    state = colonnade.open(path)._state
    names = ("schema", "sort_key", "partition_fields", "primary_key", "partition_key")
    texts = ("properties", "comment", "constraints")
    return {name: getattr(state, name) for name in (*names, *texts)}


@pytest.mark.parametrize("kind", DESCRIPTIONS)
def test_a_description_makes_the_same_table_by_a_name_and_by_a_path(
    kind: str, spark: SparkShell
) -> None:
    place = f"{spark.folder}/warehouse/built/{{}}"
    described = DESCRIPTIONS[kind]
    wanted = design(built(spark, f"create(spark).location({place.format('a')!r})", described))
    named = built(spark, "create(spark).tableName('colonnade.built.b')", described)
    assert (named, design(named)) == (place.format("b"), wanted)
    again = built(spark, f"createOrReplace(spark).location({place.format('a')!r})", described)
    assert (again, design(again)["schema"].names) == (place.format("a"), wanted["schema"].names)

    own = "tableName('spark_catalog.default.built')"
    elsewhere = f"{spark.folder}/elsewhere"
    assert design(built(spark, f"create(spark).{own}", described)) == wanted
    spark.sql("DROP TABLE spark_catalog.default.built")
    path = built(spark, f"create(spark).{own}.location({elsewhere + kind!r})", described)
    assert (path, design(path)) == (elsewhere + kind, wanted)
    spark.sql("DROP TABLE spark_catalog.default.built")


def test_a_builder_replaces_a_table_in_one_epoch_and_creates_none_unasked(
    spark: SparkShell,
) -> None:
    name = "tableName('colonnade.built.t')"
    missing = f"colonnade.Table.replace(spark).{name}.addColumn('a', 'int').execute()"
    assert "TABLE_OR_VIEW_NOT_FOUND" in spark.refused_run(missing)
    path = built(spark, f"createOrReplace(spark).{name}", ".addColumn('a', 'int')")
    spark.sql("INSERT INTO colonnade.built.t VALUES (1)")
    built(spark, f"createIfNotExists(spark).{name}", ".addColumn('b', 'int')")
    assert colonnade.open(path).to_pylist() == [{"a": 1}]
    before = colonnade.open(path).epoch
    built(spark, f"replace(spark).{name}", ".addColumn('b', 'int').clusterBy(['b'])")
    table = colonnade.open(path)
    assert (table.epoch, table.columns, table.to_pylist()) == (before + 1, ["b"], [])
    assert table.scan(epoch=before).to_arrow().to_pylist() == [{"a": 1}]
    again = f"colonnade.Table.create(spark).{name}.addColumn('b', 'int').execute()"
    assert "TABLE_OR_VIEW_ALREADY_EXISTS" in spark.refused_run(again)


def test_a_builder_without_a_session_takes_the_running_one(spark: SparkShell) -> None:
    path = built(spark, "create().tableName('colonnade.built.t')", ".addColumn('a', 'int')")
    assert colonnade.open(path).columns == ["a"]


@pytest.mark.parametrize(
    ("described", "sentence"),
    [
        (f".addColumn('a', {TYPES}.ArrayType({TYPES}.LongType(), False))", "about column 'a'"),
        (".addColumn('a', 'int').location(5)", "location of a table must be text, not 5"),
        (".addColumn('a', 'int').clusterBy('a', 5)", "column of the sort key must be text, not 5"),
        (".addColumn('a', 'int').property('p', 5)", "value of property 'p' must be text, not 5"),
        (".addColumn('a', 'int').comment(5)", "comment of a table must be text, not 5"),
        (".addColumn('a', 5)", "type of column 'a' must be text or a type of Spark, not 5"),
        (".addColumn('a', 'int', nullable=5)", "Column 'a' is nullable or not, not 5"),
        (".addColumns([5])", "A column must be a StructField, not 5"),
        (".addColumns(5)", "Columns are a schema of Spark, not 5"),
        (
            ".addColumn('a', 'int').clusterBy('a').property('sortKey', 'a desc')",
            "Property 'sortKey' is stated by a method, too",
        ),
    ],
)
def test_a_description_that_cannot_be_carried_out_is_refused(
    described: str, sentence: str, spark: SparkShell
) -> None:
    begin = "colonnade.Table.create(spark).tableName('colonnade.built.t')"
    assert sentence in spark.refused_run(f"{begin}{described}.execute()")
    assert spark.sql("SHOW TABLES IN colonnade.built") == []


def test_options_of_a_store_and_settings_that_a_statement_would_ignore_are_refused(
    spark: SparkShell,
) -> None:
    named = "tableName('colonnade.built.t').addColumn('a', 'int', comment=\"it's\").execute()"
    options = f"colonnade.Table.create(spark, {{'key': 'k'}}).{named}"
    assert "which takes no storage options" in spark.refused_run(options)
    spark.sql("SET spark.sql.parser.escapedStringLiterals = true")
    refusal = spark.refused_run(f"colonnade.Table.create(spark).{named}")
    spark.sql("RESET spark.sql.parser.escapedStringLiterals")
    assert "the setting spark.sql.parser.escapedStringLiterals takes literally" in refusal
