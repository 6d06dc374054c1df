"""Static columns through Spark: one value for all rows of a partition key, on every road."""

from __future__ import annotations

from typing import Any

import pytest

import colonnade
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.queries.read_road import OLDER
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = pytest.mark.spark_compat

T = "colonnade.statics.t"
DESIGN = "'primaryKey' = 'k, day, ts', 'static' = 'owner, place', 'partitionKey' = 'k, day'"
ROWS = "SELECT k, day, ts, v, owner, place.b FROM {} ORDER BY k, day, ts"

database = kept_database(
    "statics",
    f"CREATE TABLE {T} (k STRING NOT NULL, day DATE NOT NULL, ts INT NOT NULL, v STRING,"
    f" owner STRING, place STRUCT<a: ARRAY<DECIMAL(30,2)>, b: STRING>) TBLPROPERTIES ({DESIGN})",
    f"INSERT INTO {T} VALUES"
    " ('', DATE'1969-12-31', 1, 'a', 'ann', named_struct('a', array(1.5, NULL), 'b', 'x')),"
    " ('', DATE'1969-12-31', 2, 'b', NULL, NULL),"
    " ('😀', DATE'0001-01-01', 1, 'c', 'bob', NULL),"
    " ('', DATE'1970-01-01', 1, 'd', NULL, NULL)",
)

ANN = ["", "1969-12-31"]
BOB = ["😀", "0001-01-01"]
NONE = ["", "1970-01-01"]
FIRST: list[list[Any]] = [
    [*ANN, 1, "a", "ann", "x"],
    [*ANN, 2, "b", "ann", "x"],
    [*NONE, 1, "d", None, None],
    [*BOB, 1, "c", "bob", None],
]


@pytest.fixture
def spark(database: KeptDatabase) -> SparkShell:
    """With the table `T` of the rows `FIRST`."""
    return database.ready()


def rows(spark: SparkShell, table: str = T) -> list[list[Any]]:
    return spark.sql(ROWS.format(table))


def statics(spark: SparkShell) -> list[list[Any]]:
    return spark.sql(f"SELECT k, day, owner, place.b FROM {T}.statics ORDER BY k, day")


def of_python(spark: SparkShell, name: str = "t") -> list[list[Any]]:
    """The rows of a table as Python reads them."""
    found = colonnade.open(spark.folder / "warehouse" / "statics" / name).scan().to_arrow()
    found = found.sort_by([("k", "ascending"), ("day", "ascending"), ("ts", "ascending")])
    return [
        [r["k"], str(r["day"]), r["ts"], r["v"], r["owner"], (r["place"] or {}).get("b")]
        for r in found.to_pylist()
    ]


def test_rows_show_the_values_of_their_partition_key(spark: SparkShell) -> None:
    assert rows(spark) == FIRST == of_python(spark)
    assert statics(spark) == [[*ANN, "ann", "x"], [*BOB, "bob", None]]
    assert spark.sql(f"SELECT DISTINCT place.a FROM {T} WHERE owner = 'ann'") == [[["1.50", None]]]
    assert spark.sql(f"SELECT ts FROM {T} WHERE owner IS NULL") == [[1]]
    assert spark.sql(f"SELECT count(*) FROM {T} WHERE owner > 'b' OR v = 'a'") == [[2]]
    totals = "count(owner), min(owner), max(owner), count(DISTINCT owner), count(*)"
    assert spark.sql(f"SELECT {totals} FROM {T}") == [[3, "ann", "bob", 2, 4]]
    assert spark.sql(f"SELECT owner FROM {T} ORDER BY owner DESC NULLS LAST LIMIT 1") == [["bob"]]
    joined = f"SELECT count(*) FROM {T} l JOIN {T} r ON l.owner = r.owner"
    assert spark.sql(joined) == [[5]]


def test_rows_in_the_order_of_the_key_show_static_values(spark: SparkShell) -> None:
    spark.sql(f"INSERT INTO {T} VALUES ('', DATE'1969-12-31', 0, 'z', NULL, NULL)")
    spark.sql("SET spark.colonnade.readInOrder = true")
    try:
        assert rows(spark) == sorted([*FIRST, [*ANN, 0, "z", "ann", "x"]], key=lambda r: r[:3])
    finally:
        spark.sql("RESET spark.colonnade.readInOrder")


