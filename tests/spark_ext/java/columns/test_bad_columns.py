"""Changes of columns and rules that cannot be, in Spark: one sentence, and the table is unchanged.

`tests/tableformat/table/test_bad_columns.py` has those of the roads without Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

T = "colonnade.bad.t"
LONG, DIGITS = "x" * 5_000, "9" * 5_000
MOST = 1_000
"""The most characters of a sentence about one long name or text."""

ALTER = f"ALTER TABLE {T}"
ADD = f"{ALTER} ADD COLUMN"
CHECK = f"{ALTER} ADD CONSTRAINT c CHECK"
STATEMENTS = {
    "a narrower number": (f"{ALTER} ALTER COLUMN n TYPE SMALLINT", "it can become long"),
    "a number that becomes text": (f"{ALTER} ALTER COLUMN n TYPE STRING", "it can become long"),
    "a shorter text": (f"{ALTER} ALTER COLUMN name TYPE VARCHAR(3)", "it can become"),
    "a narrower field": (f"{ALTER} ALTER COLUMN p.x TYPE TINYINT", "'p.x' cannot be changed"),
    "a shorter text inside": (f"{ALTER} ALTER COLUMN p.v TYPE CHAR(2)", "'p.v' cannot be changed"),
    "another type inside": (f"{ALTER} ALTER COLUMN ps.element.x TYPE DATE", "it can become long"),
    "a wider source": (f"{ALTER} ALTER COLUMN source TYPE BIGINT", "generated column 'made'"),
    "a wider generated column": (f"{ALTER} ALTER COLUMN made TYPE DECIMAL(20,0)", "is generated"),
    "an identity that is no integer": (f"{ALTER} ALTER COLUMN number TYPE DOUBLE", "number"),
    "a drop of the sort key": (f"{ALTER} DROP COLUMN sorted", "the table is sorted"),
    "a drop under a constraint": (f"{ALTER} DROP COLUMN checked", "constraint 'positive'"),
    "a drop of a source": (f"{ALTER} DROP COLUMN source", "generated column 'made'"),
    "a second name": (f"{ALTER} RENAME COLUMN n TO NAME", "name"),
    "a second name inside": (f"{ALTER} RENAME COLUMN p.x TO Y", "y"),
    "a column twice": (f"{ADD} ID INT", "id"),
    "a field twice": (f"{ADD} ps.element.X INT", "x"),
    "two fields of a new column": (f"{ADD} q STRUCT<a: INT, A: INT>", "are the same name"),
    "NOT NULL without a default": (f"{ADD} q INT NOT NULL", "with a default"),
    "NOT NULL with a NULL": (f"{ALTER} ALTER COLUMN n SET NOT NULL", "cannot be made NOT NULL"),
    "a default of another type": (f"{ADD} q INT DEFAULT 'x'", "q"),
    "a default with a fraction": (f"{ADD} q INT DEFAULT 1.5", "'q' is INT and cannot have the def"),
    "a default of too many digits": (f"{ADD} q DECIMAL(9,2) DEFAULT 1.234", "more digits"),
    "a new default with a fraction": (f"{ALTER} ALTER COLUMN n SET DEFAULT 1.5D", "more digits"),
    "a default that is too large": (f"{ADD} q TINYINT DEFAULT 300", "q"),
    "a default that is true": (f"{ADD} q INT DEFAULT true", "q"),
    "a default that is a column": (f"{ADD} q INT DEFAULT n", "DEFAULT"),
    "a default by chance": (f"{ADD} q INT DEFAULT rand()", "DEFAULT"),
    "a default that is a query": (f"{ADD} q INT DEFAULT (SELECT 1)", "subquery"),
    "a default inside a struct": (f"{ADD} p.q INT DEFAULT 5", "'p.q' cannot have"),
    "a new default inside a struct": (f"{ALTER} ALTER COLUMN p.x SET DEFAULT 5", "p"),
    "a default of a generated column": (f"{ALTER} ALTER COLUMN made SET DEFAULT 1", "is generated"),
    "a default of an identity": (f"{ALTER} ALTER COLUMN number SET DEFAULT 1", "identity column"),
    "a default of 5,000 digits": (f"{ADD} q INT DEFAULT {DIGITS}", "DECIMAL"),
    "a place after nothing": (f"{ADD} q INT AFTER none", "q"),
    "a constraint that a row breaks": (f"{CHECK} (n > 1)", "c"),
    "a constraint by chance": (f"{CHECK} (rand() > 0)", "deterministic"),
    "a constraint of today": (f"{CHECK} (day < current_date())", "the session or its time"),
    "a constraint of now": (f"{CHECK} (CAST(day AS TIMESTAMP) < now())", "the session or its time"),
    "a constraint of a user": (f"{CHECK} (name = current_user())", "the session or its time"),
    "a constraint of another type": (f"{CHECK} (n)", "BOOLEAN"),
    "a constraint that is never true": (f"{CHECK} (1 = 2)", "c"),
    "a constraint of a sum": (f"{CHECK} (sum(n) > 0)", "sum"),
    "a constraint on nothing": (f"{CHECK} (none > 0)", "none"),
    "a constraint twice": (f"{ALTER} ADD CONSTRAINT POSITIVE CHECK (id > 0)", "exists already"),
    "a constraint of a long name": (f"{ALTER} ADD CONSTRAINT {LONG} CHECK (id > 0)", "1 to 255"),
    "a drop of no constraint": (f"{ALTER} DROP CONSTRAINT none", "'none' does not exist"),
    "a sort key of nothing": (f"{ALTER} CLUSTER BY (none)", "none"),
    "a sort key of structs": (f"{ALTER} CLUSTER BY (p)", "p"),
    "a column from itself": ("CREATE TABLE {u} (a INT GENERATED ALWAYS AS (a + 1))", "a"),
    "a column from a generated one": (
        "CREATE TABLE {u} (a INT, b INT GENERATED ALWAYS AS (a), c INT GENERATED ALWAYS AS (b))",
        "b",
    ),
    "a column of today": ("CREATE TABLE {u} (b DATE GENERATED ALWAYS AS (current_date()))", "b"),
    "an identity of text": ("CREATE TABLE {u} (a STRING GENERATED ALWAYS AS IDENTITY)", ""),
    "an identity beyond its type": (
        "CREATE TABLE {u} (a INT GENERATED ALWAYS AS IDENTITY (START WITH 5000000000))",
        "which is no int",
    ),
    "a new table of today": (
        "CREATE TABLE {u} (a DATE, CONSTRAINT c CHECK (a < current_date()))",
        "the session or its time",
    ),
    "a new table with a fraction": ("CREATE TABLE {u} (a INT DEFAULT 1.5)", "more digits"),
    "a row against a constraint": (f"INSERT INTO {T} (id, checked) VALUES (3, -1)", "positive"),
    "a given generated value": (f"INSERT INTO {T} (id, source, made) VALUES (3, 1, 5)", "'made'"),
    "a given identity": (f"INSERT INTO {T} (id, number) VALUES (3, 5)", "'number'"),
    "an update of an identity": (f"UPDATE {T} SET number = 5", "'number'"),
    "an update of a generated column": (f"UPDATE {T} SET made = 5", "'made'"),
}
"""Statements, and words that the error of each has."""

WITH_SUBQUERIES = {
    "a constraint with a query": f"{CHECK} (n > (SELECT 1))",
    "a constraint with IN": f"{CHECK} (n IN (SELECT 1))",
    "a new table with a query": "CREATE TABLE {u} (a INT, CHECK (a IN (SELECT 1)))",
}
"""Statements for which Spark itself has no sentence."""

B = "colonnade.Table.create(spark).location(folder + '/refused').addColumn('a', 'int')"
BUILDERS = {
    "two ways": (
        ".addColumn('b', 'int', generatedAlwaysAs='a', generatedByDefaultAs='a')",
        "both ALWAYS and BY DEFAULT",
    ),
    "a number": (".addColumn('b', 'int', generatedAlwaysAs=5)", "SQL text or an IdentityColumn"),
    "text by default": (
        ".addColumn('b', 'int', generatedByDefaultAs='a')",
        "can be generated as an IdentityColumn, not as 'a'",
    ),
    "only in Spark": (
        ".addColumn('b', 'int', generatedAlwaysAs='hash(a)').execute()",
        "without Spark's CREATE TABLE",
    ),
    "an identity of text": (
        ".addColumn('b', 'string', generatedAlwaysAs=colonnade.IdentityColumn()).execute()",
        "must be byte, short, int or long",
    ),
    "a column twice": (".addColumn('A', 'int').execute()", "are the same name"),
}


@pytest.fixture(scope="module")
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With a table whose columns have a rule of every kind."""
    spark_shell.sql("CREATE DATABASE colonnade.bad")
    spark_shell.sql(
        f"CREATE TABLE {T} (id BIGINT NOT NULL, n INT, name VARCHAR(9), day DATE,"
        " p STRUCT<x: INT, y: STRING, v: VARCHAR(3)>, ps ARRAY<STRUCT<x: INT>>, sorted INT,"
        " checked INT, source INT, made BIGINT GENERATED ALWAYS AS (source * 2L),"
        " number BIGINT GENERATED ALWAYS AS IDENTITY,"
        " CONSTRAINT positive CHECK (checked > 0)) CLUSTER BY (sorted)"
    )
    spark_shell.sql(
        f"INSERT INTO {T} (id, n, day) VALUES (1, 1, DATE '2020-01-01'), (2, NULL, NULL)"
    )
    yield spark_shell
    spark_shell.sql("DROP DATABASE colonnade.bad CASCADE")


