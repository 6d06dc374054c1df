"""Changes of columns that Spark asks for in other words, or would not make, reach the table."""

from __future__ import annotations

import datetime as dt
import time
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import ColonnadeError
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = pytest.mark.spark_compat

TABLE = "colonnade.altered.t"
COLUMNS = "id INT NOT NULL, n INT, s STRUCT<x: INT, y: STRING>, c STRING"


database = kept_database(
    "altered",
    f"CREATE TABLE {TABLE} ({COLUMNS}) CLUSTER BY (id)",
    f"INSERT INTO {TABLE} VALUES (1, 2, named_struct('x', 3, 'y', 'y'), 'c')",
)


@pytest.fixture
def spark(database: KeptDatabase) -> SparkShell:
    return database.ready()


def opened(spark: SparkShell) -> colonnade.ArrowTable:
    return colonnade.open(f"{spark.folder}/warehouse/altered/t")


def rows(spark: SparkShell) -> list[object]:
    return [row for [row] in spark.sql(f"SELECT to_json(struct(*)) FROM {TABLE} ORDER BY id")]


def test_replaced_columns_keep_the_values_of_what_stays(spark: SparkShell) -> None:
    before, epoch = rows(spark), opened(spark).epoch
    spark.sql(
        f"ALTER TABLE {TABLE} REPLACE COLUMNS"
        " (c INT, id BIGINT COMMENT 'key', s STRUCT<y: STRING, z: INT, x: BIGINT>, new INT)"
    )
    assert opened(spark).epoch == epoch + 1
    assert rows(spark) == ['{"id":1,"s":{"y":"y","x":3}}']
    spark.sql(
        f"INSERT INTO {TABLE} VALUES (7, 5000000000, named_struct('y', 'n', 'z', 1, 'x', 2), 8)"
    )
    assert spark.sql(f"SELECT c, id, s.x, s.z, new FROM {TABLE} ORDER BY id") == [
        [None, 1, 3, None, None],
        [7, 5_000_000_000, 2, 1, 8],
    ]
    assert "id" in spark.refusal(f"INSERT INTO {TABLE} (c) VALUES (1)")
    table = opened(spark)
    assert table.verify(4).is_sound
    assert table.scan(["id", "s"], "id = 1").to_arrow().to_pylist() == [
        {"id": 1, "s": {"y": "y", "z": None, "x": 3}}
    ]
    past = spark.sql(f"SELECT to_json(struct(*)) FROM {TABLE} VERSION AS OF {epoch}")
    assert [row for [row] in past] == before


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("n INT", "'id' cannot be dropped: the table is sorted by it"),
        ("id STRING, n INT", "'id' cannot be dropped: the table is sorted by it"),
        ("id INT, n ARRAY<VOID>", "'n.element' is void"),
    ],
)
def test_replaced_columns_that_the_table_cannot_have_are_refused(
    spark: SparkShell, columns: str, said: str
) -> None:
    epoch = opened(spark).epoch
    assert said in spark.refusal(f"ALTER TABLE {TABLE} REPLACE COLUMNS ({columns})")
    assert opened(spark).epoch == epoch


@pytest.mark.matrix
def test_a_constraint_that_holds_for_all_rows_there_can_be_is_added(spark: SparkShell) -> None:
    for name, condition in {
        "a": "id IS NOT NULL",
        "b": "1 = 1",
        "c": "CAST(NULL AS BOOLEAN)",
    }.items():
        spark.sql(f"ALTER TABLE {TABLE} ADD CONSTRAINT {name} CHECK ({condition})")
    assert set(opened(spark).constraints) == {"a", "b", "c"}
    refused = f"ALTER TABLE {TABLE} ADD CONSTRAINT d CHECK (1 = 2)"
    assert "does not hold for a row with any values." in spark.refusal(refused)
    assert "determin" in spark.refusal(
        f"ALTER TABLE {TABLE} ADD CONSTRAINT e CHECK (rand() > -1 OR true)"
    )
    spark.sql(f"INSERT INTO {TABLE} (id) VALUES (2)")
    assert len(rows(spark)) == 2
    assert set(opened(spark).constraints) == {"a", "b", "c"}


