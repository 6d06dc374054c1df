"""Statements that change tables: rows, columns, properties, names; and what they refuse."""

from __future__ import annotations

import shutil

import pytest

import colonnade
from colonnade.manifests.state.view import View
from colonnade.tableformat.rowset.reader import RowSetReader
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

ON = "bloom-filter-enabled.column."


database = kept_database(
    "db",
    "CREATE TABLE colonnade.db.t (id BIGINT NOT NULL, name STRING)",
    "INSERT INTO colonnade.db.t VALUES (1, 'a')",
    "INSERT INTO colonnade.db.t (id) VALUES (2)",
)


@pytest.fixture
def spark(database: KeptDatabase) -> SparkShell:
    """With a table `colonnade.db.t` of the rows (1, 'a') and (2, NULL), each a RowSet."""
    return database.ready()


def rows(spark: SparkShell, table: str = "colonnade.db.t") -> list[list[object]]:
    return spark.sql(f"SELECT * FROM {table} ORDER BY 1")


def epoch(spark: SparkShell) -> int:
    return colonnade.open(spark.folder / "warehouse" / "db" / "t").epoch


def test_rows_are_inserted_and_overwritten(spark: SparkShell) -> None:
    spark.sql("INSERT INTO colonnade.db.t (name, id) VALUES ('c', 3)")
    spark.sql("INSERT INTO colonnade.db.t BY NAME SELECT 'd' AS name, 4 AS id")
    assert rows(spark) == [[1, "a"], [2, None], [3, "c"], [4, "d"]]
    spark.sql("INSERT OVERWRITE colonnade.db.t SELECT * FROM colonnade.db.t WHERE id > 2")
    assert rows(spark) == [[3, "c"], [4, "d"]]
    spark.sql("TRUNCATE TABLE colonnade.db.t")
    assert rows(spark) == []
    assert spark.sql("SELECT count(*) FROM colonnade.db.t VERSION AS OF 3") == [[2]]


def test_rows_are_replaced_where_a_condition_is_true(spark: SparkShell) -> None:
    spark.sql("INSERT INTO colonnade.db.t REPLACE WHERE id = 1 VALUES (1, 'new')")
    assert rows(spark) == [[1, "new"], [2, None]]
    spark.sql("INSERT INTO colonnade.db.t SELECT id + 20, 'x' FROM range(3)")
    spark.sql("INSERT INTO colonnade.db.t REPLACE WHERE id BETWEEN 2 AND 21 VALUES (21, 'y')")
    assert rows(spark) == [[1, "new"], [21, "y"], [22, "x"]]
    before = epoch(spark)
    sentence = spark.refusal("INSERT INTO colonnade.db.t REPLACE WHERE id = 21 VALUES (9, 'z')")
    assert "1 of the new rows do not meet the condition" in sentence
    assert epoch(spark) == before


def test_rows_are_replaced_where_only_spark_can_tell(spark: SparkShell) -> None:
    spark.sql("INSERT INTO colonnade.db.t SELECT id, concat('n', id) FROM range(5, 15)")
    before = epoch(spark)
    replace = "INSERT INTO colonnade.db.t REPLACE WHERE length(name) = 2 AND id % 2 = 1"
    spark.sql(f"{replace} VALUES (21, 'n1'), (23, 'n3')")
    kept = [[1, "a"], [2, None], [6, "n6"], [8, "n8"], *([i, f"n{i}"] for i in range(10, 15))]
    assert rows(spark) == [*kept, [21, "n1"], [23, "n3"]]
    assert epoch(spark) == before + 1
    done = colonnade.open(spark.folder / "warehouse" / "db" / "t").history(1)[0]
    counts = {name: n for name, n in done.metrics.items() if name.startswith("rows_")}
    assert (done.operation, counts) == (
        "overwrite",
        {"rows_deleted": 3, "rows_updated": 0, "rows_inserted": 2},
    )
    outside = f"{replace} VALUES (25, 'n5'), (26, 'n6')"
    assert "Some of the new rows do not meet the condition" in spark.ask({"sql": outside})["error"]
    assert epoch(spark) == before + 1
    condition = "(F.length('name') == 2) & (F.col('id') > 20)"
    frame = "spark.sql('SELECT 27L AS id, \"n7\" AS name')"
    spark.run(f"{frame}.writeTo('colonnade.db.t').overwrite({condition})")
    assert rows(spark) == [*kept, [27, "n7"]]
    spark.sql("CALL colonnade.system.begin('db')")
    spark.sql("INSERT INTO colonnade.db.t REPLACE WHERE upper(NAME) = 'N7' VALUES (1, 'n7')")
    assert rows(spark)[:2] == [[1, "a"], [1, "n7"]]
    spark.sql("CALL colonnade.system.rollback()")
    assert rows(spark) == [*kept, [27, "n7"]]