def database(spark: SparkShell) -> Path:
    return spark.folder / "warehouse" / "bad"


@pytest.mark.parametrize("name", STATEMENTS)
def test_an_impossible_statement_is_refused_in_a_sentence(spark: SparkShell, name: str) -> None:
    statement, said = STATEMENTS[name]
    refusal = refused_without_a_change(spark, statement)
    assert said in refusal
    assert "INTERNAL_ERROR" not in refusal
    assert len(refusal) < MOST


@pytest.mark.parametrize("name", WITH_SUBQUERIES)
def test_a_constraint_with_a_subquery_is_refused_and_changes_nothing(
    spark: SparkShell, name: str
) -> None:
    refused_without_a_change(spark, WITH_SUBQUERIES[name])


def refused_without_a_change(spark: SparkShell, statement: str) -> str:
    """Return the refusal of a statement that leaves tables, columns, constraints and rows alone."""
    before = colonnade.open_database(database(spark))
    rows = colonnade.open(database(spark) / "t").scan().to_arrow()
    refusal = spark.refusal(statement.format(u="colonnade.bad.u"))
    after = colonnade.open_database(database(spark))
    assert after.tables() == before.tables()
    now = colonnade.open(database(spark) / "t")
    assert now._state.schema == before.table("t")._state.schema
    assert now._state.constraints == before.table("t")._state.constraints
    assert now.scan().to_arrow().equals(rows)
    return refusal