TEXTS = (
    "id INT, s STRUCT<v: VARCHAR(3), c: CHAR(3)>, l ARRAY<VARCHAR(3)>, m MAP<CHAR(3), VARCHAR(3)>,"
    " d ARRAY<STRUCT<v: VARCHAR(3)>>"
)
VALUES = (
    "named_struct('v', '{0}', 'c', '{1}'), array('{2}'), map('{3}', '{4}'),"
    " array(named_struct('v', '{5}'))"
)
PLACES = ("s.v", "s.c", "l.element", "m.key", "m.value", "d.element.v")
"""Where the values are, in their order."""


@pytest.mark.matrix
def test_a_text_of_limited_length_gets_longer_wherever_it_is(spark: SparkShell) -> None:
    texts = "colonnade.altered.texts"
    spark.sql(f"CREATE TABLE {texts} ({TEXTS})")
    spark.sql(f"INSERT INTO {texts} VALUES (-1, {VALUES.format(*'abcdef')})")
    for number, place in enumerate(PLACES):
        given = ["four" if each == place else "v" for each in PLACES]
        insert = f"INSERT INTO {texts} VALUES ({number}, {VALUES.format(*given)})"
        assert "3" in spark.refusal(insert), place
        change = f"ALTER TABLE {texts} ALTER COLUMN {place} TYPE"
        spark.refusal(f"{change} VARCHAR(2)")
        spark.sql(f"{change} VARCHAR(4)")
        spark.sql(insert)
    [shown] = spark.sql(f"SHOW CREATE TABLE {texts}")[0]
    assert "(3)" not in shown
    assert shown.count("VARCHAR(4)") == len(PLACES)
    for place in PLACES:
        spark.sql(f"ALTER TABLE {texts} ALTER COLUMN {place} TYPE STRING")
    assert "CHAR" not in spark.sql(f"SHOW CREATE TABLE {texts}")[0][0]
    spark.sql(f"INSERT INTO {texts} VALUES (6, {VALUES.format(*(6 * ['very long']))})")
    found = spark.sql(
        f"SELECT s.v, s.c, l[0], map_keys(m)[0], map_values(m)[0], d[0].v FROM {texts} ORDER BY id"
    )
    assert found[0] == ["a", "b  ", "c", "d  ", "e", "f"]
    for number, row in enumerate(found[1:7]):
        assert [index for index, text in enumerate(row) if text == "four"] == [number]
    assert found[7] == 6 * ["very long"]
    assert colonnade.open(f"{spark.folder}/warehouse/altered/texts").verify(4).is_sound


def test_an_insert_brings_columns_where_the_setting_of_the_session_says_so(
    spark: SparkShell,
) -> None:
    new = "colonnade.altered.new"
    spark.sql(f"CREATE OR REPLACE TABLE {new} (id INT, s STRUCT<x: INT>, c CHAR(2))")
    insert = f"INSERT INTO {new} BY NAME SELECT 1 AS id, 'a' AS a"
    spark.refusal(insert)
    spark.sql("SET spark.colonnade.mergeSchema = true")
    try:
        before = colonnade.open(f"{spark.folder}/warehouse/altered/new")
        spark.sql(f"EXPLAIN {insert}")
        before.refresh()
        assert before.schema.names == ["id", "s", "c"]
        spark.sql(insert)
        spark.sql(
            f"INSERT INTO {new} SELECT 2L, named_struct('x', 5L), NULL, 'b', DATE'2026-01-01' AS d"
        )
        spark.sql(
            f"INSERT INTO {new} BY NAME WITH w AS (SELECT 3 AS id, 1.5D AS e) SELECT * FROM w"
        )
        spark.sql(f"WITH w AS (SELECT 4 AS id, 7 AS f) INSERT INTO {new} BY NAME SELECT * FROM w")
        spark.sql(f"INSERT INTO {new} (id, g) VALUES (5000000000, true)")
        spark.sql(f"INSERT INTO {new} (id, a) VALUES (6, DEFAULT)")
        spark.sql(f"INSERT OVERWRITE {new} BY NAME SELECT id, g AS h FROM {new}")
    finally:
        spark.sql("RESET spark.colonnade.mergeSchema")
    found = colonnade.open(f"{spark.folder}/warehouse/altered/new")
    assert found.schema.names == ["id", "s", "c", "a", "d", "e", "f", "g", "h"]
    assert str(found.schema.field("id").type) == "int64"
    assert sorted(row["id"] for row in found.scan(["id"]).to_arrow().to_pylist()) == [
        *(1, 2, 3, 4, 6, 5_000_000_000)
    ]
    spark.refusal(insert.replace("AS a", "AS aa"))


