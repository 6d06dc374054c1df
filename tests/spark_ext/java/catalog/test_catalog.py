"""The catalog `colonnade`: databases in a warehouse, tables anywhere, and their description."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, cast

import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext import session
from colonnade.spark_ext.supported import is_supported
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

database = kept_database("db")


@pytest.fixture
def spark(database: KeptDatabase) -> SparkShell:
    """With an empty database `db`."""
    return database.ready()


def details(spark: SparkShell, table: str) -> dict[str, str]:
    return {row[0]: row[1] for row in spark.sql(f"DESCRIBE TABLE EXTENDED {table}")}


def test_databases_are_folders_of_the_warehouse(spark: SparkShell) -> None:
    assert ["db"] in spark.sql("SHOW DATABASES IN colonnade")
    assert colonnade.open_database(spark.folder / "warehouse" / "db").tables() == []
    spark.sql("CREATE TABLE colonnade.db.t (a INT)")
    assert spark.sql("SHOW TABLES IN colonnade.db") == [["db", "t", False]]
    assert "SCHEMA_NOT_EMPTY" in spark.refusal("DROP DATABASE colonnade.db")
    spark.sql("DROP DATABASE colonnade.db CASCADE")
    assert ["db"] not in spark.sql("SHOW DATABASES IN colonnade")
    assert not (spark.folder / "warehouse" / "db").exists()
    spark.sql("CREATE DATABASE IF NOT EXISTS colonnade.db")
    spark.sql("CREATE DATABASE IF NOT EXISTS colonnade.db")
    assert "SCHEMA_ALREADY_EXISTS" in spark.refusal("CREATE DATABASE colonnade.db")


def test_a_damaged_database_hides_no_other_database_and_can_be_dropped(spark: SparkShell) -> None:
    warehouse = spark.folder / "warehouse"
    stray = warehouse / "stray"
    stray.touch()
    spark.sql("CREATE DATABASE colonnade.damaged")
    for file in (warehouse / "damaged" / "_manifest").iterdir():
        file.chmod(0o644)
        file.write_bytes(b"garbage")
    found = spark.sql("SHOW DATABASES IN colonnade")
    assert ["db"] in found
    assert ["damaged"] in found
    assert ["stray"] not in found
    assert "COLONNADE_CORRUPTION" in spark.refusal("SHOW TABLES IN colonnade.damaged")
    spark.sql("DROP DATABASE colonnade.damaged CASCADE")
    assert not (warehouse / "damaged").exists()
    stray.unlink()


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("CREATE DATABASE colonnade.other COMMENT 'c'", "has no comment"),
        ("CREATE DATABASE colonnade.other LOCATION '/x'", "has no location"),
        ("CREATE DATABASE colonnade._x", "Table name '_x' must have"),
        ("CREATE DATABASE colonnade.db.other", "databases do not nest"),
        ("ALTER DATABASE colonnade.db SET PROPERTIES (a = 'b')", "nothing that could be altered"),
        ("CREATE TABLE colonnade.db.t (a INT) LOCATION '/x'", "create colonnade.`/x` instead"),
        ("CREATE TABLE colonnade.db.t (a INT) LOCATION 'x'", "leave out LOCATION or create"),
        ("CREATE EXTERNAL TABLE colonnade.db.t (a INT)", "needs a LOCATION; leave out EXTERNAL"),
        ("CREATE TABLE colonnade.db.`../t` (a INT)", "Path ../t is relative"),
        ("CREATE TABLE colonnade.db.t (a INT) USING csv", "only Colonnade tables"),
        ("CREATE TABLE colonnade.db.t USING orc AS SELECT 1 AS a", "only Colonnade tables"),
        ("CREATE TABLE colonnade.db.t (a INT) STORED AS PARQUET", "format of a Colonnade table"),
        ("CREATE TABLE colonnade.db.t (a INT) ROW FORMAT SERDE 'x'", "format of a Colonnade table"),
        ("CREATE TABLE colonnade.db.t (a INT) OPTIONS (x = 'y')", "keep options, such as x;"),
        ("SELECT * FROM colonnade.none", "none does not exist; a path has a slash"),
        ("CREATE TABLE colonnade.db.t (a INT) PARTITIONED BY (x(a))", "Transform 'x' of column"),
        ("CREATE TABLE colonnade.db.t (a VOID)", "All columns of the table are void"),
        ("CREATE TABLE colonnade.db.t (_row_handler INT)", "'_row_handler' is reserved"),
        ("CREATE TABLE colonnade.db.t (__row_from_source INT)", "'__row_from_source' is reserved"),
        ("CREATE TABLE colonnade.db.t AS SELECT 1 AS __row_id", "'__row_id' is reserved"),
        ("CREATE TABLE colonnade.db.t (a INT) CLUSTER BY (b)", "b"),
        ("CREATE TABLE colonnade.db.t (a INT) TBLPROPERTIES (sortKey = 'b')", "'b' does not exist"),
        ("CALL colonnade.system.nothing('db.t')", "the procedures of colonnade.system are: "),
        ("CALL colonnade.system.history('db.none')", "Table 'none' does not exist"),
        ("CALL colonnade.system.history('db.none', -1)", "from 0, not -1"),
    ],
)
def test_a_statement_that_the_catalog_lacks_is_refused(
    spark: SparkShell, statement: str, sentence: str
) -> None:
    assert sentence in spark.refusal(statement)


def test_a_table_is_created_as_described(spark: SparkShell) -> None:
    spark.sql(
        "CREATE TABLE colonnade.db.t (id BIGINT NOT NULL COMMENT 'key', name VARCHAR(10),"
        " s STRUCT<x: INT, y: ARRAY<STRING>>) COMMENT 'hello' TBLPROPERTIES (owner2 = 'me')"
        " CLUSTER BY (id, name)"
    )
    state = colonnade.open(spark.folder / "warehouse" / "db" / "t")._state
    assert [key.column for key in state.sort_key] == [1, 2]
    assert (state.comment, dict(state.properties)) == ("hello", {"owner2": "me"})
    column = state.schema.fields[0]
    assert (column.nullable, column.comment) == (False, "key")
    assert state.schema.fields[1].type == "varchar(10)"
    found = details(spark, "colonnade.db.t")
    assert (found["Comment"], found["Provider"]) == ("hello", "colonnade")
    assert found["Location"] == str(spark.folder / "warehouse" / "db" / "t")
    assert spark.sql("SHOW TBLPROPERTIES colonnade.db.t") == [["owner2", "me"]]
    assert "ALREADY_EXISTS" in spark.refusal("CREATE TABLE colonnade.db.t (a INT)")
    spark.sql("CREATE TABLE IF NOT EXISTS colonnade.db.t (a INT)")


def test_a_table_like_another_one_has_its_design_and_no_rows(spark: SparkShell) -> None:
    design = "(a INT NOT NULL COMMENT 'c', b CHAR(3)) CLUSTER BY (b) COMMENT 'd'"
    spark.sql(f"CREATE TABLE colonnade.db.t {design} TBLPROPERTIES ('k' = 'v', 'l' = 'w')")
    spark.sql("INSERT INTO colonnade.db.t VALUES (1, 'x')")
    spark.sql("CREATE TABLE colonnade.db.u LIKE colonnade.db.t TBLPROPERTIES ('k' = 'x')")
    spark.sql("CREATE TABLE named LIKE colonnade.db.t")
    for name, value in [("colonnade.db.u", "x"), ("named", "v")]:
        assert spark.sql(f"SELECT * FROM {name}") == []
        text = spark.sql(f"SHOW CREATE TABLE {name}")[0][0]
        for part in ("a INT NOT NULL COMMENT 'c'", "b CHAR(3)", "cluster_by(b)", "COMMENT 'd'"):
            assert part in text
        assert spark.sql(f"SHOW TBLPROPERTIES {name}") == [["k", value], ["l", "w"]]
    assert spark.sql("SELECT count(*) FROM named.history") == [[1]]
    spark.sql("CREATE TABLE other (a INT, b STRING) USING parquet PARTITIONED BY (b)")
    spark.sql("CREATE TABLE colonnade.db.v LIKE other")
    assert colonnade.open(spark.folder / "warehouse" / "db" / "v").partitioning == ("b",)
    text = spark.refusal("CREATE TABLE colonnade.db.w LIKE other USING orc")
    assert "only Colonnade tables" in text
    for name in ("named", "other"):
        spark.sql(f"DROP TABLE {name}")


@pytest.mark.parametrize("key", ["", "CLUSTER BY (b, a)", "TBLPROPERTIES (sortKey = 'b, a DESC')"])
def test_show_create_table_creates_the_same_table(spark: SparkShell, key: str) -> None:
    spark.sql(f"CREATE TABLE colonnade.db.t (a INT NOT NULL COMMENT 'c', b CHAR(3)) {key}")
    text = spark.sql("SHOW CREATE TABLE colonnade.db.t")[0][0]
    spark.sql("DROP TABLE colonnade.db.t")
    spark.sql(text)
    states = [
        colonnade.open_database(spark.folder / "warehouse" / "db")._snapshot,
    ]
    again = colonnade.open(spark.folder / "warehouse" / "db" / "t")._state
    assert [(f.name, f.type, f.nullable, f.comment) for f in again.schema.fields] == [
        ("a", "int", False, "c"),
        ("b", "char(3)", True, None),
    ]
    descending = [field.descending for field in again.sort_key]
    assert descending == {"": [], "C": [False, False], "T": [False, True]}[key[:1]]
    assert len(states[0].tables) == 1


def test_a_path_is_a_name_in_every_statement(spark: SparkShell) -> None:
    name = f"colonnade.`{spark.folder}/lone`"
    spark.sql(f"CREATE TABLE {name} (a INT) CLUSTER BY (a)")
    spark.sql(f"INSERT INTO {name} VALUES (1), (2)")
    spark.sql(f"ALTER TABLE {name} ADD COLUMN b STRING")
    spark.sql(f"INSERT OVERWRITE {name} SELECT a + 1, 'x' FROM {name}")
    assert spark.sql(f"SELECT * FROM {name} ORDER BY a") == [[2, "x"], [3, "x"]]
    assert spark.sql(f"SELECT * FROM {name} VERSION AS OF 2 ORDER BY a") == [[1], [2]]
    assert details(spark, name)["Location"] == f"{spark.folder}/lone"
    assert spark.sql(f"SELECT count(*) FROM {name}.history") == [[4]]
    assert "move the folder" in spark.refusal(f"ALTER TABLE {name} RENAME TO other")
    spark.sql(f"CREATE OR REPLACE TABLE {name} AS SELECT 'z' AS z")
    assert spark.sql(f"SELECT * FROM {name}") == [["z"]]
    spark.sql(f"TRUNCATE TABLE {name}")
    assert spark.sql(f"SELECT * FROM {name}") == []
    spark.sql(f"DROP TABLE {name}")
    assert "NOT_FOUND" in spark.refusal(f"DROP TABLE {name}")
    spark.sql(f"DROP TABLE IF EXISTS {name}")


def test_a_table_of_a_database_anywhere_is_named_by_path_and_name(spark: SparkShell) -> None:
    colonnade.create_database(spark.folder / "elsewhere")
    spark.sql(f"CREATE TABLE colonnade.`{spark.folder}/elsewhere`.t AS SELECT 7 AS a")
    for name in (f"`{spark.folder}/elsewhere`.t", f"`{spark.folder}/elsewhere/t`"):
        assert spark.sql(f"SELECT a FROM colonnade.{name}") == [[7]]
        assert spark.sql(f"SELECT count(*) FROM colonnade.{name}.history") == [[1]]
    assert spark.sql(f"SHOW TABLES IN colonnade.`{spark.folder}/elsewhere`")[0][1] == "t"


def test_tables_about_a_table_show_its_state(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE colonnade.db.t (a INT, s STRUCT<x: INT>) TBLPROPERTIES (k = 'v')")
    spark.sql("INSERT INTO colonnade.db.t VALUES (1, NULL), (NULL, NULL)")
    history = "SELECT version, operation, operationMetrics['numOutputRows'] FROM "
    assert spark.sql(history + "colonnade.db.t.history") == [
        [2, "WRITE", "2"],
        [1, "CREATE TABLE", None],
    ]
    assert spark.sql("SELECT rowset, epoch, rows FROM colonnade.db.t.rowsets") == [[0, 2, 2]]
    columns = "SELECT id, name, type, null_count FROM colonnade.db.t.columns"
    assert spark.sql(columns) == [
        [1, "a", "int", 1],
        [2, "s", "struct<x:int>", 2],
        [3, "s.x", "int", None],
    ]
    assert spark.sql("SELECT * FROM colonnade.db.t.properties") == [["k", "v"]]
    assert "cannot be dropped" in spark.refusal("DROP TABLE colonnade.db.t.history")
    assert "NOT_FOUND" in spark.refusal("SELECT * FROM colonnade.db.t.nothing")
    assert "NOT_FOUND" in spark.refusal("SELECT * FROM colonnade.db.none.history")


def test_procedures_take_named_arguments_and_give_rows(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE colonnade.db.t AS SELECT 1 AS a")
    spark.sql("INSERT INTO colonnade.db.t VALUES (2)")
    assert [row[0] for row in spark.sql("CALL colonnade.system.history('db.t')")] == [2, 1]
    for table in ("colonnade.db.t", f"{spark.folder}/warehouse/db/t"):
        rows = spark.sql(f"CALL colonnade.system.history(limit => 1, table => '{table}')")
        assert [row[0] for row in rows] == [2]
    assert spark.sql("CALL colonnade.system.checkpoint('db.t')") == [[2, 2]]
    assert {row[3] for row in spark.sql("SHOW PROCEDURES IN colonnade.system")} == {
        *("history", "detail", "checkpoint", "compact", "plan_compaction", "set_partitioning"),
        *("vacuum", "plan_vacuum", "verify", "repair", "begin", "commit", "rollback"),
        *("statement_counts", "refresh", "restore", "tag", "untag", "tags"),
        *("add_column", "add_static_column", "backfill"),
        *("consumers", "create_consumer", "reset_consumer", "drop_consumer"),
    }
    for table in ("spark_catalog.default.none", "spark_catalog.a.b.c", "a.b.c"):
        call = f"CALL colonnade.system.checkpoint('{table}')"
        assert f"Table {table} does not exist" in spark.refusal(call)
    options = "options => 'min-rowsets=2'"
    planned = spark.sql(f"CALL colonnade.system.plan_compaction('db.t', {options})")
    assert [row[:3] for row in planned] == [["rewrite", 2, 2]]
    done = spark.sql(f"CALL colonnade.system.compact(table => 'db.t', {options}, zorder_by => 'a')")
    [[path, metrics]] = done
    assert path.endswith("/db/t")
    assert metrics[:2] == [1, 2]
    assert "UNRECOGNIZED_PARAMETER_NAME" in spark.refusal("CALL colonnade.system.history(x => 1)")
    vacuum = "CALL colonnade.system.vacuum(table => 'db.t', retention_hours => 0, dry_run => "
    assert spark.sql(f"{vacuum}true)")[0][1] is None
    planned = spark.sql("CALL colonnade.system.plan_vacuum('db.t', retention_hours => 0)")
    assert [os.path.getsize(path) for path, _ in planned] == [size for _, size in planned]
    assert planned
    assert "force => true" in spark.refusal(f"{vacuum}false)")
    assert spark.sql(f"{vacuum}false, force => true)")[0][1] is not None
    assert spark.sql("CALL colonnade.system.verify('db.t', 4)") == []
    assert len(spark.sql("CALL colonnade.system.repair('db.t')")) == 1
    assert spark.sql("SELECT sum(a) FROM colonnade.db.t") == [[3]]


def test_a_user_of_sql_alone_tags_and_restores(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE colonnade.db.t AS SELECT 1 AS a")
    assert spark.sql("CALL colonnade.system.tag('first', 'db.t')") == [["first", 1]]
    spark.sql("INSERT INTO colonnade.db.t VALUES (2)")
    spark.sql("CACHE TABLE colonnade.db.t")
    restored = spark.sql("CALL colonnade.system.restore('db.t', tag => 'first')")
    assert [row[1:4] + row[6:] for row in restored] == [[1, 1, 0, 4, 1]]
    assert spark.sql("SELECT * FROM colonnade.db.t") == [[1]]
    spark.sql("DROP TABLE colonnade.db.t")
    assert spark.sql("CALL colonnade.system.restore(database => 'db', epoch => 3)")[0][6:] == [6, 3]
    assert spark.sql("SELECT count(*) FROM colonnade.db.t") == [[2]]
    later = "timestamp => TIMESTAMP '2100-01-01 00:00:00'"
    assert spark.sql(f"CALL colonnade.system.restore('db.t', {later})")[0][6:] == [6, 6]
    early = spark.refusal("CALL colonnade.system.restore('db.t', timestamp => '2001-01-01')")
    assert "did not exist yet at 2001-01-01 05:00:00.000 UTC" in early  # New York's midnight
    assert spark.sql("CALL colonnade.system.untag('first', database => 'db')") == [["first", 1]]
    assert spark.sql("CALL colonnade.system.tags(database => 'colonnade.db')") == []
    spark.sql("CALL colonnade.system.begin('db')")
    within = spark.refusal("CALL colonnade.system.restore('db.t', 1)")
    spark.sql("CALL colonnade.system.rollback()")
    assert "cannot be restored within a transaction" in within


def test_the_current_catalog_needs_no_name(spark: SparkShell) -> None:
    spark.sql("USE colonnade")
    try:
        spark.sql("CREATE OR REPLACE TABLE plain AS SELECT 1 AS a")
        assert spark.sql("SELECT * FROM plain") == [[1]]
        assert spark.sql("SELECT * FROM colonnade.plain") == [[1]]
        for name in ("plain", "default.plain"):
            assert spark.sql(f"SELECT count(*) FROM {name}.history") == [[1]]
            assert len(spark.sql(f"CALL colonnade.system.history('{name}')")) == 1
        spark.sql("USE colonnade.db")
        spark.sql("CREATE TABLE t AS SELECT 1 AS a")
        assert spark.sql("SELECT count(*) FROM t.history") == [[1]]
        assert len(spark.sql("CALL colonnade.system.history('t')")) == 1
        assert "NOT_FOUND" in spark.refusal("SELECT * FROM t.nothing")
        spark.run("spark.range(3).write.parquet(folder + '/files')")
        assert spark.sql(f"SELECT count(*) FROM parquet.`{spark.folder}/files`") == [[3]]
    finally:
        spark.sql("USE spark_catalog.default")
    assert (spark.folder / "warehouse" / "default").is_dir()


def test_a_spark_that_is_too_old_is_refused_where_the_jar_is_loaded_first(
    spark: SparkShell,
) -> None:
    """Spark 4.0 otherwise makes the session, and each statement of it lacks a class."""
    versions = ["3.5.9", "4.0.5", "4.0.0-amzn-1", "4.1.4", "4.3.0.dev1", "10.0.0", "unknown"]
    jvm = "spark._jvm.colonnade.spark.quirks.session.SparkVersion"
    found = spark.run(f"[{jvm}.isSupported(each) for each in {versions}]")
    assert found == [is_supported(each) for each in versions]
    sentence = spark.run(f"{jvm}.refusal('4.0.5')")
    with pytest.raises(InvalidInputError) as caught:
        session.enable(cast(Any, SimpleNamespace(version="4.0.5")))
    assert sentence == caught.value.message
