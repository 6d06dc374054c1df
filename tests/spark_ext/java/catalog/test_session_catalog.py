"""Tables of Spark's own catalog: the statements that create them, and the folders they are in."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from tests.spark_ext.java.queries.read_road import OLDER
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With a database `own` of Spark's own catalog, which is the current one."""
    spark_shell.sql("CREATE DATABASE own")
    spark_shell.sql("USE own")
    yield spark_shell
    # Temporary views belong to the session and not to the database. They hide views of their names.
    for view in spark_shell.sql("SHOW VIEWS"):
        if view[2]:
            spark_shell.sql(f"DROP VIEW {view[1]}")
    spark_shell.sql("USE default")
    spark_shell.sql("DROP DATABASE own CASCADE")


@pytest.fixture
def by_default(spark: SparkShell) -> Iterator[SparkShell]:
    """Yield a Spark whose tables are Colonnade's unless USING says otherwise."""
    spark.sql("SET spark.sql.sources.default = colonnade")
    yield spark
    spark.sql("SET spark.sql.sources.default = parquet")


def provider(spark: SparkShell, table: str) -> str:
    rows = {row[0]: row[1] for row in spark.sql(f"DESCRIBE TABLE EXTENDED {table}")}
    return rows["Provider"]


def place(spark: SparkShell, path: str) -> Path:
    """A path in the folder of the database."""
    return spark.folder / "spark" / "own.db" / path


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE t (id BIGINT) PARTITIONED BY (id)",
        "CREATE TABLE t AS SELECT 0L AS id",
        "CREATE OR REPLACE TABLE t AS SELECT 0L AS id",
        "CREATE TABLE IF NOT EXISTS t (id BIGINT)",
    ],
)
def test_the_default_format_of_a_session_needs_no_using(
    by_default: SparkShell, statement: str
) -> None:
    by_default.sql(statement)
    assert provider(by_default, "t") == "colonnade"
    by_default.sql("REPLACE TABLE t AS SELECT 1L AS id")
    by_default.sql("INSERT INTO t VALUES (2)")
    assert by_default.sql("SELECT id FROM t VERSION AS OF 2") == [[1]]


@pytest.mark.matrix
def test_using_overrules_the_default_format(by_default: SparkShell) -> None:
    by_default.sql("CREATE TABLE t USING parquet AS SELECT 1 AS a")
    assert provider(by_default, "t") == "parquet"


@pytest.mark.matrix
@pytest.mark.parametrize("what", ["(a INT)", "AS SELECT 1 AS a"])
def test_a_relative_location_is_one_in_the_folder_of_the_database(
    spark: SparkShell, what: str
) -> None:
    columns, _, rows = what.partition("AS")
    select = f"AS {rows}" if rows else ""
    spark.sql(f"CREATE TABLE t {columns} USING colonnade LOCATION 'some/place' {select}")
    spark.sql("INSERT INTO t VALUES (2)")
    spark.sql("DROP TABLE t")
    assert (place(spark, "some/place") / "_manifest").is_dir()
    spark.sql("CREATE TABLE again USING colonnade LOCATION 'some/place'")
    assert spark.sql("SELECT max(a) FROM again") == [[2]]


def test_a_procedure_finds_a_table_of_sparks_own_catalog_without_its_name(
    spark: SparkShell,
) -> None:
    spark.sql("CREATE TABLE t USING colonnade AS SELECT 1 AS a")
    for name in ("t", "own.t", "spark_catalog.own.t"):
        assert len(spark.sql(f"CALL colonnade.system.history('{name}')")) == 1
    spark.sql("CREATE DATABASE colonnade.own")
    spark.sql("CREATE TABLE colonnade.own.t AS SELECT 1 AS a")
    spark.sql("INSERT INTO colonnade.own.t VALUES (2)")
    assert len(spark.sql("CALL colonnade.system.history('own.t')")) == 2
    spark.sql("DROP DATABASE colonnade.own CASCADE")
    assert "NOT_FOUND" in spark.refusal("CALL colonnade.system.history('own.none')")
    assert "NOT_FOUND" in spark.refusal("CALL colonnade.system.history('colonnade.own.t')")
    spark.sql("CREATE TABLE other USING parquet AS SELECT 1 AS a")
    text = spark.refusal("CALL colonnade.system.history('own.other')")
    assert "Table own.other is of another format" in text


