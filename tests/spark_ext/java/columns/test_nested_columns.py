"""Fields inside a column are altered by SQL: every statement sees them, and every epoch its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

import colonnade
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

TABLE = "colonnade.db.n"
COLUMNS = (
    "k INT, s STRUCT<x: INT, y: STRING, t: STRUCT<z: FLOAT>>,"
    " l ARRAY<STRUCT<a: INT, b: DATE>>, m MAP<STRUCT<p: INT>, STRUCT<v: SMALLINT, w: STRING>>"
)
ROW = (
    "({0}, named_struct('x', {0}, 'y', 'y{0}', 't', named_struct('z', {0} / 4F)),"
    " array(named_struct('a', {0}, 'b', DATE'2026-01-01'), NULL),"
    " map(named_struct('p', {0}), named_struct('v', {0}S, 'w', 'w')))"
)


database = kept_database(
    "db",
    f"CREATE TABLE {TABLE} ({COLUMNS})",
    f"INSERT INTO {TABLE} VALUES {', '.join(ROW.format(i) for i in (1, 2, 3))}",
    f"INSERT INTO {TABLE} (k) VALUES (4)",
)


@pytest.fixture
def spark(database: KeptDatabase) -> SparkShell:
    """With a table of rows 1 to 3; the columns of row 4 are NULL."""
    return database.ready()


def rows(
    spark: SparkShell, columns: str = "s, l, map_entries(m) AS m", where: str = "true", at: str = ""
) -> Any:
    """Return rows as Spark writes them as JSON, in the order of `k`, without what is NULL."""
    text = f"SELECT to_json(struct({columns})) FROM {TABLE} {at} WHERE {where} ORDER BY k"
    return [json.loads(row) for [row] in spark.sql(text)]


def alter(spark: SparkShell, *changes: str) -> None:
    for change in changes:
        spark.sql(f"ALTER TABLE {TABLE} {change}")


def test_fields_come_go_move_and_widen_and_every_statement_sees_them(spark: SparkShell) -> None:
    before, first = rows(spark), colonnade.open(f"{spark.folder}/warehouse/db/n").epoch
    alter(
        spark,
        "ADD COLUMN s.n DECIMAL(5,2) AFTER x",
        "ADD COLUMNS (l.element.c STRING FIRST, m.value.u ARRAY<INT>, m.key.q INT, s.t.o BINARY)",
        "DROP COLUMN s.y",
        "ADD COLUMN s.y STRING COMMENT 'the new one'",
        "RENAME COLUMN s.x TO ex",
        "ALTER COLUMN s.t FIRST",
        "ALTER COLUMN l.element.a TYPE BIGINT",
        "ALTER COLUMN m.key.p TYPE DECIMAL(12,1)",
        "ALTER COLUMN m.value.v TYPE DOUBLE",
        "ALTER COLUMN s.t.z TYPE DOUBLE",
        "DROP COLUMN l.element.b",
    )
    assert [each[1] for each in spark.sql(f"DESCRIBE {TABLE}")[1:4]] == [
        "struct<t:struct<z:double,o:binary>,ex:int,n:decimal(5,2),y:string>",
        "array<struct<c:string,a:bigint>>",
        "map<struct<p:decimal(12,1),q:int>,struct<v:double,w:string,u:array<int>>>",
    ]
    old: dict[str, Any] = {
        "s": {"t": {"z": 0.5}, "ex": 2},
        "l": [{"a": 2}, None],
        "m": [{"key": {"p": 2.0}, "value": {"v": 2.0, "w": "w"}}],
    }
    assert rows(spark, where="k = 2") == [old]
    assert rows(spark, where="k = 4") == [{}]
    assert rows(spark, at=f"VERSION AS OF {first}") == before
    spark.sql(
        f"INSERT INTO {TABLE} VALUES (5, named_struct('t', named_struct('z', 0.25D, 'o', X'00'),"
        " 'ex', 5, 'n', 1.25, 'y', 'new'), array(named_struct('c', 'c', 'a', 5000000000)),"
        " map(named_struct('p', 5.5, 'q', 6), named_struct('v', 0.1D, 'w', 'w', 'u', array(7))))"
    )
    new: dict[str, Any] = {
        "s": {"t": {"z": 0.25, "o": "AA=="}, "ex": 5, "n": 1.25, "y": "new"},
        "l": [{"c": "c", "a": 5_000_000_000}],
        "m": [{"key": {"p": 5.5, "q": 6}, "value": {"v": 0.1, "w": "w", "u": [7]}}],
    }
    assert rows(spark, where="s.y = 'new' OR s.ex = 2") == [old, new]
    assert rows(spark, "k", "s.y IS NULL") == [{"k": k} for k in (1, 2, 3, 4)]
    assert rows(spark, "s.t.z, element_at(l, 1).a AS a", "k >= 4") == [
        {},
        {"z": 0.25, "a": 5_000_000_000},
    ]
    spark.sql(f"DELETE FROM {TABLE} WHERE s.ex = 1")
    spark.sql(f"UPDATE {TABLE} SET s.y = concat('u', s.ex) WHERE k = 3")
    merge = f"MERGE INTO {TABLE} t USING (SELECT 2 AS k) v ON t.k = v.k"
    spark.sql(f"{merge} WHEN MATCHED THEN UPDATE SET s.n = 9.75")
    third = {"t": {"z": 0.75}, "ex": 3, "y": "u3"}
    expected = [{"s": {**old["s"], "n": 9.75}}, {"s": third}, {}, {"s": new["s"]}]
    assert rows(spark, "s") == expected
    spark.sql("CALL colonnade.system.compact('db.n', options => 'min-rowsets=2')")
    assert rows(spark, "s") == expected
    table = colonnade.open(f"{spark.folder}/warehouse/db/n")
    assert table.verify(4).is_sound
    assert table.scan(["s"], "k = 3").to_arrow().to_pylist() == [
        {"s": {"t": {"z": 0.75, "o": None}, "ex": 3, "n": None, "y": "u3"}}
    ]
    spark.sql(f"CALL colonnade.system.restore('db.n', {first})")
    assert rows(spark) == before


def test_a_struct_keeps_its_nulls_when_all_that_was_stored_of_it_is_dropped(
    spark: SparkShell,
) -> None:
    alter(spark, "ADD COLUMN s.new INT", "DROP COLUMNS (s.x, s.y, s.t)")
    found = spark.sql(f"SELECT k, s IS NULL, s.new FROM {TABLE} ORDER BY k")
    assert found == [[k, k == 4, None] for k in (1, 2, 3, 4)]
    spark.sql(f"INSERT INTO {TABLE} (k, s) VALUES (5, named_struct('new', 7))")
    assert spark.sql(f"SELECT k FROM {TABLE} WHERE s.new = 7 OR s IS NULL ORDER BY k") == [[4], [5]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("ADD COLUMN s.n INT NOT NULL", "'s.n' cannot be added as NOT NULL"),
        ("ADD COLUMN s.n VOID", "Field 's.n' is void"),
        ("ADD COLUMN s.X INT", "`s`.`X` already exists"),
        ("ADD COLUMN l.x INT", "`l`.`x` is invalid"),
        ("ADD COLUMN k.x INT", "k"),
        ("DROP COLUMN m.key.p", "'m.key.p' cannot be dropped: without it, keys of one map"),
        ("DROP COLUMN s.nothing", "nothing"),
        ("ALTER COLUMN s.x TYPE BOOLEAN", "s"),
        ("ALTER COLUMN s.t.z TYPE DECIMAL(9,2)", "z"),
        ("ALTER COLUMN s.x AFTER nothing", "nothing"),
    ],
)
def test_an_impossible_change_is_refused_by_the_path(
    spark: SparkShell, change: str, said: str
) -> None:
    path = f"{spark.folder}/warehouse/db/n"
    before = colonnade.open(path).epoch
    assert said in spark.refusal(f"ALTER TABLE {TABLE} {change}")
    assert colonnade.open(path).epoch == before