def test_options_of_a_write_replace_rows_and_land_a_batch_once(spark: SparkShell) -> None:
    path = f"{spark.folder}/warehouse/db/t"
    write = "spark.sql('SELECT {}L AS id, \"w\" AS name').write.format('colonnade').mode('{}')"
    replace = f"{write.format(2, 'overwrite')}.option('replaceWhere', 'id > 1').save({path!r})"
    spark.run(replace)
    assert rows(spark) == [[1, "a"], [2, "w"]]
    batch = "options(txnAppId='job', txnVersion='7')"
    for _ in range(2):
        spark.run(f"{write.format(3, 'append')}.{batch}.save({path!r})")
    assert rows(spark) == [[1, "a"], [2, "w"], [3, "w"]]
    late = f"{write.format(4, 'append')}.option('expectEpoch', 2).save({path!r})"
    assert "expects epoch 2" in spark.refused_run(late)
    spark.run(late.replace("2)", f"{epoch(spark)})"))
    assert len(rows(spark)) == 4
    text = spark.refused_run(replace.replace("'overwrite'", "'append'"))
    assert "Option replaceWhere is for writes of mode overwrite" in text


def test_null_in_a_not_null_column_fails_and_nothing_is_written(spark: SparkShell) -> None:
    before = epoch(spark)
    assert "NULL" in spark.refusal("INSERT INTO colonnade.db.t VALUES (5, 'x'), (NULL, 'y')")
    assert "`id`" in spark.refusal("INSERT INTO colonnade.db.t (name) VALUES ('x')")
    assert epoch(spark) == before


def test_columns_are_added_renamed_moved_commented_and_dropped(spark: SparkShell) -> None:
    spark.sql("ALTER TABLE colonnade.db.t ADD COLUMNS (x INT COMMENT 'new' AFTER id, y DATE FIRST)")
    assert rows(spark) == [[None, 1, None, "a"], [None, 2, None, None]]
    spark.sql("ALTER TABLE colonnade.db.t RENAME COLUMN name TO label")
    spark.sql("ALTER TABLE colonnade.db.t ALTER COLUMN y AFTER label")
    spark.sql("ALTER TABLE colonnade.db.t ALTER COLUMN x COMMENT 'other'")
    spark.sql("ALTER TABLE colonnade.db.t ALTER COLUMN id DROP NOT NULL")
    spark.sql("INSERT INTO colonnade.db.t VALUES (NULL, 3, 'c', DATE'2026-01-01')")
    assert rows(spark) == [
        [None, 3, "c", "2026-01-01"],
        [1, None, "a", None],
        [2, None, None, None],
    ]
    spark.sql("ALTER TABLE colonnade.db.t DROP COLUMNS (x, y)")
    described = spark.sql("DESCRIBE colonnade.db.t")[:2]
    assert described == [["id", "bigint", None], ["label", "string", None]]
    assert spark.sql("SELECT * FROM colonnade.db.t VERSION AS OF 3 ORDER BY id")[0] == [1, "a"]
    spark.sql("ALTER TABLE colonnade.db.t ADD COLUMN x STRING")
    assert [row[2] for row in rows(spark)] == [None, None, None]