def test_a_table_says_which_columns_are_static(spark: SparkShell) -> None:
    shown = dict(spark.sql(f"SHOW TBLPROPERTIES {T}"))
    assert (shown["static"], shown["partitionKey"]) == ("owner, place", "k, day")
    assert [row[1] for row in spark.sql("SHOW TABLES IN colonnade.statics")] == ["t"]
    made = f"CREATE TABLE colonnade.statics.made TBLPROPERTIES ({DESIGN}) AS SELECT * FROM {T}"
    spark.sql(made)
    assert rows(spark, "colonnade.statics.made") == FIRST == of_python(spark, "made")
    assert dict(spark.sql("SHOW TBLPROPERTIES colonnade.statics.made")) == shown
    if not OLDER:  # its parser takes no name of three parts here
        spark.sql(f"CREATE TABLE colonnade.statics.alike LIKE {T}")
        spark.sql(f"INSERT INTO colonnade.statics.alike SELECT * FROM {T}")
        assert rows(spark, "colonnade.statics.alike") == FIRST
    spark.sql("CREATE TABLE colonnade.statics.none (a INT)")
    assert "has no static columns" in spark.refusal("SELECT * FROM colonnade.statics.none.statics")


def test_null_and_a_missing_column_leave_a_value(spark: SparkShell) -> None:
    spark.sql(f"INSERT INTO {T} (k, day, ts, v) VALUES ('', DATE'1969-12-31', 3, 'e')")
    spark.sql(f"INSERT INTO {T} (k, day, ts, owner) VALUES ('😀', DATE'0001-01-01', 2, 'eve')")
    spark.sql(f"INSERT INTO {T} VALUES ('😀', DATE'0001-01-01', 3, 'f', NULL, NULL)")
    wanted = [*FIRST, [*ANN, 3, "e", "ann", "x"], [*BOB, 2, None, "eve", None]]
    wanted = [[*r[:4], "eve", None] if r[:2] == BOB else r for r in wanted]
    wanted = sorted([*wanted, [*BOB, 3, "f", "eve", None]], key=lambda r: r[:3])
    assert rows(spark) == wanted == of_python(spark)
    assert spark.sql(f"SELECT owner FROM {T}.statics VERSION AS OF 2 ORDER BY 1") == [
        ["ann"],
        ["bob"],
    ]
    assert rows(spark, f"{T} VERSION AS OF 2") == FIRST


def test_update_sets_static_columns_and_writes_no_row(spark: SparkShell) -> None:
    before = spark.sql(f"SELECT rowset, deleted_rows FROM {T}.rowsets")
    spark.sql(f"UPDATE {T} SET owner = concat(owner, k, '!') WHERE v = 'c'")
    spark.sql(f"UPDATE {T} SET place = NULL WHERE owner = 'ann' AND ts = 1")
    spark.sql(f"UPDATE {T} SET place = NULL WHERE k = ''")
    table = colonnade.open(spark.folder / "warehouse" / "statics" / "t")
    assert [each.metrics.get("rows_updated") for each in table.history(2)] == [1, 1]
    assert spark.sql(f"SELECT rowset, deleted_rows FROM {T}.rowsets") == before
    wanted = [
        [*ANN, 1, "a", "ann", None],
        [*ANN, 2, "b", "ann", None],
        [*NONE, 1, "d", None, None],
        [*BOB, 1, "c", "bob😀!", None],
    ]
    assert rows(spark) == wanted == of_python(spark)
    spark.sql(f"UPDATE {T} SET v = owner, owner = v WHERE ts = 1 AND k = ''")
    wanted[0][3:5], wanted[1][4], wanted[2][3:5] = ["ann", "a"], "a", [None, "d"]
    assert rows(spark) == wanted == of_python(spark)
    spark.sql(f"DELETE FROM {T} WHERE owner = 'a'")
    assert rows(spark) == wanted[2:] == of_python(spark)
    assert statics(spark)[0] == [*ANN, "a", None]


