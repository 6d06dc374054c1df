"""Texts are stored as their types say, however they are written."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

COLUMNS = """
    plain char(3), s struct<x: char(3)>, a array<char(3)>, m map<char(3), char(2)>,
    deep struct<y: array<struct<z: char(4)>>>, v array<varchar(2)>
"""
ROW = """
    'p', named_struct('x', 's'), array('q', NULL), map('k', 'v'),
    named_struct('y', array(named_struct('z', 'd'))), array('vv   ')
"""
STORED = {
    "plain": "p  ",
    "s": {"x": "s  "},
    "a": ["q  ", None],
    "m": [("k  ", "v ")],
    "deep": {"y": [{"z": "d   "}]},
    "v": ["vv"],
}


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With an empty table `colonnade.texts.t`."""
    spark_shell.sql("CREATE DATABASE colonnade.texts")
    spark_shell.sql(f"CREATE TABLE colonnade.texts.t ({COLUMNS})")
    yield spark_shell
    spark_shell.sql("DROP DATABASE colonnade.texts CASCADE")


@pytest.mark.spark_compat
def test_every_road_fills_char_up_with_spaces_at_every_depth(spark: SparkShell) -> None:
    table = colonnade.open(spark.folder / "warehouse" / "texts" / "t")
    select = f"SELECT {ROW}".replace("'p'", "'p' AS plain")
    names = ("s", "a", "m", "deep", "v")
    frame = f'spark.sql("""{select}""").toDF("plain", {", ".join(map(repr, names))})'
    spark.sql(f"INSERT INTO colonnade.texts.t VALUES ({ROW})")
    spark.run(f'{frame}.writeTo("colonnade.texts.t").append()')
    spark.run(f'{frame}.write.format("colonnade").mode("append").save("{table.path}")')
    spark.sql(
        f"MERGE INTO colonnade.texts.t USING (SELECT 1) ON false"
        f" WHEN NOT MATCHED THEN INSERT (plain, s, a, m, deep, v) VALUES ({ROW})"
    )
    spark.sql("UPDATE colonnade.texts.t SET a = array('q', NULL), v = array('vv ')")
    row = {"plain": "p", "s": {"x": "s"}, "a": ["q", None], "m": [("k", "v")]}
    row |= {"deep": {"y": [{"z": "d"}]}, "v": ["vv   "]}
    bare = pa.schema([field.remove_metadata() for field in table.schema])
    table.append(pa.Table.from_pylist([row], bare))
    assert colonnade.open(table.path).scan().to_arrow().to_pylist() == [STORED] * 5
    where = "a[0] = 'q  ' AND length(deep.y[0].z) = 4 AND map_keys(m)[0] = 'k  ' AND plain = 'p'"
    assert spark.sql(f"SELECT count(*) FROM colonnade.texts.t WHERE {where}") == [[5]]
    assert len(table.scan(where="plain = 'p' AND s.x = 's '").to_arrow()) == 5


@pytest.mark.spark_compat
def test_rows_of_a_table_with_a_char_are_deleted_with_and_without_a_condition(
    spark: SparkShell,
) -> None:
    name = "colonnade.texts.chars"
    spark.sql(f"CREATE TABLE {name} (c CHAR(3) NOT NULL, n INT NOT NULL) TBLPROPERTIES ('k'='v')")
    table = colonnade.open(spark.folder / "warehouse" / "texts" / "chars")
    table.alter(colonnade.SetSortKey(("n",)))
    for condition, left in {
        "": [],
        "WHERE true": [],
        "WHERE c = 'a'": [2, 3],
        "WHERE n BETWEEN 2 AND 7": [1],
        "WHERE n > 1 AND c = 'b'": [1, 3],
        "WHERE length(c) = 3": [],
    }.items():
        spark.sql(f"INSERT OVERWRITE {name} VALUES ('a', 1), ('b', 2), ('c', 3)")
        spark.sql(f"DELETE FROM {name} {condition}")
        assert spark.sql(f"SELECT n FROM {name} ORDER BY n") == [[n] for n in left], condition
        spark.sql(f"DELETE FROM colonnade.`{table.path}`")
        assert spark.sql(f"SELECT n FROM {name}") == []


@pytest.mark.spark_compat
def test_an_error_in_a_task_keeps_its_condition_and_is_one_sentence(spark: SparkShell) -> None:
    insert = "INSERT INTO colonnade.texts.t (plain, a) VALUES ({})"
    long = insert.format("'p', array('long')")
    assert spark.condition(long) == "EXCEED_LIMIT_LENGTH"
    spark.sql("SET spark.sql.legacy.charVarcharAsString = true")  # the writer alone checks then
    try:
        sentence = (
            "Column 'a.element' is char(3), but the data has a value of 4 characters; shorten the"
            " value, or make the column longer."
        )
        assert spark.refusal(long) == f"[COLONNADE_INVALID_INPUT] {sentence}"
        assert spark.condition(long) == "EXCEED_LIMIT_LENGTH"
        assert spark.condition(insert.format("'long', NULL")) == "EXCEED_LIMIT_LENGTH"
    finally:
        spark.sql("SET spark.sql.legacy.charVarcharAsString = false")
    spark.sql("CREATE TABLE colonnade.texts.s (s STRING)")
    rows = "SELECT CAST(unhex('fffe') AS STRING) AS x"
    broken = f"INSERT INTO colonnade.texts.s {rows}"
    assert spark.condition(broken) == "COLONNADE_INVALID_INPUT"
    assert spark.refusal(broken).startswith("[COLONNADE_INVALID_INPUT] Column 's' has an invalid")
    merge = f"MERGE INTO colonnade.texts.s USING ({rows}) ON s = x"
    merge += " WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (s) VALUES (x)"
    assert spark.condition(merge) == "COLONNADE_INVALID_INPUT"


def test_damage_that_a_task_meets_has_a_condition(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE colonnade.texts.d AS SELECT uuid() u FROM range(3000)")
    (data,) = (spark.folder / "warehouse" / "texts").glob("*/*.rowset")
    content = data.read_bytes()
    data.write_bytes(bytes(byte ^ 255 for byte in content))
    for query in (
        "SELECT * FROM colonnade.texts.d",
        "SELECT max(u), min(u) FROM colonnade.texts.d",
    ):
        assert spark.condition(query) == "COLONNADE_CORRUPTION"
        assert spark.refusal(query).startswith("[COLONNADE_CORRUPTION] ")
    data.unlink()
    assert spark.condition(query) == "COLONNADE_CORRUPTION"


def test_the_partition_of_a_char_follows_its_stored_value(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE colonnade.texts.p (c char(3)) PARTITIONED BY (c)")
    spark.sql("SET spark.sql.legacy.charVarcharAsString = true")
    try:
        spark.sql("INSERT INTO colonnade.texts.p VALUES ('a'), ('a ')")
    finally:
        spark.sql("SET spark.sql.legacy.charVarcharAsString = false")
    spark.sql("INSERT INTO colonnade.texts.p VALUES ('a  ')")
    table = colonnade.open(spark.folder / "warehouse" / "texts" / "p")
    table.append(pa.table({"c": ["a"]}))
    assert colonnade.open(table.path).scan().to_arrow().to_pylist() == [{"c": "a  "}] * 4
    assert spark.sql("SELECT partition, rows FROM colonnade.texts.p.partitions") == [["c=a  ", 4]]