def test_properties_comments_and_names_are_changed(spark: SparkShell) -> None:
    spark.sql("ALTER TABLE colonnade.db.t SET TBLPROPERTIES (a = '1', b = '2')")
    spark.sql("ALTER TABLE colonnade.db.t UNSET TBLPROPERTIES (a)")
    spark.sql("COMMENT ON TABLE colonnade.db.t IS 'hello'")
    assert spark.sql("SHOW TBLPROPERTIES colonnade.db.t") == [["b", "2"]]
    spark.sql("ALTER TABLE colonnade.db.t RENAME TO db.u")
    assert spark.sql("SELECT count(*) FROM colonnade.db.u VERSION AS OF 3") == [[2]]
    spark.sql("ALTER TABLE colonnade.db.u RENAME TO colonnade.db.t")
    assert ["Comment", "hello", ""] in spark.sql("DESCRIBE EXTENDED colonnade.db.t")


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("ALTER COLUMN name TYPE INT", "from string to int: it has no wider type"),
        ("ALTER COLUMN id TYPE STRING", "The type of column 'id' cannot be changed"),
        ("ADD COLUMN x INT NOT NULL", "'x' cannot be added as NOT NULL"),
        ("ADD COLUMN x MAP<INT, VOID>", "Field 'x.value' is void"),
        ("ADD COLUMN _row_HANDLER INT", "'_row_HANDLER' is reserved"),
        ("RENAME COLUMN name TO __row_operation", "'__row_operation' is reserved"),
        ("ADD COLUMN x INT DEFAULT 'a'", "INVALID_DEFAULT_VALUE.DATA_TYPE"),
        (f"SET TBLPROPERTIES ('{ON}x' = 'true')", "names no column: the table has id, name"),
        ("DROP COLUMN nothing", "nothing"),
        ("RENAME TO other.t", "cannot move to another place"),
        ("RENAME TO db._x", "Table name '_x' must have"),
    ],
)
def test_an_impossible_alteration_is_refused_and_nothing_changes(
    spark: SparkShell, statement: str, sentence: str
) -> None:
    before = epoch(spark)
    assert sentence in spark.refusal(f"ALTER TABLE colonnade.db.t {statement}")
    assert epoch(spark) == before


def test_columns_get_bloom_filters_by_a_property(spark: SparkShell) -> None:
    spark.sql(f"ALTER TABLE colonnade.db.t SET TBLPROPERTIES ('{ON}ID' = 'true')")
    spark.sql("ALTER TABLE colonnade.db.t RENAME COLUMN id TO key")
    assert spark.sql("SHOW TBLPROPERTIES colonnade.db.t") == [[f"{ON}key", "true"]]
    spark.sql("INSERT INTO colonnade.db.t SELECT 2 * id + 10, 'x' FROM range(0, 1000, 1, 1)")
    table = colonnade.open(spark.folder / "warehouse" / "db" / "t")
    [*_, newest] = table._log.rowsets.read(table._state)
    reader = RowSetReader(table._log.store, View.written(table._state.prefix), newest)
    [stretch] = reader.read_stored(table._state.schema.fields, bloom_columns=(1,))
    reader.verify(table._state.schema.fields, stretch)
    assert [len(block.bloom) for [block] in stretch.blocks] == [32 * 40, 0]
    assert spark.sql("SELECT * FROM colonnade.db.t WHERE key = 500") == [[500, "x"]]
    assert spark.sql("SELECT * FROM colonnade.db.t WHERE key IN (1, 501, NULL)") == [[1, "a"]]
    joined = "SELECT key FROM colonnade.db.t JOIN VALUES (2), (12), (13) k(key) USING (key)"
    assert spark.sql(f"{joined} ORDER BY 1") == [[2], [12]]


def test_types_widen_and_every_statement_sees_the_wider_type(spark: SparkShell) -> None:
    table = "colonnade.db.small"
    columns = "a INT, b FLOAT, c DECIMAL(5,2), d VARCHAR(3), e SMALLINT, f BYTE, g CHAR(2)"
    spark.sql(f"CREATE TABLE {table} ({columns})")
    row = "CAST({0} AS INT), {0} / 4F, CAST({0} / 4 AS DECIMAL(5,2)), '{0}', {0}S, {0}Y, 'x'"
    values = ", ".join(f"({row.format(i)})" for i in range(100))
    spark.sql(f"INSERT INTO {table} VALUES {values}")
    spark.sql(f"UPDATE {table} SET a = -1 WHERE a = 7")
    narrow = epoch(spark)
    for change in ("a TYPE BIGINT", "b TYPE DOUBLE", "c TYPE DECIMAL(30,4)", "d TYPE STRING"):
        spark.sql(f"ALTER TABLE {table} ALTER COLUMN {change}")
    for change in ("e TYPE DOUBLE", "f TYPE DECIMAL(9,1)", "g TYPE VARCHAR(9)"):
        spark.sql(f"ALTER TABLE {table} ALTER COLUMN {change}")
    kinds = ["bigint", "double", "decimal(30,4)", "string", "double", "decimal(9,1)", "varchar(9)"]
    assert [each[1] for each in spark.sql(f"DESCRIBE {table}")[:7]] == kinds
    found = spark.sql(f"SELECT a, b, CAST(c AS STRING), d, e, f + 0.5, g FROM {table} WHERE d = 6")
    assert found == [[6, 1.5, "1.5000", "6", 6.0, found[0][5], "x "]]
    for where in ("a = 50", "b = 12.5", "c = 12.5", "d = '50'", "e = 50", "f = 50", "a IN (50, 7)"):
        assert spark.sql(f"SELECT a FROM {table} WHERE {where}") == [[50]], where
    spark.sql(f"INSERT INTO {table} VALUES (9000000000, 1e300, 1e20, 'long text', 1e9, 0.5, 'y')")
    merged = f"MERGE INTO {table} t USING (SELECT 50L AS k) s ON t.a = s.k"
    spark.sql(f"{merged} WHEN MATCHED THEN UPDATE SET a = 8000000000, e = 0.25")
    spark.sql(f"UPDATE {table} SET b = b + 0.5 WHERE a > 97")
    spark.sql(f"DELETE FROM {table} WHERE f BETWEEN 10 AND 19.5")
    sums = f"SELECT count(*), sum(a), max(a), min(e), max(f) FROM {table}"
    expected = [91, 17_000_000_000 + 4950 - 8 - 50 - 145, 9_000_000_000, 0.0]
    assert spark.sql(sums)[0][:4] == expected
    assert spark.sql(f"SELECT max(a) FROM {table} VERSION AS OF {narrow}") == [[99]]