def test_a_procedure_adds_a_static_column(spark: SparkShell) -> None:
    plain = "colonnade.statics.grown"
    spark.sql(
        f"CREATE TABLE {plain} (k STRING NOT NULL, n INT NOT NULL)"
        " TBLPROPERTIES ('primaryKey' = 'k, n')"
    )
    spark.sql(f"INSERT INTO {plain} VALUES ('a', 1), ('a', 2), ('b', 1)")
    added = f"CALL colonnade.system.add_static_column('{plain}', "
    [[epoch]] = spark.sql(f"{added}'room', 'struct<x: int, y: array<string>>')")
    table = colonnade.open(spark.folder / "warehouse" / "statics" / "grown")
    assert [epoch] == [each.epoch for each in table.history(1)]
    assert dict(spark.sql(f"SHOW TBLPROPERTIES {plain}"))["static"] == "room"
    spark.sql(f"UPDATE {plain} SET room = named_struct('x', 7, 'y', array(k)) WHERE k = 'a'")
    assert spark.sql(f"SELECT k, n, room.x, room.y FROM {plain} ORDER BY k, n") == [
        ["a", 1, 7, ["a"]],
        ["a", 2, 7, ["a"]],
        ["b", 1, None, None],
    ]
    for arguments, sentence in (
        ("'room', 'int'", "'room'"),
        ("'z', 'int NOT NULL'", "NOT NULL"),
        ("'z', 'nothing'", "has no type 'nothing'"),
    ):
        assert sentence in spark.refusal(f"{added}{arguments})")
    spark.sql(f"DROP TABLE {plain}")


def test_statements_change_the_table_of_static_values_alone(spark: SparkShell) -> None:
    spark.sql(f"INSERT INTO {T}.statics (k, day, owner) VALUES ('new', DATE'2000-01-01', 'eve')")
    spark.sql(f"UPDATE {T}.statics SET owner = upper(owner) WHERE place.b = 'x' OR k = 'new'")
    spark.sql(
        f"MERGE INTO {T}.statics s USING (SELECT * FROM VALUES ('', DATE'1970-01-01'),"
        " ('😀', DATE'0001-01-01') AS x(k, day)) u ON s.k = u.k AND s.day = u.day"
        " WHEN MATCHED THEN UPDATE SET owner = 'bill'"
        " WHEN NOT MATCHED THEN INSERT (k, day, owner) VALUES (u.k, u.day, 'dora')"
    )
    assert statics(spark) == [
        [*ANN, "ANN", "x"],
        [*NONE, "dora", None],
        ["new", "2000-01-01", "EVE", None],
        [*BOB, "bill", None],
    ]
    spark.sql(f"INSERT INTO {T} (k, day, ts, v) VALUES ('new', DATE'2000-01-01', 5, 'e')")
    spark.sql(f"DELETE FROM {T}.statics WHERE owner = 'bill'")
    wanted: list[list[Any]] = [
        [*ANN, 1, "a", "ANN", "x"],
        [*ANN, 2, "b", "ANN", "x"],
        [*NONE, 1, "d", "dora", None],
        ["new", "2000-01-01", 5, "e", "EVE", None],
        [*BOB, 1, "c", None, None],
    ]
    assert rows(spark) == wanted == of_python(spark)
    spark.sql("USE colonnade.statics")
    try:
        spark.sql("UPDATE t.statics SET owner = 'bo' WHERE owner = 'dora'")
        assert spark.sql("SELECT owner FROM t.statics WHERE owner LIKE 'bo%'") == [["bo"]]
        past = "SELECT owner FROM t.statics VERSION AS OF 2 WHERE owner LIKE 'bo%'"
        assert spark.sql(past) == [["bob"]]
    finally:
        spark.sql("USE spark_catalog.default")
    spark.sql(f"TRUNCATE TABLE {T}.statics")
    assert rows(spark) == [[*row[:4], None, None] for row in wanted] == of_python(spark)