MERGE = (
    "MERGE WITH SCHEMA EVOLUTION INTO {0} AS t USING (SELECT 1 AS id, {1} AS s, 9 AS extra) AS q"
    " ON t.id = q.id WHEN MATCHED THEN UPDATE SET {2} WHEN NOT MATCHED THEN INSERT *"
)


def test_a_merge_that_the_table_cannot_take_is_refused_before_it_gets_columns(
    spark: SparkShell,
) -> None:
    before = opened(spark)
    for values in ("*", "s = q.s, n = q.extra"):
        text = MERGE.format(TABLE, "named_struct('x', 5, 'z', 1)", values)
        said = spark.refusal(text)
        assert "Cannot find data for the output column `s`.`y`" in said
    assert opened(spark).epoch == before.epoch
    whole = "named_struct('z', 1, 'x', 5L, 'y', 'new')"
    spark.sql(MERGE.format(TABLE, whole, "*"))
    assert opened(spark).scan().to_arrow().to_pylist() == [
        {"id": 1, "n": 2, "s": {"x": 5, "y": "new", "z": 1}, "c": "c", "extra": 9}
    ]


@pytest.mark.matrix
def test_rows_of_a_frame_that_lack_a_field_are_refused_before_the_table_changes(
    spark: SparkShell,
) -> None:
    before = opened(spark)
    rows_without_y = "SELECT 2 AS id, named_struct('x', 1) AS s, 5 AS new"
    said = spark.refused_run(
        f'spark.sql("{rows_without_y}").writeTo("{TABLE}").option("mergeSchema", True).append()'
    )
    assert "The rows have no field 's.y', which table 't' has" in said
    assert opened(spark).epoch == before.epoch
    if spark.run("spark.version") < "4.2":
        return
    insert = f"INSERT WITH SCHEMA EVOLUTION INTO {TABLE} BY NAME {rows_without_y}"
    assert "The rows have no field 's.y', which table 't' has" in spark.refusal(insert)
    assert opened(spark).epoch == before.epoch
    spark.sql(insert.replace("('x', 1)", "('x', 1, 'y', 'b')"))
    assert len(opened(spark).scan(where="new = 5").to_arrow()) == 1


@pytest.mark.matrix
@pytest.mark.parametrize("kind", ["int32", "date32"])
def test_spark_and_python_that_bring_one_column_at_once_make_one(
    spark: SparkShell, kind: str
) -> None:
    """The type of Spark's column is INT. Of writers with other types, one is refused."""
    path = f"{spark.folder}/warehouse/altered/t"
    by_type: dict[str, pa.Array] = {
        "int32": pa.array([7], pa.int32()),
        "date32": pa.array([dt.date(2026, 1, 1)]),
    }
    refusals = []
    with ThreadPoolExecutor(1) as thread:
        for number in range(3):
            column = f"r{number}"
            frame = f"spark.sql('SELECT {10 + number} AS id, 7 AS {column}')"
            write = f"{frame}.writeTo('{TABLE}').option('mergeSchema', True).append()"
            by_spark = thread.submit(spark.ask, {"code": write})
            time.sleep(0.1 * number)
            ids = pa.array([20 + number], pa.int32())
            rows = pa.table({"id": ids, column: by_type[kind]})
            try:
                colonnade.open(path).append(rows, evolve=True)
            except ColonnadeError as error:
                refusals.append(error.message)
            reply = by_spark.result()
            if "error" in reply:
                refusals.append(reply["error"])
            assert opened(spark).schema.names.count(column) == 1
    found = opened(spark).scan(where="id >= 10").to_arrow()
    assert len(found) == 6 - len(refusals)
    assert len(refusals) == (0 if kind == "int32" else 3)
    for number, refusal in enumerate(refusals):
        assert f"r{number}" in refusal
    assert opened(spark).verify(4).is_sound