def test_a_type_that_does_not_widen_is_refused_and_says_what_would(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE colonnade.db.small (a INT, b LONG) PARTITIONED BY (a)")
    refusal = spark.refusal("ALTER TABLE colonnade.db.small ALTER COLUMN b TYPE STRING")
    assert refusal == (
        "[COLONNADE_INVALID_INPUT] The type of column 'b' cannot be changed from long to string:"
        " it can become a decimal of 19 or more digits before the point; or add a column of the"
        " other type."
    )
    text = spark.refusal("ALTER TABLE colonnade.db.small ALTER COLUMN a TYPE DOUBLE")
    assert "by identity of it, and rows would belong to other partitions; it can become" in text


def test_a_table_is_created_and_replaced_with_rows_in_one_epoch(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE colonnade.db.c CLUSTER BY (id) AS SELECT * FROM colonnade.db.t")
    first = epoch(spark)
    assert rows(spark, "colonnade.db.c") == [[1, "a"], [2, None]]
    broken = "SELECT assert_true(id < 2) IS NULL AS x FROM colonnade.db.t"
    spark.refusal(f"CREATE TABLE colonnade.db.d AS {broken}")
    spark.refusal(f"CREATE OR REPLACE TABLE colonnade.db.c AS {broken}")
    assert epoch(spark) == first
    assert rows(spark, "colonnade.db.c") == [[1, "a"], [2, None]]
    spark.sql("REPLACE TABLE colonnade.db.c AS SELECT max(id) AS top FROM colonnade.db.c")
    assert epoch(spark) == first + 1
    assert rows(spark, "colonnade.db.c") == [[2]]
    assert len(spark.sql(f"SELECT * FROM colonnade.db.c VERSION AS OF {first}")) == 2
    spark.sql("CREATE OR REPLACE TABLE colonnade.db.c (z INT)")
    assert rows(spark, "colonnade.db.c") == []
    assert "NOT_FOUND" in spark.refusal("REPLACE TABLE colonnade.db.none AS SELECT 1 AS a")


def test_an_epoch_or_a_time_that_is_not_there_is_refused(spark: SparkShell) -> None:
    text = spark.refusal("SELECT * FROM colonnade.db.t VERSION AS OF 99")
    assert text.startswith("[COLONNADE_NOT_FOUND] Epoch 99 of ")
    assert "Tag 'x' does not exist" in spark.refusal(
        "SELECT * FROM colonnade.db.t VERSION AS OF 'x'"
    )
    text = spark.refusal("SELECT * FROM colonnade.db.t TIMESTAMP AS OF '2001-01-01'")
    assert "did not exist yet at 2001-01-01 05:00:00.000 UTC" in text
    query = "SELECT count(*) FROM colonnade.db.t TIMESTAMP AS OF '2100-01-01'"
    assert spark.sql(query) == [[2]]


def test_spark_knows_tables_by_name_in_its_own_catalog(spark: SparkShell) -> None:
    spark.sql(
        "CREATE TABLE t1 (a INT NOT NULL, b STRING) USING colonnade COMMENT 'c' CLUSTER BY (a)"
    )
    spark.sql("INSERT INTO t1 VALUES (1, 'x')")
    spark.sql("ALTER TABLE t1 ADD COLUMN c INT")
    assert spark.sql("SELECT * FROM t1") == [[1, "x", None]]
    assert spark.sql("SELECT * FROM t1 VERSION AS OF 2") == [[1, "x"]]
    for name in ("t1", "default.t1", "spark_catalog.default.t1"):
        assert spark.sql(f"SELECT count(*) FROM {name}.history") == [[3]]
    assert spark.sql("SELECT DISTINCT engineInfo FROM t1.history") == [["colonnade-spark"]]
    assert spark.sql("SELECT name FROM t1.columns WHERE NOT nullable") == [["a"]]
    for name in ("t1.history", "default.t1.history", "colonnade.db.t.history"):
        text = spark.refusal(f"SELECT * FROM {name} VERSION AS OF 1")
        assert "has no earlier versions; leave out the version or time" in text
    for name in ("t1.nothing", "default.t1.nothing", "none.history"):
        assert "TABLE_OR_VIEW_NOT_FOUND" in spark.refusal(f"SELECT * FROM {name}")
    assert spark.sql("CALL colonnade.system.checkpoint('spark_catalog.default.t1')") == [[3, 1]]
    assert spark.run("colonnade.Table.forName(spark, 't1').history().count()") == 3
    assert spark.run("colonnade.Table.forName(spark, 'colonnade.db.t').toDF().count()") == 2
    spark.sql("DROP TABLE t1")
    spark.sql("CREATE TABLE t1 (z INT) USING colonnade")
    assert spark.sql("SELECT * FROM t1") == []
    spark.sql("DROP TABLE t1")


def test_a_table_of_sparks_own_catalog_is_removed_with_its_name(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE Renamed USING colonnade AS SELECT 1 AS a")
    spark.sql("ALTER TABLE renamed RENAME TO other_name")
    spark.sql("CREATE TABLE Renamed USING colonnade AS SELECT 2 AS a")
    assert rows(spark, "other_name") == [[1]]
    assert rows(spark, "renamed") == [[2]]
    for name in ("RENAMED", "other_name"):
        spark.sql(f"DROP TABLE {name}")
    spark.sql("CREATE TABLE Renamed (b INT) USING colonnade")
    assert rows(spark, "renamed") == []
    spark.sql("DROP TABLE renamed")


@pytest.mark.parametrize("what", ["(a INT) USING colonnade", "USING colonnade AS SELECT 1 AS a"])
def test_a_table_that_sparks_own_catalog_refuses_is_not_left_behind(
    spark: SparkShell, what: str
) -> None:
    for _ in range(2):
        assert "INVALID_SCHEMA_OR_RELATION_NAME" in spark.refusal(f"CREATE TABLE `per%cent` {what}")


@pytest.mark.parametrize("verb", ["CREATE TABLE", "CREATE OR REPLACE TABLE"])
def test_a_table_made_from_rows_does_not_take_over_the_defaults_of_their_table(
    spark: SparkShell, verb: str
) -> None:
    spark.sql("CREATE TABLE other (a INT, b INT DEFAULT 3) USING parquet")
    spark.sql("INSERT INTO other (a) VALUES (1)")
    spark.sql(f"{verb} usual USING colonnade AS SELECT * FROM other")
    spark.sql("INSERT INTO usual (a) VALUES (2)")
    assert sorted(rows(spark, "usual")) == [[1, 3], [2, None]]
    for name in ("usual", "other"):
        spark.sql(f"DROP TABLE {name}")


def test_a_view_shows_the_newest_epoch_or_the_one_it_names(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE seen USING colonnade AS SELECT 1 AS a")
    spark.sql("CREATE VIEW newest AS SELECT * FROM seen WHERE a IN (SELECT id FROM colonnade.db.t)")
    spark.sql("CREATE VIEW first AS SELECT * FROM seen VERSION AS OF 1")
    spark.sql("INSERT INTO seen VALUES (2)")
    assert spark.sql("SELECT * FROM newest ORDER BY a") == [[1], [2]]
    assert spark.sql("SELECT * FROM first") == [[1]]
    for view in ("newest", "first"):
        spark.sql(f"DROP VIEW {view}")
    spark.sql("DROP TABLE seen")


def test_spark_continues_when_it_asks_for_a_removed_table(spark: SparkShell) -> None:
    for name in ("colonnade.none", "colonnade.db.none", "colonnade.`/none`", "none"):
        assert spark.run(f"spark.catalog.tableExists('{name}')") is False
    for name in ("gone", "there"):
        spark.sql(f"CREATE TABLE {name} USING colonnade AS SELECT 1 AS a")
    shutil.rmtree(spark.folder / "spark" / "gone")
    assert spark.refusal("SELECT * FROM gone") == (
        f"[COLONNADE_NOT_FOUND] {spark.folder}/spark/gone is not a Colonnade database or table;"
        " check the path, or create one there."
    )
    assert "there" in spark.run("[table.name for table in spark.catalog.listTables()]")
    for name in ("gone", "there"):
        spark.sql(f"DROP TABLE {name}")


def test_a_table_at_a_location_keeps_its_rows_when_its_name_is_dropped(spark: SparkShell) -> None:
    place = f"{spark.folder}/warehouse/db/t"
    spark.sql(f"CREATE TABLE named USING colonnade LOCATION '{place}'")
    assert rows(spark, "named") == rows(spark)
    text = spark.refusal(f"CREATE TABLE wrong (z INT) USING colonnade LOCATION '{place}'")
    assert "has the columns id BIGINT" in text
    for columns in ("id BIGINT, name STRING NOT NULL", "id BIGINT COMMENT 'c', name STRING"):
        text = spark.refusal(f"CREATE TABLE wrong ({columns}) USING colonnade LOCATION '{place}'")
        assert "leave out the columns to use it" in text
    other = f"CREATE TABLE wrong USING colonnade LOCATION '{place}' TBLPROPERTIES ('x' = 'y')"
    assert "leave out TBLPROPERTIES and COMMENT to use it" in spark.refusal(other)
    spark.sql("DROP TABLE named")
    assert len(rows(spark)) == 2
    nowhere = f"CREATE TABLE named USING colonnade LOCATION '{spark.folder}/nowhere'"
    assert "name the columns" in spark.refusal(nowhere)


def test_frames_are_saved_as_tables_of_sparks_own_catalog(spark: SparkShell) -> None:
    write = "spark.table('colonnade.db.t').write.format('colonnade')"
    for mode, expected in (("error", 2), ("append", 4), ("overwrite", 2)):
        spark.run(f"{write}.mode('{mode}').saveAsTable('saved')")
        assert spark.sql("SELECT count(*) FROM saved") == [[expected]]
    assert spark.sql("SELECT count(*) FROM saved VERSION AS OF 2") == [[4]]
    spark.sql("CREATE OR REPLACE TABLE saved USING colonnade AS SELECT 1 AS one")
    assert spark.sql("SELECT * FROM saved") == [[1]]
    spark.sql("DROP TABLE saved")


def test_tables_of_other_formats_pass_through(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE other USING parquet AS SELECT 1 AS a")
    spark.sql("INSERT INTO other VALUES (2)")
    assert "NOT_FOUND" in spark.refusal("SELECT * FROM other.history")
    call = "CALL colonnade.system.checkpoint('spark_catalog.default.other')"
    assert "is of another format" in spark.refusal(call)
    assert rows(spark, "other") == [[1], [2]]
    text = spark.refusal("CREATE OR REPLACE TABLE other USING colonnade AS SELECT 3 AS a")
    assert "is of another format; drop it" in text
    assert rows(spark, "other") == [[1], [2]]
    spark.sql("DROP TABLE other")


def test_a_path_that_is_not_a_table_is_named(spark: SparkShell) -> None:
    missing = f"colonnade.`{spark.folder}/missing`"
    assert "missing is not a Colonnade database or table" in spark.refusal(
        f"SELECT * FROM {missing}"
    )
    assert "NOT_FOUND" in spark.refusal("SELECT * FROM colonnade.db.missing")
    database = f"colonnade.`{spark.folder}/warehouse/db`"
    assert "is a database, not a table" in spark.refusal(f"SELECT * FROM {database}")


def test_a_table_that_is_dropped_while_it_is_used_is_missed_by_name(spark: SparkShell) -> None:
    spark.run("len([held := spark.table('colonnade.db.t').orderBy('id')])")
    spark.sql("DROP TABLE colonnade.db.t")
    assert "NOT_FOUND" in spark.refused_run("held.collect()")


def test_a_table_that_was_dropped_is_missed_by_name(spark: SparkShell) -> None:
    spark.run("spark.table('colonnade.db.t').createOrReplaceTempView('seen')")
    spark.sql("DROP TABLE colonnade.db.t")
    spark.sql("CREATE TABLE colonnade.db.other (a INT)")
    text = spark.refusal("INSERT INTO colonnade.db.t VALUES (1, 'x')")
    assert "TABLE_OR_VIEW_NOT_FOUND" in text
