"""UPDATE in SQL that writes the columns that it sets: equal rows, refusals, plans, transactions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

import colonnade
from tests.spark_ext.java.kept import KeptDatabase
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = pytest.mark.spark_compat

TABLE, SHADOW = "colonnade.db.t", "colonnade.db.u"
WHOLE = "(SELECT true)"
"""A condition that makes Spark write whole rows: a subquery."""

SETTING = "spark.colonnade.replaceColumnsBytes"

NUMBERS = [f"c{i}" for i in range(14)]


def created(table: str, decimal: str, more: str = "") -> str:
    """Return the statement that makes a table."""
    numbers = ", ".join(f"{column} DOUBLE" for column in NUMBERS)
    return (
        f"CREATE TABLE {table} (id BIGINT NOT NULL, n INT NOT NULL, s STRUCT<f: INT, g: STRING>,"
        f" c CHAR(4), w VARCHAR(6), d {decimal}, {numbers}{more},"
        " CONSTRAINT pos CHECK (n >= 0), CONSTRAINT known CHECK (w <> 'bad'))"
    )


def statements() -> list[str]:
    """Make 4000 rows in two RowSets, before and after columns change; some are deleted."""
    values = "id % 7, named_struct('f', id % 5, 'g', 'x'), 'ab', 'v', 1.5"
    select = f"SELECT id, {values}, {', '.join(f'rand({i})' for i in range(14))}"
    return [
        created(TABLE, "DECIMAL(9,2)"),
        f"INSERT INTO {TABLE} {select} FROM range(0, 2000, 1, 1)",
        f"ALTER TABLE {TABLE} ADD COLUMN later INT DEFAULT 5",
        f"ALTER TABLE {TABLE} ALTER COLUMN d TYPE DECIMAL(12,3)",
        f"INSERT INTO {TABLE} {select}, NULL FROM range(2000, 4000, 1, 1)",
        f"DELETE FROM {TABLE} WHERE id % 97 = 3",
        created(SHADOW, "DECIMAL(12,3)", ", later INT DEFAULT 5"),
        f"INSERT INTO {SHADOW} SELECT * FROM {TABLE}",
    ]


@pytest.fixture(scope="module")
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With two tables of equal rows. The tests change the first one, each further."""
    kept = KeptDatabase(spark_shell, "db", statements())
    yield kept.ready()
    kept.drop()


@pytest.fixture(autouse=True)
def in_small_tables(spark: SparkShell) -> Iterator[None]:
    """Columns are replaced however few bytes the changed rows take."""
    spark.sql(f"SET {SETTING} = 0")
    yield
    spark.sql(f"RESET {SETTING}")


def table(spark: SparkShell) -> colonnade.ArrowTable:
    return colonnade.open(spark.folder / "warehouse" / "db" / "t")


def last(spark: SparkShell, name: str = "t") -> dict[str, int]:
    """What history says of the newest epoch, without what is zero."""
    entry = colonnade.open(spark.folder / "warehouse" / "db" / name).history(1)[0]
    assert entry.operation == "update"
    return {n: count for n, count in entry.metrics.items() if count and "bytes" not in n}


def rows(spark: SparkShell, table: str) -> list[list[Any]]:
    return spark.sql(f"SELECT count(*), bit_xor(xxhash64(*)), max(later), min(w) FROM {table}")


SETS = [
    "n = n + 1",
    "s.f = n, c = 'q'",
    "w = concat(w, id % 10), later = DEFAULT",
    "d = d + id, c3 = c4, c4 = c3",
    "later = CASE WHEN id % 2 = 0 THEN later END",
    "s = NULL, c5 = NULL",
]
CONDITIONS = ["id >= 5", "id < 2001", "c1 < 0.9 OR c1 IS NULL", "later > 4", "d IS NOT NULL"]


