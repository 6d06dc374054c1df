"""Upserts in Spark: rows with some of the columns merge into the rows that have their keys."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import colonnade
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.keyed_world import KEY, SCHEMA, KeyedWorld, expected, random_rows, sorted_rows, table_of
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

TABLE = "colonnade.upserts.t"
MERGE = ".option('onDuplicate', 'merge')"
database = kept_database(
    "upserts",
    f"CREATE TABLE {TABLE} (id BIGINT, must STRING NOT NULL, n INT DEFAULT 7, note STRING,"
    " PRIMARY KEY (id)) USING colonnade TBLPROPERTIES ('merge.n' = 'add')",
    f"INSERT INTO {TABLE} VALUES (1, 'a', 10, 'x'), (2, 'b', 20, 'y')",
)


@pytest.fixture
def spark(database: KeptDatabase) -> SparkShell:
    """With a table of two rows. Its key is `id`, and its column `must` is NOT NULL."""
    return database.ready()


def path(spark: SparkShell) -> Path:
    return spark.folder / "warehouse" / "upserts" / "t"


def rows(spark: SparkShell) -> list[list[Any]]:
    return spark.sql(f"SELECT * FROM {TABLE} ORDER BY id")


def frame(select: str) -> str:
    return f'spark.sql("SELECT * FROM VALUES {select}")'


def upsert(spark: SparkShell, rows: str, options: str = "") -> str:
    return f"colonnade.Table.forPath(spark, {str(path(spark))!r}).upsert({rows}{options})"


ONE = frame("(5, 2L) AS s(n, id)")
ROADS = {
    "Table.upsert": "colonnade.Table.forName(spark, 'TABLE').upsert(ONE)",
    "save": f"ONE.write.format('colonnade').mode('append'){MERGE}.save('PATH')",
    "saveAsTable": f"ONE.write.mode('append'){MERGE}.saveAsTable('TABLE')",
    "writeTo": f"ONE.writeTo('TABLE'){MERGE}.append()",
    "INSERT": "spark.sql('INSERT INTO TABLE (n, ID) VALUES (5, 2)')",
    "INSERT WITH": "spark.sql('WITH s AS (SELECT 5, 2) INSERT INTO TABLE (n, ID) SELECT * FROM s')",
    "BY NAME": "spark.sql('INSERT INTO TABLE BY NAME SELECT 2 AS id, 5 AS N')",
}


@pytest.mark.parametrize("road", ROADS)
def test_a_row_keeps_its_values_in_columns_that_are_left_out(spark: SparkShell, road: str) -> None:
    code = ROADS[road].replace("TABLE", TABLE).replace("PATH", str(path(spark)))
    if "spark.sql" in code:
        spark.sql(f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('onDuplicate' = 'merge')")
    spark.run(f"({code.replace('ONE', ONE)}, None)[1]")
    assert rows(spark) == [[1, "a", 10, "x"], [2, "b", 25, "y"]]


def test_new_rows_have_defaults_and_need_what_has_none(spark: SparkShell) -> None:
    done = spark.run(upsert(spark, frame("(3L, 'c'), (1L, 'A') AS s(id, must)")) + ".metrics()")
    assert (done["rows_updated"], done["rows_inserted"]) == (1, 1)
    assert rows(spark) == [[1, "A", 10, "x"], [2, "b", 20, "y"], [3, "c", 7, None]]
    alone = spark.run(upsert(spark, frame("(4L, 'd') AS s(id, must)")) + ".metrics()")
    assert (alone["rows_updated"], alone["rows_inserted"]) == (0, 1)
    refusal = spark.refused_run(upsert(spark, frame("(1L, 1), (9L, 1) AS s(id, n)")))
    assert "Column 'must' of table 't' is NOT NULL" in refusal
    assert "key id = 9 is new" in refusal
    assert len(rows(spark)) == 4


@pytest.mark.matrix
def test_an_insert_says_default_where_it_means_a_value(spark: SparkShell) -> None:
    spark.sql(f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('onDuplicate' = 'merge')")
    spark.sql(f"INSERT INTO {TABLE} (id, n, must) VALUES (2, DEFAULT, 'B')")
    spark.sql(f"INSERT INTO {TABLE} VALUES (1, 'z', 1, DEFAULT)")
    assert rows(spark) == [[1, "z", 11, None], [2, "B", 27, "y"]]
    for few in ("VALUES (1, 'Z')", "SELECT 1, 'Z'"):
        assert "INSERT_COLUMN_ARITY_MISMATCH" in spark.refusal(f"INSERT INTO {TABLE} {few}")
    few = frame("(1L, 'Z') AS s(id, must)") + f".write.insertInto('{TABLE}')"
    assert "INSERT_COLUMN_ARITY_MISMATCH" in spark.refused_run(few)
    assert rows(spark)[0] == [1, "z", 11, None]


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("select", "options", "sentence"),
    [
        ("(1) AS s(n)", "", "The rows lack column 'id' of the primary key of table 't'"),
        ("(1L, 1) AS s(id, zzz)", "", "zzz"),
        ("(CAST(NULL AS BIGINT), 1) AS s(id, n)", "", "NULL"),
        ("(1L, 2147483647) AS s(id, n)", "", "id = 1"),
        ("(1L) AS s(id)", ", {'onDuplicate': 'ignore'}", "An upsert always merges"),
    ],
)
def test_rows_that_cannot_be_merged_are_refused(
    spark: SparkShell, select: str, options: str, sentence: str
) -> None:
    before = colonnade.open(path(spark)).epoch
    assert sentence in spark.refused_run(upsert(spark, frame(select), options))
    assert colonnade.open(path(spark)).epoch == before


@pytest.mark.matrix
def test_unknown_columns_are_ignored_or_added_on_demand(spark: SparkShell) -> None:
    more = frame("(1L, 1, true) AS s(id, n, more)")
    spark.run(upsert(spark, more, ", {'ignoreUnknownColumns': 'true'}") + ".metrics()")
    assert rows(spark)[0] == [1, "a", 11, "x"]
    spark.run(upsert(spark, more, ", {'mergeSchema': 'true'}") + ".metrics()")
    assert rows(spark) == [[1, "a", 12, "x", True], [2, "b", 20, "y", None]]


@pytest.mark.matrix
def test_a_batch_that_is_sent_again_counts_once(spark: SparkShell) -> None:
    options = ", {'txnAppId': 'feed', 'txnVersion': '3'}"
    for _ in range(2):
        spark.run(upsert(spark, ONE, options) + ".metrics()")
    assert rows(spark)[1] == [2, "b", 25, "y"]
    spark.run(upsert(spark, ONE, options.replace("3", "4")) + ".metrics()")
    assert rows(spark)[1][2] == 30


@pytest.mark.matrix
def test_a_constraint_holds_for_the_merged_row(spark: SparkShell) -> None:
    spark.sql(f"ALTER TABLE {TABLE} ADD CONSTRAINT low CHECK (n BETWEEN 6 AND 30)")
    spark.run(upsert(spark, frame("(1L, -4) AS s(id, n)")) + ".metrics()")
    assert rows(spark)[0][2] == 6
    for select in ("(1L, -1) AS s(id, n)", "(3L, 5, 'c') AS s(id, n, must)"):
        assert "'low'" in spark.refused_run(upsert(spark, frame(select)))


@pytest.mark.matrix
def test_generated_columns_follow_the_merged_row(spark: SparkShell) -> None:
    table = "colonnade.upserts.g"
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, n INT, twice INT GENERATED ALWAYS AS (n * 2),"
        " v STRING, PRIMARY KEY (id)) USING colonnade TBLPROPERTIES ('merge.n' = 'add')"
    )
    for select in ("(1L, 3, 'a'), (2L, 4, 'b') AS s(id, n, v)", "(1L, 1) AS s(id, n)"):
        spark.run(f"{frame(select)}.writeTo('{table}'){MERGE}.append()")
    spark.run(f"{frame('(2L, NULL) AS s(id, v)')}.writeTo('{table}'){MERGE}.append()")
    assert spark.sql(f"SELECT * FROM {table} ORDER BY id") == [[1, 4, 8, "a"], [2, 4, 8, None]]


@pytest.mark.matrix
def test_an_identity_column_keeps_the_value_of_its_row(spark: SparkShell) -> None:
    table = "colonnade.upserts.i"
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, number BIGINT GENERATED ALWAYS AS IDENTITY, v INT,"
        " PRIMARY KEY (id)) USING colonnade"
    )
    for select in ("(1L, 1), (2L, 2) AS s(id, v)", "(2L, 20), (3L, 30) AS s(id, v)"):
        spark.run(f"{frame(select)}.writeTo('{table}'){MERGE}.append()")
    found = spark.sql(f"SELECT * FROM {table} ORDER BY id")
    assert [[row[0], row[2]] for row in found] == [[1, 1], [2, 20], [3, 30]]
    assert [row[1] for row in found][:2] == [1, 2]
    assert found[2][1] > 2


@pytest.mark.matrix
def test_a_transaction_sees_and_keeps_its_upserts(spark: SparkShell) -> None:
    start = f"colonnade.Database.forPath(spark, {str(path(spark).parent)!r}).transaction()"
    table = "tx.table('t')"
    more = frame("(2L, 1), (1L, 1) AS s(id, n)")
    done = spark.run(
        f"[(tx, {table}.upsert({ONE}), {table}.upsert({more}), {table}.toDF().count(), tx.commit())"
        f" for tx in [{start}]][0][3]"
    )
    assert done == 2
    assert rows(spark) == [[1, "a", 11, "x"], [2, "b", 26, "y"]]


def test_keys_are_deleted_by_a_frame(spark: SparkShell) -> None:
    delete = f"colonnade.Table.forPath(spark, {str(path(spark))!r}).deleteKeys"
    done = spark.run(f"{delete}(spark.range(2, 9)).metrics()")
    assert done["rows_deleted"] == 1
    assert [row[0] for row in rows(spark)] == [1]
    assert "zzz" in spark.refused_run(f"{delete}(spark.range(1).toDF('zzz'))")
    assert "must be a DataFrame" in spark.refused_run(f"{delete}([1])")
    spark.sql("CREATE TABLE colonnade.upserts.plain AS SELECT 1 AS id")
    plain = path(spark).with_name("plain")
    for call in ("deleteKeys(spark.range(1))", "upsert(spark.range(1).toDF('id'))"):
        refusal = spark.refused_run(f"colonnade.Table.forPath(spark, {str(plain)!r}).{call}")
        assert "no primary key" in refusal


def test_a_late_row_of_a_deleted_key_stays_out_and_no_query_sees_what_remembers_it(
    spark: SparkShell,
) -> None:
    table = "colonnade.upserts.late"
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, at BIGINT, v STRING NOT NULL, PRIMARY KEY (id))"
        " USING colonnade TBLPROPERTIES ('sequence' = 'at')"
    )
    spark.sql(f"INSERT INTO {table} VALUES (1, 5, 'a'), (2, 5, 'b')")
    place = str(path(spark).with_name("late"))
    deleted = "spark.sql('SELECT * FROM VALUES (1L, 7L), (2L, 3L), (3L, 9L) AS s(id, at)')"
    delete = f"colonnade.Table.forPath(spark, {place!r}).deleteKeys"
    assert spark.run(f"{delete}({deleted}).metrics()")["rows_deleted"] == 1
    assert "lack the sequence 'at'" in spark.refused_run(f"{delete}(spark.range(3))")
    found = "SELECT count(*), min(id), max(id), max(at), count(v) FROM"
    assert spark.sql(f"{found} {table}") == [[1, 2, 2, 5, 1]]
    late = frame("(1L, 6L, 'late'), (3L, 8L, 'late'), (3L, 10L, 'new') AS s(id, at, v)")
    spark.run(f"{late}.writeTo('{table}'){MERGE}.append()")
    assert spark.sql(f"SELECT * FROM {table} ORDER BY id") == [[2, 5, "b"], [3, 10, "new"]]
    spark.sql("CALL colonnade.system.compact(table => 'upserts.late', options => 'min-rowsets=2')")
    assert spark.sql(f"{found} {table}") == [[2, 2, 3, 10, 2]]
    assert len(colonnade.open(place)._log.rowsets.read(colonnade.open(place)._state)) == 1


@pytest.mark.parametrize("seed", range(3))
def test_batches_merge_as_in_a_dictionary(spark: SparkShell, seed: int) -> None:
    rng = random.Random(seed)
    world = KeyedWorld.chosen(rng)
    table = colonnade.open_database(path(spark).parent).create_table(
        f"w{seed}", arrow_schema(SCHEMA), primary_key=KEY, properties=world.properties
    )
    for number in range(4):
        columns = world.columns(rng)
        batch = random_rows(rng, columns, rng.randrange(1, 9))
        file = spark.folder / f"batch-{seed}-{number}.parquet"
        pq.write_table(table_of(batch, columns), file)
        done = spark.run(
            f"colonnade.Table.forPath(spark, {table.path!r})"
            f".upsert(spark.read.parquet({str(file)!r})).metrics()"
        )
        assert (done["rows_updated"], done["rows_inserted"]) == world.upsert(batch)
        table.refresh()
        assert sorted_rows(table.scan().to_arrow()).equals(expected(world))
