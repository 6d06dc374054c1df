"""Each rule that the jar gives to Spark can be turned off, and what Spark does by itself then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyspark
import pytest

from tests.spark_ext.java.spark_shell import SparkShell
from tests.spark_rules import listed

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

RULES = listed()
T = "colonnade.rules.t"


class Case(NamedTuple):
    """What a rule does for an expression of Python, and what Spark does without it.

    `with_rule` and `without` are parts of the value of `code`, or of its error.
    """

    setup: tuple[str, ...]
    code: str
    with_rule: str
    without: str


def sql(*statements: str) -> str:
    """Return code that runs statements, whose value are the rows of the last one."""
    return "[" + ", ".join(f"spark.sql({text!r}).collect()" for text in statements) + "][-1]"


def in_new_session(rule: str, use: str) -> str:
    """Return code that uses a session `new`, which has the switch and no setting of the catalog."""
    setting = RULES[rule].setting
    return (
        f"[{use} for new in [spark.newSession()]"
        " for _ in [new.conf.unset('spark.sql.catalog.colonnade')]"
        f" for _ in [new.conf.set({setting!r}, spark.conf.get({setting!r}, 'true'))]]"
    )


PLAIN = (f"CREATE TABLE {T} (id BIGINT, v INT)", f"INSERT INTO {T} VALUES (1, 10), (2, 20)")
KEYED = (
    f"CREATE TABLE {T} (id BIGINT PRIMARY KEY, v INT, w INT)"
    " TBLPROPERTIES ('onDuplicate' = 'merge')",
    f"INSERT INTO {T} VALUES (1, 10, 100)",
)
CHAR = (f"CREATE TABLE {T} (c CHAR(3), s STRUCT<c: CHAR(3)>)", f"INSERT INTO {T} (c) VALUES ('a')")
GENERATED = (f"CREATE TABLE {T} (id INT, twice INT GENERATED ALWAYS AS (id * 2))",)
NAMED = ("CREATE OR REPLACE TABLE ruled USING colonnade AS SELECT 1 AS a",)
ROWS = f"SELECT * FROM {T} ORDER BY id"
HISTORY = f"DESCRIBE HISTORY {T}"
TO_TABLE = (
    "[spark.range(5, 6).selectExpr('id', '1 v').write.mode('overwrite').parquet(folder + '/in'),"
    " spark.readStream.schema('id BIGINT, v INT').parquet(folder + '/in').writeStream"
    ".option('checkpointLocation', folder + '/' + __import__('uuid').uuid4().hex)"
    f".trigger(availableNow=True).toTable('{T}').awaitTermination(),"
    f" spark.sql('{ROWS}').collect()][-1]"
)
MERGE = f"MERGE INTO {T} t USING (SELECT id, 11 AS v, 2 AS w FROM range(2)) s ON t.id = s.id"
ALL = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"

CASES = {
    "outermostParser": Case(PLAIN, sql(f"OPTIMIZE {T}"), "warehouse/rules/t", "PARSE_SYNTAX_ERROR"),
    "ownCatalog": Case(
        PLAIN,
        in_new_session("ownCatalog", f"new.table('{T}').count()"),
        "[2]",
        "SINGLE_PART_NAMESPACE",
    ),
    "evolvingWrites": Case(
        PLAIN,
        "spark.sql('SELECT 3L id, 30 v, 5 n').write.option('mergeSchema', True).mode('append')"
        f".saveAsTable('{T}') or {sql(ROWS)}",
        "[3, 30, 5]",
        "TOO_MANY_DATA_COLUMNS",
    ),
    "evolvingInserts": Case(
        PLAIN,
        sql(
            "SET spark.colonnade.mergeSchema = true",
            f"INSERT INTO {T} BY NAME SELECT 3L AS id, 5 AS n",
            ROWS,
        ),
        "[3, None, 5]",
        "EXTRA_COLUMNS",
    ),
    "appendColumns": Case(
        KEYED,
        sql(f"INSERT INTO {T} (id, v) VALUES (1, 11)", ROWS),
        "[1, 11, 100]",
        "cannot tell which columns",
    ),
    "historyTexts": Case(
        PLAIN,
        sql(f"DELETE FROM {T} WHERE v = 10", HISTORY) + "[0].operationParameters",
        "v = 10",
        "{",
    ),
    "rowChanges": Case(
        (*GENERATED, f"INSERT INTO {T} (id) VALUES (1)"),
        sql(f"MERGE INTO {T} t USING (SELECT 5 AS id) s ON t.id = s.id {ALL}", ROWS),
        "[5, 10]",
        "UNRESOLVED_COLUMN",
    ),
    "statedReads": Case(
        (*PLAIN, f"ALTER TABLE {T} ADD COLUMN n INT DEFAULT 7"),
        f"spark.read.option('schemaEpoch', 2).table('{T}').columns",
        "'v']",
        "'n']",
    ),
    "alteredTexts": Case(
        CHAR,
        sql(f"ALTER TABLE {T} ALTER COLUMN s.c TYPE STRING", f"SHOW CREATE TABLE {T}"),
        "STRUCT<c: STRING",
        "STRUCT<c: CHAR(3)",
    ),
    "keyedMerges": Case(KEYED, sql(f"EXPLAIN {MERGE} {ALL}"), "AppendData", "MergeRows"),
    "alteredFields": Case(
        PLAIN,
        sql(f"ALTER TABLE {T} ALTER COLUMN v SET NOT NULL", f"SHOW CREATE TABLE {T}"),
        "v INT NOT NULL",
        "Cannot change nullable column",
    ),
    "checksByCatalog": Case(
        PLAIN,
        sql(f"ALTER TABLE {T} ADD CONSTRAINT c CHECK (1 = 1)", f"SHOW CREATE TABLE {T}"),
        "CONSTRAINT c",
        "INTERNAL_ERROR",
    ),
    "offeredColumns": Case(
        PLAIN, sql(f"UPDATE {T} SET v = CAST(_epoch AS INT)", ROWS), "[[1, 2], [2, 2]]", "_epoch"
    ),
    "fillGenerated": Case(
        GENERATED, sql(f"INSERT INTO {T} (id) VALUES (3)", ROWS), "[3, 6]", "generated"
    ),
    "answersAsRows": Case(
        PLAIN, sql(f"EXPLAIN SELECT count(*) FROM {T}"), "Plan ==\\nLocalTable", "Project"
    ),
    "reducedMerges": Case(PLAIN, sql(f"EXPLAIN {MERGE} {ALL}"), "LeftSemi", "MergeRows"),
    "paddedDeletes": Case(
        CHAR, sql(f"DELETE FROM {T}", f"SELECT * FROM {T}"), "[]", "INTERNAL_ERROR"
    ),
    "columnUpdates": Case(
        PLAIN, sql(f"EXPLAIN UPDATE {T} SET v = 5"), "ReplaceColumns", "WriteDelta"
    ),
    "shownGenerated": Case(
        GENERATED, sql(f"SHOW CREATE TABLE {T}"), "GENERATED ALWAYS AS (id * 2)", "twice INT"
    ),
    "sessionCommands": Case(
        NAMED,
        sql("SHOW TABLE EXTENDED LIKE 'ruled'"),
        "Is_managed_location",
        "Created By: Spark",
    ),
    "loadCatalogFirst": Case(
        (*NAMED, "DROP TABLE IF EXISTS ruled_too"),
        in_new_session(
            "loadCatalogFirst",
            # The parser looks for the catalog, too, while it reads CREATE TABLE.
            "[new.sql(text).collect()"
            " for _ in [new.conf.set('spark.colonnade.rule.outermostParser', 'false')] for text in"
            " ('CREATE TABLE ruled_too LIKE ruled', 'SELECT count(*) FROM ruled_too.history')]",
        ),
        "[1]",
        "NOT_FOUND",
    ),
    "streamedBatches": Case(PLAIN, TO_TABLE, "[5, 1]", "without Colonnade's rule"),
    "streamedBatchPlans": Case(PLAIN, TO_TABLE, "[5, 1]", "phase planning failed"),
    "streamSession": Case(
        PLAIN,
        "[spark.sql(\"CALL colonnade.system.begin(database => 'rules')\").collect(),"
        " spark.range(5, 6).selectExpr('id', '1 v').write.mode('overwrite')"
        ".parquet(folder + '/in'),"
        " spark.readStream.schema('id BIGINT, v INT').parquet(folder + '/in').writeStream"
        ".foreachBatch(lambda rows, number: rows.write.format('colonnade').mode('append')"
        ".save(folder + '/warehouse/rules/t'))"
        ".option('checkpointLocation', folder + '/' + __import__('uuid').uuid4().hex)"
        ".trigger(availableNow=True).start().awaitTermination(),"
        " spark.sql('CALL colonnade.system.rollback()').collect(),"
        f" spark.sql('{ROWS}').collect()][-1]",
        "[5, 1]",
        "[2, 20]]",
    ),
}


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    yield spark_shell
    spark_shell.sql("RESET spark.colonnade.mergeSchema")
    spark_shell.sql("DROP DATABASE IF EXISTS colonnade.rules CASCADE")
    for table in ("ruled", "ruled_too"):
        spark_shell.sql(f"DROP TABLE IF EXISTS {table}")


def said(spark: SparkShell, case: Case) -> str:
    """Return the value of a case's code, or its error, as a text."""
    spark.sql("DROP DATABASE IF EXISTS colonnade.rules CASCADE")
    spark.sql("CREATE DATABASE colonnade.rules")
    for text in case.setup:
        spark.sql(text)
    reply = spark.ask({"code": case.code})
    return str(reply["error"] if "error" in reply else reply["value"])