@pytest.mark.matrix
def test_updates_that_replace_columns_leave_the_rows_that_whole_rows_would(
    spark: SparkShell,
) -> None:
    """The second condition changes one RowSet by its columns, and moves one row of the other."""
    pick = random.Random(7)
    updates = [*zip(pick.sample(SETS, 5), pick.sample(CONDITIONS, 5), strict=True)]
    updates.append(("n = n * 2", "true"))
    before, first = rows(spark, TABLE), table(spark).epoch
    in_place = []
    for values, condition in updates:
        spark.sql(f"UPDATE {TABLE} SET {values} WHERE {condition}")
        spark.sql(f"UPDATE {SHADOW} SET {values} WHERE ({condition}) AND {WHOLE}")
        done, whole = last(spark), last(spark, "u")
        assert "rowsets_in_place" not in whole
        assert done["rows_updated"] == whole["rows_updated"], (values, condition)
        in_place.append(done.get("rowsets_in_place", 0))
    assert rows(spark, TABLE) == rows(spark, SHADOW) != before
    assert all(in_place), in_place
    assert table(spark).verify().is_sound
    assert rows(spark, f"{TABLE} VERSION AS OF {first}") == before


@pytest.mark.matrix
@pytest.mark.parametrize("condition", ["", "WHERE true", "WHERE id IS NOT NULL"])
def test_new_values_may_read_what_the_table_offers_beside_its_columns(
    spark: SparkShell, condition: str
) -> None:
    values = "n = CAST(x._epoch % 9 AS INT), c9 = _row_handler - shiftleft(_rowset, 32) - _row"
    spark.sql(f"UPDATE {TABLE} AS x SET {values} {condition}")
    assert last(spark)["rowsets_in_place"] >= 1
    assert spark.sql(f"SELECT DISTINCT c9, n < 9 FROM {TABLE}") == [[0.0, True]]


def test_columns_and_rows_change_in_one_epoch(spark: SparkShell) -> None:
    before = table(spark).epoch
    spark.sql(f"UPDATE {TABLE} SET n = 100 WHERE id < 2002")
    found = last(spark)
    assert found["rowsets_in_place"] == 1 < found["rowsets_touched"]
    assert spark.sql(f"SELECT count(*), max(id) FROM {TABLE} WHERE n = 100") == [
        [found["rows_updated"], 2001]
    ]
    assert table(spark).epoch == before + 1


@pytest.mark.matrix
def test_rows_move_where_new_values_are_too_wide_for_the_cuts(spark: SparkShell) -> None:
    """Readers decode all rows between two cuts. In the first RowSet these would take 70 MB."""
    wide = "repeat('x', CASE WHEN id < 2000 THEN 35000 ELSE id % 9 END)"
    spark.sql(f"UPDATE {TABLE} SET s = named_struct('f', n, 'g', {wide})")
    found = last(spark)
    assert 1 <= found["rowsets_in_place"] < found["rowsets_touched"]
    sizes = "min(length(s.g)), max(length(s.g)), count_if(s.f <> n)"
    assert spark.sql(f"SELECT {sizes} FROM {TABLE} GROUP BY id < 2000 ORDER BY 2") == [
        [0, 8, 0],
        [35000, 35000, 0],
    ]
    assert table(spark).verify(4).is_sound
    spark.sql(f"UPDATE {TABLE} SET s = NULL")


@pytest.mark.matrix
def test_updates_of_different_rows_at_once_all_succeed(spark: SparkShell) -> None:
    """Both replace one column of one RowSet. The later one moves its rows instead."""
    pool = "__import__('concurrent.futures', fromlist=['x']).ThreadPoolExecutor(2)"
    update = (
        f"spark.sql(f'UPDATE {TABLE} SET n = n + {{n}} WHERE id < 2000 AND id % 2 = {{n}} - 1')"
    )
    (before,) = spark.sql(f"SELECT sum(n), count(*) FROM {TABLE} WHERE id < 2000")
    (even,) = spark.sql(f"SELECT count(*) FROM {TABLE} WHERE id < 2000 AND id % 2 = 0")
    spark.run(f"len([*{pool}.map(lambda n: {update}, (1, 2))])")
    (after,) = spark.sql(f"SELECT sum(n), count(*) FROM {TABLE} WHERE id < 2000")
    assert after == [before[0] + even[0] + 2 * (before[1] - even[0]), before[1]]


