"""Several statements of a Spark session, on several tables, become one epoch or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

BEGIN = "CALL colonnade.system.begin(database => 'db')"
COMMIT, ROLLBACK = "CALL colonnade.system.commit()", "CALL colonnade.system.rollback()"


ROWS = "SELECT id, id * 2 AS v FROM range(10)"
database = kept_database(
    "db",
    *(f"CREATE TABLE colonnade.db.{name} AS {ROWS}" for name in "ab"),
)


@pytest.fixture
def spark(database: KeptDatabase) -> Iterator[SparkShell]:
    """With tables `a` and `b` of the rows 0 to 9, each in a RowSet."""
    yield database.ready()
    database.shell.run("spark.conf.unset('spark.colonnade.transaction')")


def folder(spark: SparkShell) -> Path:
    return spark.folder / "warehouse" / "db"


def committed(spark: SparkShell) -> dict[str, list[int]]:
    """What everybody else sees."""
    db = colonnade.open_database(folder(spark))
    return {
        name: sorted(db.table(name).scan(["id"]).to_arrow()["id"].to_pylist())
        for name in db.tables()
    }


def ids(spark: SparkShell, table: str) -> list[object]:
    return [row[0] for row in spark.sql(f"SELECT id FROM colonnade.db.{table} ORDER BY id")]


def epoch(spark: SparkShell) -> int:
    return colonnade.open(folder(spark) / "b").epoch


def test_all_statements_of_a_session_land_in_one_epoch(spark: SparkShell) -> None:
    before, base = committed(spark), epoch(spark)
    spark.sql(BEGIN)
    spark.sql("INSERT INTO colonnade.db.a SELECT id, 0 FROM range(10, 15)")
    spark.sql("DELETE FROM colonnade.db.a WHERE id IN (SELECT id FROM colonnade.db.b WHERE v < 6)")
    spark.sql("UPDATE colonnade.db.a SET v = -1 WHERE id BETWEEN 8 AND 11")
    spark.sql("CREATE TABLE colonnade.db.c AS SELECT * FROM colonnade.db.a WHERE v = -1")
    spark.sql(
        "MERGE INTO colonnade.db.b t USING colonnade.db.c s ON t.id = s.id"
        " WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"
    )
    spark.sql("DELETE FROM colonnade.db.c WHERE id = 11")
    assert ids(spark, "a") == [*range(3, 15)]
    assert ids(spark, "b") == [*range(8), 10, 11]
    assert ids(spark, "c") == [8, 9, 10]
    assert spark.sql("SELECT count(*), min(id) FROM colonnade.db.a") == [[12, 3]]
    assert spark.sql("SHOW TABLES IN colonnade.db") != []
    assert committed(spark) == before
    assert spark.sql(COMMIT) == [[base + 1]]
    assert committed(spark) == {
        "a": [*range(3, 15)],
        "b": [*range(8), 10, 11],
        "c": [8, 9, 10],
    }
    assert colonnade.open(folder(spark) / "b").history(1)[0].operation == "transaction"
    assert ids(spark, "c") == [8, 9, 10]


def test_tables_about_a_table_and_its_handle_show_what_the_transaction_sees(
    spark: SparkShell,
) -> None:
    rowsets = "SELECT rows, deleted_rows FROM colonnade.db.a.rowsets ORDER BY rowset"
    frame = f"colonnade.Table.forPath(spark, {str(folder(spark) / 'a')!r}).toDF().select('id')"
    spark.sql(BEGIN)
    spark.sql("INSERT INTO colonnade.db.a VALUES (10, 0)")
    spark.sql("DELETE FROM colonnade.db.a WHERE id < 3")
    spark.sql("CREATE TABLE colonnade.db.c AS SELECT 1 AS id")
    assert spark.sql(rowsets) == [[10, 3], [1, 0]]
    assert spark.sql("SELECT rows FROM colonnade.db.c.rowsets") == [[1]]
    assert sorted(spark.run(frame)) == [[n] for n in range(3, 11)]
    assert len(spark.sql("SELECT operation FROM colonnade.db.a.history")) == 1
    spark.sql(ROLLBACK)
    assert spark.sql(rowsets) == [[10, 0]]
    assert len(spark.run(frame)) == 10


def test_a_rolled_back_statement_was_never_there(spark: SparkShell) -> None:
    before, base = committed(spark), epoch(spark)
    spark.sql(BEGIN)
    spark.sql("INSERT OVERWRITE colonnade.db.a VALUES (1, 1)")
    spark.sql("INSERT INTO colonnade.db.b REPLACE WHERE id > 3 VALUES (4, 4)")
    spark.sql("TRUNCATE TABLE colonnade.db.b")
    spark.sql("DROP TABLE colonnade.db.a")
    assert spark.sql("SHOW TABLES IN colonnade.db") == [["db", "b", False]]
    assert ids(spark, "b") == []
    spark.sql(ROLLBACK)
    assert (committed(spark), epoch(spark)) == (before, base)
    assert ids(spark, "a") == [*range(10)]


def test_a_conflict_in_one_table_leaves_all_of_them(spark: SparkShell) -> None:
    spark.sql(BEGIN)
    spark.sql("INSERT INTO colonnade.db.b VALUES (99, 99)")
    spark.sql("DELETE FROM colonnade.db.a WHERE id = 3")
    colonnade.open(folder(spark) / "a").update({"v": 7}, "id = 3")
    text = spark.refusal(COMMIT)
    assert text.startswith("[COLONNADE_CONFLICT] Row 3 of RowSet 0 of table 'a' changed in epoch")
    assert committed(spark) == {"a": [*range(10)], "b": [*range(10)]}
    assert ids(spark, "b") == [*range(10)]  # the session is no longer in a transaction


def test_concurrent_appends_do_not_conflict_and_are_not_seen(spark: SparkShell) -> None:
    spark.sql(BEGIN)
    assert ids(spark, "a") == [*range(10)]
    rows = {"id": [50], "v": [50]}
    colonnade.open(folder(spark) / "a").append(pa.table(rows))
    assert ids(spark, "a") == [*range(10)]
    spark.sql("DELETE FROM colonnade.db.a WHERE id > 4")
    spark.sql(COMMIT)
    assert ids(spark, "a") == [*range(5), 50]


def test_a_transaction_sees_what_it_took_from_large_rowsets(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE colonnade.db.c AS SELECT id FROM range(100000)")
    spark.sql(BEGIN)
    spark.sql("DELETE FROM colonnade.db.c WHERE id % 7 = 0 AND id % 5 < 3")
    spark.sql("DELETE FROM colonnade.db.c WHERE id % 11 = 0")
    left = [n for n in range(100_000) if not (n % 7 == 0 and n % 5 < 3) and n % 11]
    question = "SELECT count(*), sum(id) FROM colonnade.db.c WHERE id >= 0"
    assert spark.sql(question) == [[len(left), sum(left)]]
    spark.sql(COMMIT)
    assert spark.sql(question) == [[len(left), sum(left)]]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (BEGIN, "already in a transaction"),
        ("ALTER TABLE colonnade.db.a ADD COLUMN w INT", "cannot be altered within a transaction"),
        ("ALTER TABLE colonnade.db.a RENAME TO c", "cannot be renamed within a transaction"),
        (
            "CALL colonnade.system.set_partitioning('colonnade.db.a', 'v')",
            "cannot be repartitioned within a transaction",
        ),
        ("DROP DATABASE colonnade.db CASCADE", "cannot be dropped within a transaction"),
        (
            "CREATE TABLE colonnade.`{folder}/elsewhere` AS SELECT 1 AS id",
            "is outside it, so write to it before or after",
        ),
    ],
)
def test_a_statement_that_no_transaction_can_hold_is_refused(
    spark: SparkShell, statement: str, words: str
) -> None:
    spark.sql(BEGIN)
    spark.sql("DELETE FROM colonnade.db.a WHERE id = 3")
    assert words in spark.refusal(statement.format(folder=spark.folder))
    spark.sql(COMMIT)
    assert committed(spark)["a"] == [0, 1, 2, *range(4, 10)]


def test_writes_of_two_sessions_in_one_thread_are_kept_apart(spark: SparkShell) -> None:
    path = str(folder(spark) / "b")
    spark.run(f"globals().update(other=spark.newSession(), path={path!r})")
    set_active = "spark._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession"
    writes = (
        "save(path)",
        "saveAsTable('colonnade.db.b')",
        "insertInto('colonnade.db.b')",
    )
    spark.sql(BEGIN)
    for at, write in enumerate(writes):
        for session, rival, row in (("spark", "other", 20 + at), ("other", "spark", 30 + at)):
            rows = f"{session}.range({row}, {row + 1}).selectExpr('id', 'id v')"
            mode = "" if "insert" in write else ".format('colonnade').mode('append')"
            spark.run(f"{set_active}({rival}._jsparkSession)")
            spark.run(f"{rows}.write{mode}.{write}")
    assert committed(spark)["b"] == [*range(10), 30, 31, 32]
    assert ids(spark, "b") == [*range(10), 20, 21, 22]
    spark.sql(COMMIT)
    assert committed(spark)["b"] == [*range(10), 20, 21, 22, 30, 31, 32]


def test_a_change_that_sparks_own_catalog_would_keep_is_refused(spark: SparkShell) -> None:
    name = "spark_catalog.default.own"
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING colonnade")
    spark.sql(BEGIN)
    place = f"USING colonnade LOCATION '{folder(spark)}/c'"
    for statement in (
        f"DROP TABLE {name}",
        f"CREATE TABLE spark_catalog.default.c (id BIGINT) {place}",
        f"CREATE TABLE spark_catalog.default.c {place} AS SELECT 1 AS id",
    ):
        assert "because Spark's own catalog cannot undo it" in spark.refusal(statement)
    spark.sql(ROLLBACK)
    kept = [row for row in spark.sql("SHOW TABLES IN spark_catalog.default") if not row[2]]
    assert kept == [["default", "own", False]]
    assert spark.sql(f"SELECT * FROM {name}") == []
    spark.sql(f"DROP TABLE {name}")


def test_options_of_a_commit_belong_to_the_whole_transaction(spark: SparkShell) -> None:
    spark.sql(BEGIN)
    write = "spark.range(1).selectExpr('id', 'id v').write.format('colonnade').mode('append')"
    save = f".option('userMetadata', 'n').save({str(folder(spark) / 'a')!r})"
    text = spark.refused_run(write + save)
    assert "of transactions; leave them out" in text
    spark.sql(ROLLBACK)
    begin = "CALL colonnade.system.begin(database => 'db', txn_app_id => 'job', txn_version => 1)"
    for _ in range(2):
        spark.sql(begin)
        spark.sql("INSERT INTO colonnade.db.a VALUES (70, 0)")
        spark.sql(COMMIT)
    assert committed(spark)["a"] == [*range(10), 70]


def test_a_transaction_that_is_over_is_named_as_such(spark: SparkShell) -> None:
    assert "not in a transaction" in spark.refusal(COMMIT)
    spark.run(f"spark.conf.set('spark.colonnade.transaction', '{'0' * 32}')")
    text = spark.refusal("SELECT * FROM colonnade.db.a")
    assert "The transaction of this session is over" in text
    assert "RESET spark.colonnade.transaction" in text


def test_a_planner_that_ends_takes_its_transactions_along(spark: SparkShell) -> None:
    before = committed(spark)
    spark.sql(BEGIN)
    spark.sql("INSERT INTO colonnade.db.b VALUES (30, 1)")
    spark.run("__import__('os').kill(int(colonnade.doctor(spark).planner_pid), 9)")
    for statement in ("SELECT * FROM colonnade.db.b", COMMIT):
        assert "The transaction of this session is over" in spark.refusal(statement)
    assert committed(spark) == before
    assert ids(spark, "b") == [*range(10)]


METHODS = """(lambda db: [
    (tx := db.transaction()).table('b').append(spark.range(20, 22).selectExpr('id', 'id v')),
    tx.table('a').delete(F.col('id') < 5),
    tx.table('b').update('id = 20', {{'v': '-1'}}),
    tx.create('c', 'id bigint NOT NULL, v bigint', sortKey=['id desc'], comment="it's ${{c}}").path,
    tx.table('c').overwrite(tx.table('a').toDF()),
    tx.table('c').alias('t').merge(tx.table('b').toDF().alias('s'), 't.id = s.id')
        .whenMatchedDelete().whenNotMatchedInsertAll('s.id > 9').execute(),
    tx.tables(),
    tx.{end}(),
])(colonnade.Database.forPath(spark, {folder!r}))"""


def test_methods_say_what_each_statement_did(spark: SparkShell) -> None:
    base = epoch(spark)
    code = METHODS.format(end="commit", folder=str(folder(spark)))
    append, delete, update, _, overwrite, merge, tables, last = spark.run(code)
    assert "rows_inserted=2," in append
    assert "rows_deleted=5," in delete
    assert "rows_updated=1," in update
    assert "rows_inserted=5," in overwrite
    assert "rows_deleted=5, rows_updated=0, rows_inserted=2," in merge
    assert (tables, last) == (["a", "b", "c"], base + 1)
    assert committed(spark) == {"a": [*range(5, 10)], "b": [*range(10), 20, 21], "c": [20, 21]}
    made = colonnade.open(folder(spark) / "c")
    assert made._state.comment == "it's ${c}"
    assert made._state.sort_key[0].descending


def test_methods_of_a_transaction_that_is_over_are_refused(spark: SparkShell) -> None:
    before = committed(spark)
    assert spark.run(METHODS.format(end="rollback", folder=str(folder(spark))))[-1] is None
    assert committed(spark) == before
    begin = f"colonnade.Database.forPath(spark, {str(folder(spark))!r}).transaction()"
    spark.run(f"globals().update(tx=(tx := {begin}), t=tx.table('a'), n=tx.rollback())")
    for call in (
        "t.delete()",
        "t.toDF()",
        "t.append(spark.range(1))",
        "tx.commit()",
    ):
        assert "This transaction was rolled back; begin another one." in spark.refused_run(call)
    spark.run(f"globals().update(tx={begin})")
    spark.sql(ROLLBACK)
    assert "was ended by a statement of its session" in spark.refused_run("tx.tables()")


def test_methods_that_would_be_epochs_of_their_own_are_refused(spark: SparkShell) -> None:
    db = f"colonnade.Database.forPath(spark, {str(folder(spark))!r})"
    base = epoch(spark)
    spark.sql(BEGIN)
    for call in (
        "createTable('c').addColumn('id', 'bigint').execute()",
        "dropTable('a')",
        "restoreToVersion(1)",
        "table('a').restoreToVersion(1)",
        "table('a').restoreToTimestamp('2100-01-01')",
    ):
        assert "cannot be part of the session's transaction" in spark.refused_run(f"{db}.{call}")
    spark.sql(ROLLBACK)
    assert epoch(spark) == base


def test_a_block_that_raises_leaves_nothing(spark: SparkShell) -> None:
    before, path = committed(spark), str(folder(spark))
    code = (
        "exec('with colonnade.Database.forPath(spark, path).transaction() as tx:\\n"
        '  tx.table("a").delete()\\n  tx.table("nowhere").delete()\','
        " {'spark': spark, 'colonnade': colonnade, 'path': %r})"
    )
    assert "whose tables are: a, b." in spark.refused_run(code % path)
    assert committed(spark) == before
    assert ids(spark, "a") == [*range(10)]