def test_merge_brings_static_values_with_new_rows(spark: SparkShell) -> None:
    source = (
        "(SELECT '' k, DATE'1969-12-31' day, id ts, concat('m', id) v, 'max' owner FROM"
        " range(2, 4)) s"
    )
    on = f"MERGE INTO {T} USING {source} ON t.k = s.k AND t.day = s.day AND t.ts = s.ts"
    insert = "WHEN NOT MATCHED THEN INSERT (k, day, ts, v, owner) VALUES (k, day, ts, v, s.owner)"
    spark.sql(f"{on} WHEN MATCHED THEN UPDATE SET v = s.v {insert}")
    wanted = [[*r[:4], "max", "x"] if r[:2] == ANN else r for r in FIRST]
    wanted[1][3] = "m2"
    wanted.insert(2, [*ANN, 3, "m3", "max", "x"])
    assert rows(spark) == wanted == of_python(spark)
    refused = spark.refusal(f"{on} WHEN MATCHED THEN UPDATE SET owner = s.owner")
    assert "MERGE cannot set static column 'owner'" in refused
    spark.sql(
        f"MERGE INTO {T} USING {source} ON t.owner = s.owner AND t.ts = s.ts"
        " WHEN MATCHED THEN DELETE"
    )
    assert rows(spark) == [wanted[0], *wanted[3:]]


def test_overwrites_keep_static_values_that_new_rows_do_not_bring(spark: SparkShell) -> None:
    new = "('', DATE'1969-12-31', 9, 'n', 'ann', NULL)"
    spark.sql(f"INSERT INTO {T} REPLACE WHERE owner = 'ann' VALUES {new}")
    assert rows(spark) == [[*ANN, 9, "n", "ann", "x"], *FIRST[2:]]
    refused = spark.refusal(f"INSERT INTO {T} REPLACE WHERE owner = 'bob' VALUES {new}")
    assert "do not meet the condition" in refused
    option = ".write.format('colonnade').mode('overwrite').option('replaceWhere', \"owner = 'a'\")"
    refused = spark.refused_run(
        f"spark.table('{T}'){option}.save(f'{{folder}}/warehouse/statics/t')"
    )
    assert "a static column of table" in refused
    spark.sql(f"INSERT OVERWRITE {T} VALUES {new}")
    assert rows(spark) == [[*ANN, 9, "n", "ann", "x"]] == of_python(spark)
    assert len(statics(spark)) == 2


def test_rows_are_divided_after_they_have_their_values(spark: SparkShell) -> None:
    made = "colonnade.statics.given"
    spark.sql(
        f"CREATE TABLE {made} (id BIGINT GENERATED BY DEFAULT AS IDENTITY, k STRING NOT NULL,"
        " v INT, owner STRING, CHECK (id < 90 OR v > 0)) TBLPROPERTIES"
        " ('partitionKey' = 'k, id', 'static' = 'owner', 'invalid-text' = 'replace')"
    )
    spark.sql(f"INSERT INTO {made} (k, v, owner) VALUES ('a', 1, 'ann'), ('b', 2, NULL)")
    spark.sql(f"INSERT INTO {made} VALUES (7, CAST(X'FF' AS STRING), 3, CAST(X'61FF' AS STRING))")
    late = [7, "\ufffd", 3, "a\ufffd"]
    assert spark.sql(f"SELECT * FROM {made} ORDER BY v") == [
        [1, "a", 1, "ann"], [2, "b", 2, None], late,
    ]  # fmt: skip
    refused = spark.refusal(f"INSERT INTO {made} VALUES (90, 'a', 0, 'x')")
    assert "CHECK_CONSTRAINT_VIOLATION" in refused
    spark.sql(f"UPDATE {made} SET owner = concat(owner, id), v = v + 1 WHERE v = 1")
    spark.sql(f"UPDATE {made} SET owner = 'bob' WHERE v = 2 AND k = 'b'")
    spark.sql(
        f"MERGE INTO {made} t USING (SELECT 'c' k, 9 v) s ON t.k = s.k WHEN NOT MATCHED THEN"
        " INSERT (k, v, owner) VALUES (s.k, s.v, 'cy')"
    )
    ((new, *_),) = spark.sql(f"SELECT id FROM {made} WHERE k = 'c'")
    rest = [[1, "a", 2, "ann1"], [2, "b", 2, "bob"], [new, "c", 9, "cy"]]
    assert spark.sql(f"SELECT * FROM {made} WHERE id <> 7 ORDER BY k") == rest
    where = "REPLACE WHERE owner = 'a\ufffd' AND id > 5 VALUES"
    spark.sql(f"INSERT INTO {made} {where} (7, 'z', 5, CAST(X'61FF' AS STRING))")
    assert spark.sql(f"SELECT * FROM {made} WHERE id = 7") == [[7, "z", 5, "a\ufffd"]]
    assert spark.sql(f"SELECT owner FROM {made}.statics WHERE id = 7 ORDER BY k") == [
        ["a\ufffd"], ["a\ufffd"],
    ]  # fmt: skip
    refused = spark.refusal(f"INSERT INTO {made} {where} (7, 'z', 5, CAST(X'62FF' AS STRING))")
    assert "do not meet the condition" in refused


