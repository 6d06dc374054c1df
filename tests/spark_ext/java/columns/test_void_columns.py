"""Columns of the type void in Spark: all rows are NULL in them until they get a type."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyspark
import pytest

import colonnade
from colonnade.manifests.model.schema import type_text
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = pytest.mark.spark_compat

TABLE = "colonnade.voids.t"

database = kept_database(
    "voids",
    f"CREATE TABLE {TABLE} AS SELECT id, NULL b, cast(id AS INT) n FROM range(4)",
)


@pytest.fixture
def spark(database: KeptDatabase) -> SparkShell:
    return database.ready()


def opened(spark: SparkShell, name: str = "t") -> colonnade.ArrowTable:
    return colonnade.open(f"{spark.folder}/warehouse/voids/{name}")


def types(spark: SparkShell) -> dict[str, str]:
    return {each.name: type_text(each.type) for each in opened(spark)._state.schema.fields}


@pytest.mark.matrix
def test_a_void_column_of_ctas_is_read_and_written_as_null(spark: SparkShell) -> None:
    assert types(spark) == {"id": "long", "b": "void", "n": "int"}
    assert [each[1] for each in spark.sql(f"DESCRIBE {TABLE}")[:3]] == ["bigint", "void", "int"]
    assert "b VOID" in spark.sql(f"SHOW CREATE TABLE {TABLE}")[0][0]
    spark.sql(f"INSERT INTO {TABLE} VALUES (4, NULL, 4)")
    spark.sql(f"INSERT INTO {TABLE} (id) VALUES (5)")
    spark.sql(f"UPDATE {TABLE} SET n = 10, b = NULL WHERE id < 2")
    spark.sql(f"DELETE FROM {TABLE} WHERE b IS NULL AND id = 3")
    spark.sql(f"DELETE FROM {TABLE} WHERE b IS NOT NULL OR b = 5 OR b > b")
    spark.sql(
        f"MERGE INTO {TABLE} t USING (SELECT 5L id, NULL b, 50 n UNION ALL SELECT 6L, NULL, 60) s"
        " ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    rows = [[0, None, 10], [1, None, 10], [2, None, 2], [4, None, 4], [5, None, 50], [6, None, 60]]
    assert spark.sql(f"SELECT * FROM {TABLE} ORDER BY id") == rows
    assert spark.sql(f"SELECT b FROM {TABLE} LIMIT 1") == [[None]]
    assert spark.sql(f"SELECT b, count(*) FROM {TABLE} GROUP BY b") == [[None, 6]]
    assert spark.sql(f"SELECT count(b), count(*), max(b), max(n) FROM {TABLE}") == [
        [0, 6, None, 60]
    ]
    assert spark.sql(f"SELECT b, id FROM {TABLE} ORDER BY b, id LIMIT 2") == [[None, 0], [None, 1]]
    assert spark.sql(f"SELECT id FROM {TABLE} WHERE b IS NULL AND n = 60") == [[6]]
    assert spark.sql(f"SELECT count(*) FROM {TABLE} WHERE b IS NOT NULL OR b = 5") == [[0]]
    table = opened(spark)
    found = table.scan().to_arrow().sort_by("id").to_pylist()
    assert [list(row.values()) for row in found] == rows
    stored = [set(each.entry.statistics) for each in table._log.rowsets.read(table._state)]
    assert all(each == {1, 3} for each in stored)
    assert table.verify(4).is_sound


@pytest.mark.parametrize(
    "kind",
    [
        *("DECIMAL(9,2)", "VARCHAR(5)"),
        *(pytest.param(kind, marks=pytest.mark.long) for kind in ("INT", "STRING", "DATE")),
    ],
)
def test_alter_column_gives_a_void_column_its_type(spark: SparkShell, kind: str) -> None:
    epoch = opened(spark).epoch
    spark.sql(f"ALTER TABLE {TABLE} ALTER COLUMN b TYPE {kind}")
    assert types(spark)["b"] == kind.lower()
    value = "DATE'2024-01-02'" if kind == "DATE" else "7"
    spark.sql(f"INSERT INTO {TABLE} VALUES (9, {value}, 1)")
    assert spark.sql(f"SELECT id FROM {TABLE} WHERE b = {value}") == [[9]]
    assert spark.sql(f"SELECT count(b), count(*) FROM {TABLE}") == [[1, 5]]
    assert spark.sql(f"SELECT count(b), count(*) FROM {TABLE} VERSION AS OF {epoch}") == [[0, 4]]
    spark.sql(f"CALL colonnade.system.restore(table => 'voids.t', epoch => {epoch})")
    assert types(spark)["b"] == "void"
    assert spark.sql(f"SELECT count(*) FROM {TABLE} WHERE b IS NULL") == [[4]]


def test_tables_and_columns_are_made_void_and_get_types_by_writing(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE colonnade.voids.made (id BIGINT, b VOID) CLUSTER BY (id)")
    spark.sql("ALTER TABLE colonnade.voids.made ADD COLUMN c VOID")
    spark.sql("INSERT INTO colonnade.voids.made VALUES (1, NULL, NULL)")
    merge = ".option('mergeSchema', 'true').mode('append').saveAsTable('colonnade.voids.made')"
    spark.run(f"spark.sql('SELECT 2L id, NULL d').write{merge}")
    spark.run(f"spark.sql('SELECT 3L id, array(3) b, NULL c, 4 d').write{merge}")
    found = opened(spark, "made")._state.schema.fields
    assert [type_text(each.type) for each in found] == ["long", "array<int>", "void", "int"]
    rows = "SELECT * FROM colonnade.voids.made ORDER BY id"
    assert spark.sql(rows) == [[1, None, None, None], [2, None, None, None], [3, [3], None, 4]]
    merge = (
        "MERGE WITH SCHEMA EVOLUTION INTO colonnade.voids.made t USING"
        " (SELECT 3L id, array(4) b, 'c' c, 5 d, NULL e) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET *"
    )
    nested = merge.replace("'c' c", "array('c') c")
    spark.refusal(nested)
    if pyspark.__version__.startswith("4.1"):
        spark.refusal(merge)
        assert spark.sql(rows)[2] == [3, [3], None, 4]
    else:
        spark.sql(merge)
        assert spark.sql(rows)[2] == [3, [4], "c", 5, None]
    folder = f"{spark.folder}/warehouse/voids/saved"
    spark.run(f"spark.sql('SELECT 1 a, NULL b').write.format('colonnade').save('{folder}')")
    assert spark.run(f"spark.read.format('colonnade').load('{folder}').collect()") is not None
    assert colonnade.open(folder).schema.field("b").type == pa.null()
    spark.sql(
        "ALTER TABLE colonnade.voids.made REPLACE COLUMNS (id BIGINT, b VOID, e MAP<INT, INT>)"
    )
    assert spark.sql(rows)[2] == [3, None, None]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (f"INSERT INTO {TABLE} VALUES (9, 5, 1)", "b"),
        (f"UPDATE {TABLE} SET b = 5", "b"),
        (f"ALTER TABLE {TABLE} ADD COLUMN v ARRAY<VOID>", "'v.element' is void, and only whole"),
        (f"ALTER TABLE {TABLE} ADD COLUMN s STRUCT<x: VOID>", "'s.x' is void, and only whole"),
        (f"ALTER TABLE {TABLE} ALTER COLUMN b SET DEFAULT 5", "b"),
        (f"ALTER TABLE {TABLE} ALTER COLUMN b SET NOT NULL", "'b'"),
        (f"ALTER TABLE {TABLE} ALTER COLUMN n TYPE VOID", "n"),
        (f"ALTER TABLE {TABLE} CLUSTER BY (b)", "'b' of type void has no order to sort by"),
        (f"ALTER TABLE {TABLE} DROP COLUMNS (id, n)", "All columns of the table are void"),
        ("CREATE TABLE colonnade.voids.u AS SELECT NULL a", "All columns of the table are void"),
        ("CREATE TABLE colonnade.voids.u AS SELECT 1 a, array(NULL) b", "'b.element' is void"),
        ("CREATE TABLE colonnade.voids.u (a INT, b VOID NOT NULL)", "'b' is void"),
        ("CREATE TABLE colonnade.voids.u (a INT, b VOID) PARTITIONED BY (b)", "b"),
        ("CREATE TABLE colonnade.voids.u (a INT, b VOID GENERATED ALWAYS AS (a))", "b"),
        ("CREATE TABLE colonnade.voids.u (a INT, b VOID DEFAULT 1)", "b"),
    ],
)
def test_a_statement_that_makes_no_sense_for_a_void_column_is_refused(
    spark: SparkShell, statement: str, said: str
) -> None:
    before: Any = opened(spark).epoch
    text = spark.refusal(statement)
    assert said in text, text
    assert opened(spark).epoch == before
