"""Primary keys in Spark: no write adds a key twice, and statements state and show a key."""

from __future__ import annotations

from pathlib import Path

import pytest

import colonnade
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

TABLE = "colonnade.keyed.t"
database = kept_database(
    "keyed",
    f"CREATE TABLE {TABLE} (id BIGINT, name STRING, PRIMARY KEY (id)) USING colonnade",
    f"INSERT INTO {TABLE} VALUES (1, 'a'), (2, 'b'), (3, 'c')",
)


@pytest.fixture
def spark(database: KeptDatabase) -> SparkShell:
    """With a table of three rows, whose key is `id`."""
    return database.ready()


def path(spark: SparkShell) -> Path:
    return spark.folder / "warehouse" / "keyed" / "t"


def rows(spark: SparkShell) -> list[list[object]]:
    return spark.sql(f"SELECT * FROM {TABLE} ORDER BY id")


ROADS = {
    "INSERT": f"spark.sql(\"INSERT INTO {TABLE} VALUES (9, 'x'), (2, 'x')\")",
    "INSERT of two": f"spark.sql(\"INSERT INTO {TABLE} VALUES (9, 'x'), (9, 'y')\")",
    "INSERT OVERWRITE": f"spark.sql(\"INSERT OVERWRITE {TABLE} VALUES (9, 'x'), (9, 'y')\")",
    "REPLACE WHERE": f"spark.sql(\"INSERT INTO {TABLE} REPLACE WHERE name = 'x' VALUES (2, 'x')\")",
    "UPDATE": f'spark.sql("UPDATE {TABLE} SET id = 2 WHERE id = 1")',
    "UPDATE of all": f'spark.sql("UPDATE {TABLE} SET id = id div 2")',
    "MERGE that inserts": (
        f"spark.sql(\"MERGE INTO {TABLE} t USING (SELECT 2L AS k) s ON t.name = 'z'"
        " WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.k, 'x')\")"
    ),
    "MERGE that updates": (
        f'spark.sql("MERGE INTO {TABLE} t USING (SELECT 1L AS k) s ON t.id = s.k'
        ' WHEN MATCHED THEN UPDATE SET id = 3")'
    ),
    "DataFrame": (
        f"spark.range(3, 99, 1, 4).selectExpr('id', \"'x' AS name\").writeTo('{TABLE}').append()"
    ),
    "Table.update": ("colonnade.Table.forPath(spark, 'PATH').update('id = 1', {'id': '2'})"),
}


@pytest.mark.parametrize("road", ROADS)
def test_no_road_adds_a_key_that_is_there(spark: SparkShell, road: str) -> None:
    before = colonnade.open(path(spark)).epoch
    refusal = spark.refused_run(ROADS[road].replace("PATH", str(path(spark))))
    assert "primary key (id) of table 't'" in refusal
    assert colonnade.open(path(spark)).epoch == before


def test_rows_merge_into_those_that_are_there_by_option_and_by_property(spark: SparkShell) -> None:
    frame = "spark.sql(\"SELECT * FROM VALUES (2L, 'x'), (4L, 'd') AS t(id, name)\")"
    spark.run(f"{frame}.writeTo('{TABLE}').option('onDuplicate', 'merge').append()")
    assert rows(spark) == [[1, "a"], [2, "x"], [3, "c"], [4, "d"]]
    spark.sql(
        f"ALTER TABLE {TABLE} SET TBLPROPERTIES"
        " ('onDuplicate' = 'merge', 'merge.name' = 'coalesce')"
    )
    spark.sql(f"INSERT INTO {TABLE} SELECT id, if(id = 2, NULL, 'y') FROM range(2, 6, 1, 3)")
    assert rows(spark) == [[1, "a"], [2, "x"], [3, "y"], [4, "y"], [5, "y"]]


def test_ignored_rows_are_left_out_by_option_and_by_property(spark: SparkShell) -> None:
    frame = "spark.sql(\"SELECT * FROM VALUES (2L, 'x'), (4L, 'd') AS t(id, name)\")"
    spark.run(f"{frame}.writeTo('{TABLE}').option('onDuplicate', 'ignore').append()")
    spark.sql(f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('onDuplicate' = 'ignore')")
    spark.sql(f"INSERT INTO {TABLE} SELECT id, 'y' FROM range(0, 6, 1, 3)")
    assert rows(spark) == [[0, "y"], [1, "a"], [2, "b"], [3, "c"], [4, "d"], [5, "y"]]
    refusal = spark.refusal(f"UPDATE {TABLE} SET id = 2 WHERE id = 1")
    assert "primary key" in refusal
    spark.sql(f"UPDATE {TABLE} SET id = id + 1")
    assert [row[0] for row in rows(spark)] == [1, 2, 3, 4, 5, 6]


def test_statements_state_show_keep_and_end_a_key(spark: SparkShell) -> None:
    shown = dict(spark.sql(f"SHOW TBLPROPERTIES {TABLE}"))
    assert shown["primaryKey"] == "id"
    assert "'primaryKey' = 'id'" in spark.sql(f"SHOW CREATE TABLE {TABLE}")[0][0]
    spark.sql(
        "CREATE TABLE colonnade.keyed.u USING colonnade TBLPROPERTIES ('primaryKey' = 'a, b')"
        " AS SELECT id AS a, name AS b, 1 AS c FROM " + TABLE
    )
    other = path(spark).with_name("u")
    assert colonnade.open(other).primary_key == ("a", "b")
    assert "primary key (a, b)" in spark.refusal("INSERT INTO colonnade.keyed.u VALUES (1, 'a', 2)")
    spark.sql("ALTER TABLE colonnade.keyed.u UNSET TBLPROPERTIES ('primaryKey')")
    spark.sql("INSERT INTO colonnade.keyed.u VALUES (1, 'a', 2)")
    refusal = spark.refusal(
        "ALTER TABLE colonnade.keyed.u SET TBLPROPERTIES ('primaryKey' = 'b, a')"
    )
    assert "share keys: b = 'a', a = 1 (2 rows)" in refusal
    assert "cannot be dropped: it is in the primary key" in spark.refusal(
        f"ALTER TABLE {TABLE} DROP COLUMN id"
    )
    assert "more than one new row has the key a = 1" in spark.refusal(
        "CREATE OR REPLACE TABLE colonnade.keyed.u USING colonnade"
        " TBLPROPERTIES ('primaryKey' = 'a') AS SELECT 1 AS a UNION ALL SELECT 1"
    )


def test_a_key_that_no_table_can_have_is_refused(spark: SparkShell) -> None:
    create = "CREATE TABLE colonnade.keyed.w (id BIGINT, a ARRAY<INT>"
    assert "no order" in spark.refusal(f"{create}, PRIMARY KEY (a)) USING colonnade")
    assert "unique" in spark.refusal(f"{create}, UNIQUE (id)) USING colonnade")
    both = f"{create}, PRIMARY KEY (id)) USING colonnade TBLPROPERTIES ('primaryKey' = 'id')"
    assert "either PRIMARY KEY or the property" in spark.refusal(both)
    assert not path(spark).with_name("w").exists()


def test_the_table_builder_states_a_key(spark: SparkShell) -> None:
    place = spark.folder / "built"
    spark.run(
        f"colonnade.Table.create(spark).location('{place}').addColumn('a', 'INT')"
        ".addColumn('b', 'STRING').primaryKey('b', 'a').execute()"
    )
    assert colonnade.open(place).primary_key == ("b", "a")