def test_data_frames_builders_and_transactions_bring_static_values(spark: SparkShell) -> None:
    path = "f'{folder}/warehouse/statics/built'"
    columns = ".addColumn('k', 'string').addColumn('ts', 'int').addColumn('owner', 'string')"
    spark.run(
        f"colonnade.Table.create(spark).location({path}){columns}.primaryKey('k', 'ts')"
        ".static('owner').partitionKey('k').execute() and None"
    )
    frame = "spark.createDataFrame([({!r}, {}, {!r})], 'k string, ts int, owner string')"
    save = f".write.format('colonnade').mode('append').save({path})"
    spark.run(frame.format("a", 1, "ann") + save)
    spark.run(frame.format("a", 2, "bob") + ".drop('owner')" + save)
    table = f"colonnade.Table.forPath(spark, {path})"
    spark.run(f"{table}.upsert({frame.format('a', 1, 'cy')}) and None")
    assert spark.run(f"{table}.toDF().orderBy('ts')") == [["a", 1, "cy"], ["a", 2, "cy"]]
    spark.run(f"{table}.update('ts = 1', {{'owner': \"'dan'\"}}) and None")
    assert spark.run(f"{table}.toDF().orderBy('ts')") == [["a", 1, "dan"], ["a", 2, "dan"]]


def test_columns_are_renamed_and_dropped_with_their_values(spark: SparkShell) -> None:
    spark.sql(f"ALTER TABLE {T} RENAME COLUMN owner TO boss")
    spark.sql(f"ALTER TABLE {T} DROP COLUMN place")
    spark.sql(f"ALTER TABLE {T} RENAME COLUMN k TO device")
    assert spark.sql(f"SELECT device, boss FROM {T} WHERE boss > 'b'") == [["😀", "bob"]]
    assert spark.sql(f"SELECT boss FROM {T}.statics ORDER BY 1") == [["ann"], ["bob"]]
    earlier = f"SELECT k, owner, place.b FROM {T} VERSION AS OF 2 WHERE owner = 'ann'"
    assert spark.sql(earlier) == [["", "ann", "x"]] * 2


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (f"UPDATE {T} SET owner = v", "one value for each partition key"),
        (f"UPDATE {T} SET owner = 'x', k = 'y'", "set them by two updates"),
        (f"ALTER TABLE {T} SET TBLPROPERTIES ('static' = 'v')", "'static' cannot be changed"),
        (f"INSERT INTO {T}.statics VALUES ('', DATE'1969-12-31', 'x', NULL)", "onDuplicate"),
        (f"DROP TABLE {T}.statics", "cannot be dropped"),
        (f"ALTER TABLE {T}.statics DROP COLUMN owner", "cannot be altered; it follows table"),
        (f"ALTER TABLE {T}.statics RENAME TO other", "cannot be renamed; it follows table"),
    ],
)
def test_what_cannot_be_done_is_refused(statement: str, sentence: str, spark: SparkShell) -> None:
    assert sentence in spark.refusal(statement)
    assert rows(spark) == FIRST


@pytest.mark.parametrize(
    ("columns", "properties", "sentence"),
    [
        ("k INT NOT NULL, o INT", "'static' = 'o'", "partition key"),
        ("k INT NOT NULL, o INT", "'static' = 'k', 'partitionKey' = 'k'", "static"),
        ("k INT NOT NULL, o INT NOT NULL", "'static' = 'o', 'partitionKey' = 'k'", "NOT NULL"),
        ("k INT NOT NULL, o INT", "'static' = 'p', 'partitionKey' = 'k'", "'p'"),
        ("k INT NOT NULL, o INT", "'partitionKey' = 'k'", "no static column"),
    ],
)
def test_a_table_that_cannot_be_is_refused(
    columns: str, properties: str, sentence: str, spark: SparkShell
) -> None:
    text = f"CREATE TABLE colonnade.statics.bad ({columns}) TBLPROPERTIES ({properties})"
    assert sentence in spark.refusal(text)