def test_each_rule_has_a_case() -> None:
    assert CASES.keys() == RULES.keys()


@pytest.mark.parametrize("name", RULES)
def test_a_rule_that_is_turned_off_leaves_sparks_own_behaviour(
    spark: SparkShell, name: str
) -> None:
    case, rule = CASES[name], RULES[name]
    assert case.with_rule in said(spark, case)
    spark.sql(f"SET {rule.setting} = false")
    try:
        off = said(spark, case)
    finally:
        spark.sql(f"RESET {rule.setting}")
    if pyspark.__version__[:3] in rule.versions:
        assert case.without in off
        assert case.with_rule not in off
    else:
        assert case.with_rule in off


def test_a_switch_of_no_rule_is_refused_and_can_be_reset(spark: SparkShell) -> None:
    said(spark, CASES["keyedMerges"])
    setting = "spark.colonnade.rule.keyedMerge"
    spark.sql(f"SET {setting} = false")
    sentence = f"Setting {setting} names no rule; RESET it, or set one of the rules alteredFields,"
    try:
        assert spark.refusal(ROWS).startswith(f"[COLONNADE_INVALID_INPUT] {sentence}")
    finally:
        spark.sql(f"RESET {setting}")
    assert spark.sql(ROWS) == [[1, 10, 100]]


@pytest.mark.parametrize("name", ["fillGenerated", "columnUpdates", "outermostParser"])
def test_a_switch_that_is_neither_on_nor_off_is_a_sentence_and_can_be_mended(
    spark: SparkShell, name: str
) -> None:
    case, setting = CASES[name], RULES[name].setting
    said(spark, case)
    spark.sql(f"SET {setting} = maybe")
    reply = spark.ask({"code": case.code})
    mended = spark.ask({"sql": f"SET {setting} = TRUE"})
    spark.run(f"spark.conf.set({setting!r}, 'TRUE')")
    assert "error" not in mended
    sentence = (
        f"Setting {setting} is 'maybe'; set it to true, or to false for Spark's own behaviour."
    )
    assert reply["error"] == f"[COLONNADE_INVALID_INPUT] {sentence}"
    assert case.with_rule in said(spark, case)
    spark.sql(f"RESET {setting}")