DESIGN = """
    (id BIGINT NOT NULL COMMENT 'key', c CHAR(3), v VARCHAR(4), s STRUCT<x: INT>)
    USING colonnade {layout} COMMENT 'what it is' TBLPROPERTIES ('k' = 'v', 'l' = 'w')
"""


def definition(spark: SparkShell, table: str) -> str:
    """SHOW CREATE TABLE without the name."""
    text: str = spark.sql(f"SHOW CREATE TABLE {table}")[0][0]
    return text.partition("(")[2]


LAYOUTS = ("", "CLUSTER BY (id)", "PARTITIONED BY (bucket(4, id), c)", "SORTED")


def like() -> Iterator[Any]:
    """Each layout, with a format in every other case. The other pairs run in long runs."""
    for at, layout in enumerate(LAYOUTS):
        for turn, using in enumerate(("",) if OLDER else ("", "USING colonnade")):
            often = OLDER or at % 2 == turn
            yield pytest.param(layout, using, marks=() if often else pytest.mark.long)


@pytest.mark.parametrize(("layout", "using"), list(like()))
def test_a_table_like_another_one_has_its_design_and_no_rows(
    spark: SparkShell, layout: str, using: str
) -> None:
    design = DESIGN.format(layout="" if layout == "SORTED" else layout)
    if layout == "SORTED":
        design = design.replace("'k' =", "'sortKey' = 'c, id desc', 'k' =")
    spark.sql(f"CREATE TABLE t {design}")
    spark.sql("ALTER TABLE t ADD COLUMN later DATE")  # Spark's own catalog does not see it
    spark.sql("INSERT INTO t VALUES (1, 'a', 'b', NULL, NULL)")
    spark.sql(f"CREATE TABLE u LIKE t {using}")
    assert definition(spark, "u") == definition(spark, "t")
    assert "later DATE" in definition(spark, "u")
    spark.sql("INSERT INTO u VALUES (2, 'c', 'd', NULL, NULL)")
    assert spark.sql("SELECT id, c FROM u") == [[2, "c  "]]
    assert spark.sql("SELECT count(*) FROM u.history") == [[2]]


@pytest.mark.matrix
def test_a_table_like_another_one_takes_what_the_statement_says(spark: SparkShell) -> None:
    spark.sql(f"CREATE TABLE t {DESIGN.format(layout='')}")
    said = "TBLPROPERTIES ('k' = 'other') LOCATION 'elsewhere'"
    spark.sql(f"CREATE TABLE u LIKE t {said}")
    assert spark.sql("SHOW TBLPROPERTIES u") == [["k", "other"], ["l", "w"]]
    assert (place(spark, "elsewhere") / "_manifest").is_dir()
    spark.sql("CREATE TABLE IF NOT EXISTS u LIKE t")
    assert "ALREADY_EXISTS" in spark.refusal("CREATE TABLE u LIKE t")
    assert "NOT_FOUND" in spark.refusal("CREATE TABLE w LIKE none USING colonnade")
    assert "CreateTable" in spark.sql("EXPLAIN CREATE TABLE w LIKE t")[0][0]
    assert spark.run("spark.catalog.tableExists('w')") is False