@pytest.mark.parametrize("name", BUILDERS)
def test_a_builder_refuses_impossible_arguments(spark: SparkShell, name: str) -> None:
    calls, said = BUILDERS[name]
    assert said in spark.refused_run(f"({B}{calls})")
    assert not (spark.folder / "refused").exists()


def test_a_condition_that_always_holds_is_a_constraint(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE colonnade.bad.v (id INT, CONSTRAINT a CHECK (true))")
    for number, condition in enumerate(("true", "1 = 1", "id IS NULL OR id IS NOT NULL")):
        spark.sql(f"ALTER TABLE colonnade.bad.v ADD CONSTRAINT c{number} CHECK ({condition})")
    spark.sql("INSERT INTO colonnade.bad.v VALUES (1), (NULL)")
    assert spark.sql("SELECT count(*) FROM colonnade.bad.v") == [[2]]


def test_names_that_differ_by_case_alone_are_refused_where_spark_distinguishes_them(
    spark: SparkShell,
) -> None:
    spark.sql("SET spark.sql.caseSensitive = true")
    try:
        for statement in (
            f"{ADD} ID INT",
            f"{ALTER} RENAME COLUMN n TO Id",
            "CREATE TABLE colonnade.bad.w (id INT, ID INT)",
            "CREATE TABLE colonnade.bad.w AS SELECT 1 s, named_struct('id', 1, 'ID', 2) p",
        ):
            assert "id" in (said := spark.refusal(statement)).lower()
            assert "INTERNAL_ERROR" not in said
    finally:
        spark.sql("RESET spark.sql.caseSensitive")
    assert not (database(spark) / "w").exists()


def test_a_transaction_refuses_to_alter_a_table(spark: SparkShell) -> None:
    before = colonnade.open(database(spark) / "t").epoch
    spark.sql("CALL colonnade.system.begin(database => 'bad')")
    try:
        for statement in (f"{ADD} q INT", f"{CHECK} (id > 0)", f"{ALTER} CLUSTER BY (id)"):
            assert "transaction" in spark.refusal(statement)
    finally:
        spark.sql("CALL colonnade.system.rollback()")
    assert colonnade.open(database(spark) / "t").epoch == before
