"""Text that is not valid UTF-8 in Spark's writes is refused by column and row, or replaced."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

ON = "TBLPROPERTIES ('invalid-text' = 'replace')"
BAD = "CAST(unhex('{}') AS STRING)"


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With an empty table `colonnade.bad.t`, sorted and partitioned by text that is replaced."""
    spark_shell.sql("CREATE DATABASE colonnade.bad")
    spark_shell.sql(
        "CREATE TABLE colonnade.bad.t (s STRING, p STRING, n BIGINT) PARTITIONED BY (p)"
        " TBLPROPERTIES ('invalid-text' = 'replace', sortKey = 's')"
    )
    yield spark_shell
    spark_shell.sql("DROP DATABASE colonnade.bad CASCADE")


@pytest.mark.spark_compat
@pytest.mark.matrix
def test_every_statement_of_spark_replaces_text(spark: SparkShell) -> None:
    table = colonnade.open(spark.folder / "warehouse" / "bad" / "t")
    select = "SELECT s, p, n FROM colonnade.bad.t ORDER BY n"
    ff, fe, part = BAD.format("61ff"), BAD.format("61fe"), BAD.format("70ff")
    spark.sql(f"INSERT INTO colonnade.bad.t VALUES ({ff}, {part}, 1), ('\U0001f600', 'p\ufffd', 2)")
    assert spark.sql(select) == [["a\ufffd", "p\ufffd", 1], ["\U0001f600", "p\ufffd", 2]]
    spark.sql(f"UPDATE colonnade.bad.t SET s = concat({fe}, n) WHERE s = 'a\ufffd'")
    assert spark.sql(select)[0] == ["a\ufffd1", "p\ufffd", 1]
    source = f"SELECT {ff} s, {part} p, 1L n UNION ALL SELECT {fe}, 'q', 3L"
    spark.sql(
        f"MERGE INTO colonnade.bad.t t USING ({source}) s ON t.n = s.n"
        " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    rows = [["a\ufffd", "p\ufffd", 1], ["\U0001f600", "p\ufffd", 2], ["a\ufffd", "q", 3]]
    assert spark.sql(select) == rows
    frame = f'spark.sql("SELECT {BAD.format("7aff")} s, {part} p, 9L n")'
    spark.run(f"{frame}.writeTo('colonnade.bad.t').overwrite(F.col('s') == 'z\ufffd')")
    assert spark.sql(select) == [*rows, ["z\ufffd", "p\ufffd", 9]]
    spark.run(f"{frame}.writeTo('colonnade.bad.t').overwritePartitions()")
    assert spark.sql(select) == [rows[2], ["z\ufffd", "p\ufffd", 9]]
    spark.run(f'{frame}.write.format("colonnade").mode("append").save("{table.path}")')
    assert spark.sql("SELECT count(*) FROM colonnade.bad.t WHERE s = 'z\ufffd'") == [[2]]
    refused = f"{frame}.writeTo('colonnade.bad.t').overwrite(F.col('s') == 'y')"
    assert "do not meet the condition" in spark.refused_run(refused)
    assert colonnade.open(table.path).verify().is_sound


def test_an_update_that_replaces_columns_replaces_text(spark: SparkShell) -> None:
    wide = ", ".join(f"rand({i}) AS c{i}" for i in range(8))
    select = f"SELECT id, 'a' AS s, {wide} FROM range(6000)"
    spark.sql(f"CREATE TABLE colonnade.bad.w {ON} AS {select}")
    value = BAD.format("61f09f98")
    update = (
        f"colonnade.Table.forName(spark, 'colonnade.bad.w').update('id > 5', {{'s': \"{value}\"}})"
    )
    spark.sql("SET spark.colonnade.replaceColumnsBytes = 0")
    done = spark.run(f"{update}.metrics()")
    spark.sql("RESET spark.colonnade.replaceColumnsBytes")
    assert done["rowsets_in_place"] == 1
    found = "SELECT s, count(*) FROM colonnade.bad.w GROUP BY s ORDER BY s"
    assert spark.sql(found) == [["a", 6], ["a\ufffd", 5994]]


@pytest.mark.spark_compat
@pytest.mark.matrix
def test_text_that_the_plan_has_read_is_refused_and_not_replaced(spark: SparkShell) -> None:
    """What a row stores in a generated column, or has met as a constraint, is about stored text."""
    spark.sql(
        "CREATE TABLE colonnade.bad.g (id BIGINT, s STRING, o STRING, c STRING,"
        " n INT GENERATED ALWAYS AS (length(s)), CONSTRAINT short CHECK (length(c) < 3))"
        " TBLPROPERTIES ('invalid-text' = 'replace')"
    )
    insert = "INSERT INTO colonnade.bad.g (id, s, o, c) VALUES (1, {}, {}, {})"
    ok, bad = "'a'", BAD.format("e282")
    for column, values in (("s", (bad, ok, ok)), ("c", (ok, ok, bad))):
        refusal = spark.refusal(insert.format(*values))
        assert f"Column '{column}' has text that is not valid UTF-8, and a generated" in refusal
    valid = f"make_valid_utf8({bad})"
    spark.sql(insert.format(valid, bad, valid))
    select = "SELECT s, o, c, n FROM colonnade.bad.g"
    assert spark.sql(select) == [["\ufffd", "\ufffd", "\ufffd", 1]]
    update = f"UPDATE colonnade.bad.g SET s = {bad}"
    assert "Column 's' has text that is not valid UTF-8" in spark.refusal(update)
    assert colonnade.open(spark.folder / "warehouse" / "bad" / "g").verify(4).is_sound


@pytest.mark.spark_compat
@pytest.mark.matrix
def test_the_property_is_shown_and_checked_and_may_change(spark: SparkShell) -> None:
    alter = "ALTER TABLE colonnade.bad.t SET TBLPROPERTIES ('invalid-text' = '{}')"
    shown = "SHOW TBLPROPERTIES colonnade.bad.t ('invalid-text')"
    assert spark.sql(shown) == [["invalid-text", "replace"]]
    assert "must be 'refuse' or 'replace', not 'Keep'" in spark.refusal(alter.format("Keep"))
    assert "must be" in spark.refusal(
        "CREATE TABLE colonnade.bad.u (s STRING) TBLPROPERTIES ('invalid-text' = 'x')"
    )
    spark.sql(alter.format("refuse"))
    insert = f"INSERT INTO colonnade.bad.t VALUES ({BAD.format('ff')}, 'p', 1)"
    sentence = "[COLONNADE_INVALID_INPUT] Column 's' has an invalid string in row 1 of the task's"
    assert spark.refusal(insert).startswith(sentence)
    assert spark.sql("SELECT count(*) FROM colonnade.bad.t") == [[0]]
    deep = BAD.format("f09f98")
    spark.sql(
        f"CREATE TABLE colonnade.bad.v {ON} AS SELECT array({deep}) a, map('k', {deep}) m,"
        f" named_struct('x', {deep}) st"
    )
    assert spark.sql("SELECT a[0], m['k'], st.x FROM colonnade.bad.v") == [["\ufffd"] * 3]