@pytest.mark.matrix
@pytest.mark.parametrize("verb", ["CREATE OR REPLACE", "REPLACE"])
@pytest.mark.parametrize(
    "given", ["(a INT) USING colonnade{}", "USING colonnade{} AS SELECT 2 AS a"]
)
def test_a_replaced_table_stays_where_it_is_stored(
    spark: SparkShell, verb: str, given: str
) -> None:
    here, elsewhere = (f" LOCATION '{name}'" for name in ("here", "elsewhere"))
    spark.sql(f"CREATE TABLE t USING colonnade{here} AS SELECT 1 AS a")
    refused = spark.refusal(f"{verb} TABLE t {given.format(elsewhere)}")
    assert "leave out LOCATION" in refused
    assert spark.sql("SELECT * FROM t") == [[1]]
    assert not place(spark, "elsewhere").exists()
    spark.sql(f"{verb} TABLE t {given.format(here)}")
    assert spark.sql("SELECT * FROM t") == ([[2]] if "SELECT" in given else [])


@pytest.mark.matrix
def test_the_first_statement_of_a_session_may_be_create_table_like(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE t USING colonnade AS SELECT 1 AS a")
    spark.run("spark.newSession().sql('CREATE TABLE own.u LIKE own.t')")
    assert spark.sql("SELECT count(*) FROM u.history") == [[1]]


@pytest.mark.matrix
def test_tables_like_those_of_other_formats_and_views_have_their_columns(
    spark: SparkShell,
) -> None:
    columns = "(a INT NOT NULL COMMENT 'c', b CHAR(3), p INT)"
    options = "PARTITIONED BY (p) TBLPROPERTIES ('k' = 'v')"
    spark.sql(f"CREATE TABLE files {columns} USING parquet {options}")
    spark.sql("CREATE VIEW seen AS SELECT b, 1L AS one FROM files")
    spark.run("spark.range(3).createOrReplaceTempView('passing')")
    for name, source in [("t", "files"), ("u", "seen"), ("v", "passing")]:
        spark.sql(f"CREATE TABLE {name} LIKE {source} USING colonnade")
        assert spark.sql(f"SELECT * FROM {name}") == []
    assert "b CHAR(3)" in definition(spark, "t")
    assert "PARTITIONED BY (p)" in definition(spark, "t")
    assert spark.sql("SHOW TBLPROPERTIES t") == []
    assert "b CHAR(3)" in definition(spark, "u")
    assert [row[0] for row in spark.sql("DESCRIBE v")][:1] == ["id"]
    spark.sql("ALTER TABLE t ADD COLUMN later DATE")
    spark.sql("CREATE TABLE back LIKE t USING parquet")
    assert provider(spark, "back") == "parquet"
    assert "later DATE" in definition(spark, "back")
    assert "PARTITIONED BY (p)" in definition(spark, "back")
    spark.sql("CREATE TABLE copy LIKE files")
    assert provider(spark, "copy") == "parquet"
    spark.sql("CREATE TABLE usual (a INT DEFAULT 3) USING parquet")
    spark.sql("CREATE TABLE w LIKE usual USING colonnade")
    spark.sql("CREATE TABLE w2 LIKE w")
    for name in ("w", "w2"):
        assert "a INT DEFAULT 3" in definition(spark, name)
        spark.sql(f"DROP TABLE {name}")


def stored_tables(spark: SparkShell) -> list[list[Any]]:
    """What SHOW TABLE EXTENDED shows, without temporary views, which are of no database."""
    return [row for row in spark.sql("SHOW TABLE EXTENDED LIKE '*'") if not row[2]]


def test_a_table_is_shown_as_the_log_knows_it(spark: SparkShell) -> None:
    spark.sql(f"CREATE TABLE own {DESIGN.format(layout='')}")
    spark.sql("CREATE TABLE placed (a INT) USING colonnade LOCATION 'placed'")
    spark.sql("CREATE TABLE files (a INT) USING parquet")
    spark.sql("COMMENT ON TABLE own IS 'something else'")
    spark.sql("ALTER TABLE own ADD COLUMN later DATE")
    shown = {row[1]: row[3].splitlines() for row in stored_tables(spark)}
    assert sorted(shown) == ["files", "own", "placed"]
    assert {"Type: MANAGED", "Comment: something else"} <= set(shown["own"])
    # Spark 4.1 puts commas between the characters of the list.
    assert any(re.fullmatch(r"Table Properties: .*k\W+v\W+l\W+w\W+", row) for row in shown["own"])
    assert " |-- later: date (nullable = true)" in shown["own"]
    assert "Type: EXTERNAL" in shown["placed"]
    assert "Created By: Spark" in "".join(shown["files"])
    assert not any("colonnade.owned" in line for lines in shown.values() for line in lines)
    for name, kind in [("own", "MANAGED"), ("placed", "EXTERNAL"), ("files", "MANAGED")]:
        assert spark.run(f"spark.catalog.getTable('{name}').tableType") == kind
    listed = "{table.name: table.tableType for table in spark.catalog.listTables()}"
    assert spark.run(listed)["placed"] == "EXTERNAL"
    assert "LOCATION" not in definition(spark, "own")
    assert "LOCATION" in definition(spark, "placed")


@pytest.mark.matrix
def test_a_table_that_cannot_be_read_is_shown_by_its_name(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE gone (a INT) USING colonnade")
    shutil.rmtree(place(spark, "gone"))
    assert [row[1] for row in stored_tables(spark)] == ["gone"]


@pytest.mark.parametrize("purge", ["", "PURGE"])
def test_a_dropped_table_leaves_no_files_unless_it_has_a_location(
    spark: SparkShell, purge: str
) -> None:
    for name, location in [("own", ""), ("placed", "LOCATION 'placed'")]:
        spark.sql(f"CREATE TABLE {name} USING colonnade {location} AS SELECT 1 AS a")
    spark.sql("ALTER TABLE own RENAME TO renamed")
    assert place(spark, "own").is_dir()
    for name in ("renamed", "placed"):
        spark.sql(f"DROP TABLE {name} {purge}")
    assert not place(spark, "own").exists()
    assert (place(spark, "placed") / "_manifest").is_dir()
    spark.sql("CREATE TABLE own USING colonnade AS SELECT 2 AS a")
    assert spark.sql("SELECT a FROM own") == [[2]]
    assert spark.sql("SELECT count(*) FROM own.history") == [[1]]


VIEWS = (
    "SELECT * FROM t",
    "SELECT * FROM t VERSION AS OF 1",
    "SELECT a FROM t WHERE a > 0",
    "SELECT a + 1 AS a FROM t VERSION AS OF 1",
    "SELECT t.a FROM t JOIN t AS u USING (a)",
)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("query", "kind"),
    [
        pytest.param(view, kind, marks=pytest.mark.long if at > 1 else ())
        for at, (view, kind) in enumerate(
            zip(VIEWS[:2] if OLDER else VIEWS, cycle(["VIEW", "TEMPORARY VIEW"]), strict=False)
        )
    ],
)
def test_rows_are_not_changed_through_a_view(spark: SparkShell, query: str, kind: str) -> None:
    spark.sql("CREATE TABLE t USING colonnade AS SELECT 1 AS a")
    spark.sql("INSERT INTO t VALUES (2)")
    spark.sql(f"CREATE {kind} seen AS {query}")
    for statement in (
        "DELETE FROM seen",
        "DELETE FROM seen WHERE a = 1",
        "DELETE FROM seen WHERE a > 0",
        "DELETE FROM seen WHERE abs(a) = 1",
        "UPDATE seen SET a = 3 WHERE a = 1",
        "MERGE INTO seen USING (SELECT 1 AS id) s ON seen.a = s.id WHEN MATCHED THEN DELETE",
    ):
        spark.refusal(statement)
    assert spark.sql("SELECT a FROM t ORDER BY a") == [[1], [2]]
    if query == VIEWS[0]:
        said = "[COLONNADE_INVALID_INPUT] DELETE does not change tables through a view; name the"
        assert spark.refusal("DELETE FROM seen").startswith(said)
    spark.sql("DELETE FROM t WHERE a IN (SELECT a FROM seen WHERE a = 1)")
    spark.sql("DELETE FROM t")
    assert spark.sql("SELECT a FROM t") == []