def test_the_plan_shows_both_ways(spark: SparkShell) -> None:
    (plan,) = spark.sql(f"EXPLAIN UPDATE {TABLE} SET n = 1")[0]
    assert "ReplaceColumns where that writes fewer bytes" in plan
    assert "+- WriteDelta" in plan


@pytest.mark.parametrize(
    ("update", "words"),
    [
        ("SET n = -id WHERE id > 3", "CHECK_CONSTRAINT_VIOLATION"),
        ("SET w = 'bad', n = 3", "CHECK constraint known"),
        ("SET w = 'much too long'", "EXCEED_LIMIT_LENGTH"),
        ("SET n = CASE WHEN id < 3990 THEN 1 END", "NULL"),
        ("SET n = 1 / 0 WHERE id > 10", "DIVIDE_BY_ZERO"),
        ("SET _row = 5", "UPDATE cannot set '_row'"),
        ("SET n = 5, _EPOCH = 5 WHERE id = 5", "UPDATE cannot set '_EPOCH'"),
    ],
)
def test_values_that_the_table_does_not_allow_change_nothing(
    spark: SparkShell, update: str, words: str
) -> None:
    before = table(spark).epoch
    assert words in spark.refusal(f"UPDATE {TABLE} {update}")
    assert table(spark).epoch == before


@pytest.mark.matrix
def test_the_current_time_is_equal_in_all_rows_and_values_of_other_rows_are_not_computed(
    spark: SparkShell,
) -> None:
    spark.sql(f"UPDATE {TABLE} SET c7 = unix_micros(current_timestamp()) WHERE id < 2001")
    assert last(spark)["rowsets_in_place"] >= 1
    assert spark.sql(f"SELECT count(DISTINCT c7) FROM {TABLE} WHERE id < 2001") == [[1]]
    spark.sql(f"UPDATE {TABLE} SET c8 = 1 / (id - 5) WHERE id > 5")
    assert last(spark)["rowsets_in_place"] >= 2


@pytest.mark.matrix
def test_a_transaction_sees_replaced_columns_and_commits_them(spark: SparkShell) -> None:
    before = table(spark)
    count = len(before.scan(["id"]).to_arrow())
    found = f"SELECT id < 10000, min(n), max(n), max(c2), count(*) FROM {TABLE} GROUP BY 1"
    columns = ", ".join(["n", "s", "c", "w", "d", *NUMBERS, "later"])
    spark.sql("CALL colonnade.system.begin(database => 'db')")
    try:
        spark.sql(f"UPDATE {TABLE} SET n = 7 WHERE id >= 0")
        spark.sql(f"INSERT INTO {TABLE} SELECT id + 10000, {columns} FROM {SHADOW}")
        spark.sql(f"UPDATE {TABLE} SET n = n + 1, c2 = 0")
        within = spark.sql(f"{found} ORDER BY 1")
        assert table(spark).epoch == before.epoch
        spark.sql("CALL colonnade.system.commit()")
    finally:
        spark.run("spark.conf.unset('spark.colonnade.transaction')")
    assert spark.sql(f"{found} ORDER BY 1") == within
    assert within[1] == [True, 8, 8, 0.0, count]
    assert (within[0][3], within[0][4]) == (0.0, count)
    assert table(spark).epoch == before.epoch + 1
    assert table(spark).verify().is_sound


@pytest.mark.matrix
def test_rows_move_where_they_take_few_bytes(spark: SparkShell) -> None:
    spark.sql(f"RESET {SETTING}")
    spark.sql(f"UPDATE {TABLE} SET n = 6")
    assert "rowsets_in_place" not in last(spark)
    spark.sql(f"SET {SETTING} = much")
    assert f"{SETTING} is 'much'" in spark.refusal(f"UPDATE {TABLE} SET n = 6")
