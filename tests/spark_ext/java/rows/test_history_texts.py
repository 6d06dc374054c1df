"""The history shows what statements of SQL and of the methods said, under Delta's names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

T = "colonnade.told.t"
TABLE = f"colonnade.Table.forName(spark, '{T}').alias('t')"
NEWS = "(SELECT id, name FROM VALUES (1L, 'new'), (9L, 'nine') AS v(id, name)) s"

database = kept_database(
    "told",
    f"CREATE TABLE {T} (id BIGINT, name STRING)",
    f"INSERT INTO {T} SELECT id, 'n' FROM range(6)",
)


@pytest.fixture
def spark(database: KeptDatabase) -> SparkShell:
    return database.ready()


def newest(spark: SparkShell) -> dict[str, Any]:
    """The newest change of the table."""
    text = f"spark.sql('DESCRIBE HISTORY {T} LIMIT 1').collect()[0].asDict()"
    found: dict[str, Any] = spark.run(text)
    return found


STATEMENTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "insert": (f"INSERT INTO {T} VALUES (7, 'x')", "WRITE", {"mode": "Append"}),
    "overwrite": (f"INSERT OVERWRITE {T} VALUES (7, 'x')", "WRITE", {"mode": "Overwrite"}),
    "overwrite of some": (
        f"INSERT INTO {T} REPLACE WHERE id >= 4 VALUES (7, 'x')",
        "WRITE",
        {"mode": "Overwrite", "predicate": "id >= 4"},
    ),
    "delete by tasks": (
        f"DELETE FROM {T} WHERE length(name) + id = 3",
        "DELETE",
        {"predicate": "((length(name) + id) = 3)"},
    ),
    "delete by statistics": (
        f"DELETE FROM {T} WHERE id < 99",
        "DELETE",
        {"predicate": "(id < 99)"},
    ),
    "delete in a query": (
        f"DELETE FROM {T} WHERE id IN (SELECT 3)",
        "DELETE",
        {"predicate": "(id IN (listquery()))"},
    ),
    "update": (
        f"UPDATE {T} SET name = upper(name) WHERE id > 3",
        "UPDATE",
        {"predicate": "(id > 3)", "set": "name = upper(name)"},
    ),
    "update of all rows": (f"UPDATE {T} AS u SET u.id = 4", "UPDATE", {"set": "u.id = 4"}),
    "merge": (
        f"MERGE INTO {T} t USING {NEWS} ON t.id = s.id WHEN MATCHED AND t.id > 5 THEN DELETE"
        " WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT *"
        " WHEN NOT MATCHED BY SOURCE AND t.id = 2 THEN DELETE",
        "MERGE",
        {
            "predicate": "(t.id = s.id)",
            "matchedPredicates": [
                {"predicate": "(t.id > 5)", "actionType": "delete"},
                {"actionType": "update", "set": "name = s.name"},
            ],
            "notMatchedPredicates": [{"actionType": "insert", "set": "*"}],
            "notMatchedBySourcePredicates": [{"predicate": "(t.id = 2)", "actionType": "delete"}],
        },
    ),
    "merge that only inserts": (
        f"MERGE INTO {T} t USING {NEWS} ON t.id = s.id WHEN NOT MATCHED THEN INSERT *",
        "MERGE",
        {
            "predicate": "(t.id = s.id)",
            "notMatchedPredicates": [{"actionType": "insert", "set": "*"}],
        },
    ),
}


def said(parameters: dict[str, str]) -> dict[str, Any]:
    return {
        name: json.loads(text) if text.startswith("[") else text
        for name, text in parameters.items()
    }


@pytest.mark.parametrize("kind", STATEMENTS)
def test_history_shows_the_condition_and_the_clauses_of_a_statement(
    kind: str, spark: SparkShell
) -> None:
    statement, operation, parameters = STATEMENTS[kind]
    spark.sql(statement)
    entry = newest(spark)
    assert (entry["operation"], said(entry["operationParameters"])) == (operation, parameters)
    assert entry["isBlindAppend"] == (kind == "insert")
    assert (entry["isolationLevel"], entry["userName"]) == ("SnapshotIsolation", user(spark))


def user(spark: SparkShell) -> str:
    name: str = spark.run("spark.sparkContext.sparkUser()")
    return name


METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "delete": (".delete('id = 1')", {"predicate": "(id = 1)"}),
    "delete by columns": (
        ".delete((F.col('id') == 1) & (F.col('name') < 'o'))",
        {"predicate": "((id = 1) AND (name < 'o'))"},
    ),
    "update": (".update('id = 2', {'name': F.lit('é')})", {"predicate": "(id = 2)"}),
    "merge": (
        ".merge(spark.range(3).alias('s'), 't.id = s.id').whenMatchedDelete('t.id = 1').execute()",
        {
            "predicate": "(t.id = s.id)",
            "matchedPredicates": [{"predicate": "(t.id = 1)", "actionType": "delete"}],
        },
    ),
}


@pytest.mark.parametrize("method", METHODS)
def test_history_shows_what_methods_said(method: str, spark: SparkShell) -> None:
    call, parameters = METHODS[method]
    spark.run(TABLE + call)
    found = said(newest(spark)["operationParameters"])
    assert parameters.items() <= found.items(), found


def test_texts_of_a_statement_have_an_end_and_hide_what_plans_hide(spark: SparkShell) -> None:
    many = " OR ".join(f"id = {number}" for number in range(300))
    spark.sql(f"DELETE FROM {T} WHERE {many} OR length(name) = 1000")
    predicate = newest(spark)["operationParameters"]["predicate"]
    assert (len(predicate), predicate[-1]) == (2000, "…")
    spark.sql("INSERT INTO colonnade.told.t VALUES (1, 'a')")
    clauses = " ".join(f"WHEN MATCHED AND t.id = {at} THEN DELETE" for at in range(100))
    spark.sql(f"MERGE INTO {T} t USING {NEWS} ON t.id = s.id {clauses}")
    assert json.loads(newest(spark)["operationParameters"]["matchedPredicates"])
    spark.run("spark.conf.set('spark.sql.redaction.string.regex', 'pass[0-9]+')")
    spark.sql(f"INSERT INTO {T} VALUES (1, 'pass1')")
    spark.sql(f"DELETE FROM {T} WHERE name = 'pass1'")
    assert "pass1" not in newest(spark)["operationParameters"]["predicate"]
    spark.run("spark.conf.unset('spark.sql.redaction.string.regex')")


def test_a_setting_gives_each_statement_of_a_session_a_note(spark: SparkShell) -> None:
    spark.run("spark.conf.set('spark.colonnade.userMetadata', 'nightly')")
    for statement in (
        f"INSERT INTO {T} VALUES (8, 'b')",
        f"DELETE FROM {T} WHERE id = 8",
        f"UPDATE {T} SET name = 'u' WHERE id = 1",
        f"MERGE INTO {T} t USING {NEWS} ON t.id = s.id WHEN MATCHED THEN DELETE",
    ):
        spark.sql(statement)
        assert newest(spark)["userMetadata"] == "nightly", statement
    spark.sql(f"INSERT INTO {T} WITH (userMetadata = 'own') VALUES (9, 'c')")
    assert newest(spark)["userMetadata"] == "own"
    spark.run("spark.conf.unset('spark.colonnade.userMetadata')")
    spark.sql(f"DELETE FROM {T}")
    assert newest(spark)["userMetadata"] is None
