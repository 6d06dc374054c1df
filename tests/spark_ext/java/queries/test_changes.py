"""Every door of Spark to the changes of a table shows the rows that Python's feed shows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import colonnade
from colonnade.manifests.limits import Limits
from colonnade.manifests.store import LocalStore
from tests.spark_ext.java.queries.change_doors import HAS_CHANGES
from tests.spark_ext.java.spark_shell import SparkShell
from tests.tableformat.feed.test_histories import LIMITS, Longer
from tests.tableformat.statements.test_row_histories import FORMS

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

DOORS = "__import__('tests.spark_ext.java.queries.change_doors', fromlist=['x'])"
needs_changes = pytest.mark.skipif(not HAS_CHANGES, reason="Spark 4.1 has no CHANGES")


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """A session, and an empty database `feed` of its catalog."""
    spark_shell.sql("CREATE DATABASE colonnade.feed")
    yield spark_shell
    spark_shell.sql("DROP DATABASE colonnade.feed CASCADE")


def path_of(spark: SparkShell, table: str) -> str:
    return f"{spark.folder}/warehouse/feed/{table}"


def differences(
    spark: SparkShell, path: Path | str, *ranges: tuple[int, int], doors: list[str] | None = None
) -> list[str]:
    chosen = [*map(list, ranges)]
    found: list[str] = spark.run(f"{DOORS}.differences(spark, {str(path)!r}, {chosen}, {doors})")
    return found


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 8))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", FORMS)
def test_every_door_shows_what_python_shows_of_a_random_history(
    spark_shell: SparkShell, tmp_path: Path, form: str, seed: int
) -> None:
    rng = random.Random(f"doors {form} {seed}")
    store = LocalStore(str(tmp_path / "db"))
    history: Any = Longer(form, rng, rng.choice(LIMITS), store)
    for _ in range(14):
        history.turn()
    last = history.table().epoch
    first, end = sorted(rng.sample(range(2, last + 1), 2))
    assert differences(spark_shell, tmp_path / "db" / "t", (2, last), (first, end)) == []


def test_changes_of_sparks_own_statements_are_shown(spark: SparkShell) -> None:
    t = "colonnade.feed.orders"
    spark.sql(
        f"CREATE TABLE {t} (id BIGINT NOT NULL, day DATE, tags ARRAY<STRING>, m MAP<STRING, INT>,"
        " s STRUCT<a: INT, b: STRING>, c CHAR(3), price DECIMAL(20, 2)) PARTITIONED BY (day)"
    )
    spark.sql(
        f"INSERT INTO {t} SELECT id, date_add(DATE'2026-01-01', int(id % 3)), array(string(id)),"
        " map('a', int(id)), named_struct('a', int(id), 'b', NULL), 'ab', id / 3 FROM range(200)"
    )
    spark.sql(f"UPDATE {t} SET s.a = 0, tags = array('x') WHERE id % 10 = 0")
    spark.sql(f"UPDATE {t} SET price = price WHERE id < 20")
    spark.sql(
        f"MERGE INTO {t} USING (SELECT id FROM range(190, 210)) n ON {t.split('.')[-1]}.id = n.id"
        " WHEN MATCHED AND n.id < 195 THEN DELETE WHEN MATCHED THEN UPDATE SET c = 'new'"
        " WHEN NOT MATCHED THEN INSERT (id) VALUES (n.id)"
    )
    spark.sql(f"DELETE FROM {t} WHERE id BETWEEN 50 AND 60")
    spark.sql(f"OPTIMIZE {t}")
    spark.sql(f"INSERT OVERWRITE {t} SELECT * FROM {t} WHERE id < 100")
    last = colonnade.open(path_of(spark, "orders")).epoch
    assert differences(spark, path_of(spark, "orders"), (1, last), (3, 5)) == []
    kinds = spark.sql(
        f"SELECT _change_type, count(*) FROM {t}.changes WHERE _commit_version = 3"
        " GROUP BY ALL ORDER BY ALL"
    )
    assert kinds == [["update_postimage", 20], ["update_preimage", 20]]


CONDITIONS = {
    "_change_type = 'delete'": "_change_type = 'delete'",
    "_change_type LIKE 'update%' AND v > 3": "_change_type > 'update' AND v > 3",
    "_commit_version = 5": "_commit_version = 5",
    "_commit_version > 3 AND _commit_version <= 6 AND k % 2 = 0 AND k < 9": (
        "_commit_version > 3 AND _commit_version <= 6 AND k IN (0, 2, 4, 6, 8)"
    ),
    "_commit_version IN (3, 6) OR v IS NULL": "_commit_version IN (3, 6) OR v IS NULL",
    "NOT (_commit_version < 4)": "NOT (_commit_version < 4)",
    "s = 's3'": "s = 's3'",
    "k = -1": "k = -1",
}


@pytest.mark.parametrize("form", ["plain", "keyed"])
def test_filters_on_all_columns_leave_the_rows_that_python_leaves(
    spark_shell: SparkShell, tmp_path: Path, form: str
) -> None:
    rng = random.Random(f"filters {form}")
    history: Any = Longer(form, rng, Limits(), LocalStore(str(tmp_path / "db")))
    for _ in range(10):
        history.turn()
    path = str(tmp_path / "db" / "t")
    assert spark_shell.run(f"{DOORS}.filtered(spark, {path!r}, {CONDITIONS})") == []


def test_conditions_on_the_time_choose_the_range_of_the_metadata_table(spark: SparkShell) -> None:
    t = "colonnade.feed.t"
    spark.sql(f"CREATE TABLE {t} (id INT)")
    for i in range(3):
        spark.sql(f"INSERT INTO {t} VALUES ({i})")
    (times,) = zip(
        *spark.sql(
            f"SELECT DISTINCT string(_commit_timestamp) FROM {t}.changes"
            " WHERE _commit_version > 0 ORDER BY 1"
        ),
        strict=True,
    )
    for text, ids in (
        (f"_commit_timestamp >= '{times[1]}'", [1, 2]),
        (f"_commit_timestamp > '{times[1]}'", [2]),
        (f"_commit_timestamp = TIMESTAMP'{times[1]}'", [1]),
        (f"_commit_timestamp BETWEEN '{times[0]}' AND '{times[1]}'", [0, 1]),
    ):
        found = spark.sql(f"SELECT id FROM {t}.changes WHERE {text} ORDER BY id")
        assert found == [[each] for each in ids], text
    found = spark.sql(f"SELECT id FROM table_changes('{t}', TIMESTAMP'{times[1]}', '{times[1]}')")
    assert found == [[1]]
    found = spark.sql(f"SELECT id FROM table_changes('{t}', current_timestamp() - INTERVAL 1 DAY)")
    assert sorted(found) == [[0], [1], [2]]
    code = f"spark.read.option('readChangeFeed', True).option('startingTimestamp', '{times[2]}')"
    assert spark.run(f"{code}.table('{t}').select('id')") == [[2]]
    if HAS_CHANGES:
        end = f"TO TIMESTAMP '{times[1]}'"
        found = spark.sql(f"SELECT id FROM {t} CHANGES FROM TIMESTAMP '{times[0]}' EXCLUSIVE {end}")
        assert found == [[1]]


def test_options_choose_bounds_net_changes_and_the_form_of_updates(spark: SparkShell) -> None:
    t = "colonnade.feed.t"
    spark.sql(f"CREATE TABLE {t} (id INT NOT NULL, v INT) TBLPROPERTIES (primaryKey = 'id')")
    spark.sql(f"INSERT INTO {t} VALUES (1, 1), (2, 2)")  # epoch 3
    first = colonnade.open(path_of(spark, "t")).epoch
    spark.sql(f"UPDATE {t} SET v = 5 WHERE id = 1")
    spark.sql(f"UPDATE {t} SET v = 6 WHERE id = 1")
    spark.sql(f"DELETE FROM {t} WHERE id = 2")

    def read(**options: Any) -> list[list[Any]]:
        chosen = {"readChangeFeed": "true", "startingVersion": first, **options}
        frame = f"spark.read.options(**{chosen}).table('{t}')"
        rows = spark.run(f"{frame}.select('_commit_version', '_change_type', 'id', 'v')")
        return sorted([version - first, *others] for version, *others in rows)

    updated = [
        [1, "update_postimage", 1, 5],
        [1, "update_preimage", 1, 1],
        [2, "update_postimage", 1, 6],
        [2, "update_preimage", 1, 5],
    ]
    came, went = [[0, "insert", 1, 1], [0, "insert", 2, 2]], [[3, "delete", 2, 2]]
    assert read() == [*came, *updated, *went]
    assert read(startingBoundInclusive="false") == [*updated, *went]
    assert read(endingVersion=first + 1, endingBoundInclusive="false") == came
    net = [[3, "delete", 2, 2], [3, "update_postimage", 1, 6], [3, "update_preimage", 1, 1]]
    assert read(startingVersion=first + 1, deduplicationMode="netChanges") == net
    assert read(deduplicationMode="netChanges") == [[3, "insert", 1, 6]]
    assert read(startingVersion=first + 1, endingVersion=first + 1, computeUpdates="false") == [
        [1, "delete", 1, 1],
        [1, "insert", 1, 5],
    ]
    assert read(startingVersion=first + 9, allowFuture="true") == []
    rows = spark.run(f"spark.read.option('readChangeFeed', 'false').table('{t}')")
    assert rows == [[1, 6]]
    spark.sql(f"CALL colonnade.system.tag(name => 'seen', table => '{t}', epoch => {first})")
    assert read(startingVersion="seen", startingBoundInclusive="false") == [*updated, *went]
    found = spark.sql(f"SELECT count(*) FROM table_changes('{t}', 'seen', {first})")
    assert found == [[2]]
    if HAS_CHANGES:
        query = f"SELECT _change_type, v FROM {t} CHANGES FROM VERSION 'seen' EXCLUSIVE"
        assert sorted(spark.sql(f"{query} WITH (deduplicationMode = 'netChanges')")) == [
            ["delete", 1],
            ["delete", 2],
            ["insert", 6],
        ]


REFUSED = [
    ("SELECT * FROM {t}.changes", "need a start"),
    ("SELECT * FROM {t}.changes WHERE id = 1", "need a start"),
    ("SELECT * FROM {t}.changes VERSION AS OF 1", "has no earlier versions"),
    ("INSERT INTO {t}.changes SELECT 1, 'insert', 1, now(), 1", "cannot be written"),
    ("DELETE FROM {t}.changes", "cannot be written"),
    ("DROP TABLE {t}.changes", "cannot be dropped"),
    ("SELECT * FROM table_changes('{t}')", "takes a table, the first epoch"),
    ("SELECT * FROM table_changes('{t}', 99)", "does not exist yet"),
    ("SELECT * FROM table_changes('{t}', 2, 1)", "have no epoch"),
    ("SELECT * FROM table_changes('{t}', 'no tag')", "no tag"),
    ("SELECT * FROM table_changes('{t}', NULL)", "must be an epoch, a time or a tag"),
    ("SELECT * FROM table_changes('{t}', CAST(NULL AS INT))", "must not be NULL"),
    ("SELECT * FROM table_changes('{t}', 1.5)", "must be an epoch, a time or a tag"),
    ("SELECT * FROM table_changes(1, 1)", "must be a text that names a table"),
    ("SELECT * FROM (VALUES (1)) v(x), LATERAL table_changes('{t}', x)", "must be constants"),
    ("SELECT * FROM table_changes('files', 1)", "files is not one"),
    ("SELECT * FROM table_changes_by_path('/no/table', 1)", "/no/table is not a Colonnade"),
    ("SELECT * FROM table_changes_by_path('no/table', 1)", "is relative"),
    ("SELECT * FROM {t} WITH (readChangeFeed = 'maybe')", "readChangeFeed must be true or false"),
    ("SELECT * FROM {t} WITH (readChangeFeed = 'true')", "need a start"),
    (
        "SELECT * FROM {t} WITH (readChangeFeed = 'true', startingVersion = 1, epoch = 2)",
        "epoch is not for reading changes",
    ),
    ("SELECT * FROM {t} WITH (startingVersion = 1)", "startingVersion is not for reading"),
]
if HAS_CHANGES:
    REFUSED += [
        ("SELECT * FROM {t} CHANGES FROM VERSION 99", "does not exist yet"),
        ("SELECT * FROM {t} CHANGES FROM VERSION 2 TO VERSION 1", "have no epoch"),
        ("SELECT * FROM files CHANGES FROM VERSION 1", "only Colonnade tables have changes"),
        ("SELECT * FROM {t} CHANGES FROM VERSION 1 WITH (also = 'all')", "also takes the words"),
    ]


def test_what_cannot_be_read_is_refused_in_one_sentence(spark: SparkShell) -> None:
    t = "colonnade.feed.t"
    spark.sql(f"CREATE TABLE {t} (id INT)")
    spark.sql(f"INSERT INTO {t} VALUES (1)")
    spark.sql("CREATE TABLE IF NOT EXISTS files (id INT) USING parquet")
    for statement, part in REFUSED:
        refusal = spark.refusal(statement.format(t=t))
        assert refusal.startswith("[COLONNADE_"), (statement, refusal)
        assert part in refusal, (statement, refusal)
        assert refusal.endswith("."), (statement, refusal)
    if HAS_CHANGES:
        refusal = spark.refused_run(f"spark.read.changes('{t}')")
        assert "need a start" in refusal
    missing = "SELECT * FROM table_changes('colonnade.feed.missing', 1)"
    assert spark.condition(missing) == "TABLE_OR_VIEW_NOT_FOUND"
    spark.sql(f"CREATE TABLE {t}2 (id INT, _commit_version INT)")
    assert "is the name of a column of the change feed" in spark.refusal(
        f"SELECT * FROM {t}2.changes WHERE _commit_version > 0"
    )


def test_a_table_of_sparks_own_catalog_shows_its_changes(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE feed_here (id INT) USING colonnade")
    try:
        spark.sql("INSERT INTO feed_here VALUES (1), (2)")
        statements = [
            "SELECT id FROM feed_here.changes WHERE _commit_version > 0",
            "SELECT id FROM default.feed_here.changes WHERE _commit_version > 0",
            "SELECT id FROM table_changes('feed_here', 0)",
            "SELECT id FROM feed_here WITH (readChangeFeed = 'true', startingVersion = 0)",
        ]
        if HAS_CHANGES:
            statements.append("SELECT id FROM feed_here CHANGES FROM VERSION 0")
        for statement in statements:
            assert sorted(spark.sql(statement)) == [[1], [2]], statement
    finally:
        spark.sql("DROP TABLE feed_here")


def test_a_plan_reads_the_columns_that_a_query_needs_and_shows_its_filters(
    spark: SparkShell,
) -> None:
    t = "colonnade.feed.t"
    spark.sql(f"CREATE TABLE {t} (id INT, s STRUCT<a: INT, b: STRING>, unread STRING)")
    spark.sql(f"INSERT INTO {t} VALUES (1, named_struct('a', 1, 'b', 'x'), 'no')")
    spark.sql(f"UPDATE {t} SET s.b = 'y', unread = 'still'")
    query = f"SELECT s.a, _change_type FROM {t}.changes WHERE _commit_version > 0 AND s.a = 1"
    plan = spark.sql(f"EXPLAIN {query}")[0][0]
    assert "columns struct<s:struct<a:int,b:string>,_change_type:string" in plan
    assert "unread" not in plan
    assert "_commit_version > 0" in plan
    assert "Exchange" not in plan
    kinds = ["insert", "update_postimage", "update_preimage"]
    assert sorted(spark.sql(query)) == [[1, kind] for kind in kinds]
    both = f"SELECT count(*) FROM ({query} UNION ALL {query})"
    assert spark.sql(both) == [[6]]
