"""MERGE that writes the columns that it sets: the rows that DuckDB has, refusals, other writers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = pytest.mark.spark_compat

TABLE = "colonnade.merged.t"
SETTING = "spark.colonnade.replaceColumnsBytes"
ROWS = 1500
"""The rows of each of the two RowSets."""

OTHERS = [f"c{i}" for i in range(44)]
"""Columns that no statement sets. They take most of the bytes."""

NAMES = ["id", "n", "s", "w", *OTHERS]
INSERT = (
    f"INSERT ({', '.join(NAMES)}) VALUES (src.id, src.v, src.s, src.x,"
    f" {', '.join('0.5' for _ in OTHERS)})"
)


def rows(first: int, count: int) -> pa.Table:
    """Rows with NULLs, a nested column, and many bytes."""
    pick = np.random.default_rng(first)
    ids = range(first, first + count)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "n": pa.array([None if i % 13 == 5 else i % 7 for i in ids], pa.int32()),
            "s": pa.array(
                [None if i % 11 == 3 else {"f": i % 5, "g": None if i % 3 else "x"} for i in ids],
                pa.struct([("f", pa.int32()), ("g", pa.string())]),
            ),
            "w": pa.array([None if i % 17 == 1 else f"w{i % 10}" for i in ids]),
            **{name: pick.random(count) for name in OTHERS},
        }
    )


def source(seed: int, count: int) -> pa.Table:
    """Rows to merge. Their ids are distinct, and about a third of them is new."""
    pick = random.Random(seed)
    ids = pick.sample(range(ROWS // 2, 4 * ROWS), count)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "v": pa.array([None if pick.random() < 0.1 else i % 100 for i in ids], pa.int32()),
            "x": pa.array([None if pick.random() < 0.1 else f"x{i % 7}" for i in ids]),
            "s": pa.array(
                [None if pick.random() < 0.1 else {"f": i % 9, "g": "y"} for i in ids],
                pa.struct([("f", pa.int32()), ("g", pa.string())]),
            ),
        }
    )


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With a table of two large RowSets; columns are replaced however few bytes rows take."""
    spark_shell.sql("CREATE DATABASE colonnade.merged")
    table = colonnade.open_database(spark_shell.folder / "warehouse" / "merged").create_table(
        "t", rows(0, ROWS).schema
    )
    for first in (0, ROWS):
        table.append(rows(first, ROWS))
    for name, each in (("few", source(1, 300)), ("many", source(2, 3600))):
        pq.write_table(each, spark_shell.folder / f"{name}.parquet")
        spark_shell.run(
            f"spark.read.parquet(folder + '/{name}.parquet').createOrReplaceTempView('{name}')"
        )
    spark_shell.sql(f"SET {SETTING} = 0")
    yield spark_shell
    spark_shell.sql(f"RESET {SETTING}")
    spark_shell.sql("DROP DATABASE IF EXISTS colonnade.merged CASCADE")


def opened(spark: SparkShell) -> colonnade.ArrowTable:
    return colonnade.open_database(spark.folder / "warehouse" / "merged").table("t")


def last(spark: SparkShell) -> dict[str, int]:
    """What history says of the newest epoch."""
    return dict(opened(spark).history(1)[0].metrics)


@dataclass
class Statements:
    """Makes random statements, in SQL that Spark and DuckDB both take to mean the same."""

    pick: random.Random
    sets: tuple[str, ...] = ("n = src.v", "n = t.n + src.v", "w = src.x", "s = src.s")
    own: tuple[str, ...] = ("n = t.n + 1", "w = t.w || 'z'", "n = -1", "s = NULL")
    conditions: tuple[str, ...] = field(
        default=("src.v % 3 = 1", "t.id < 2000", "t.n IS NULL", "t.n > 2 OR src.x = 'x1'")
    )

    def values(self, choices: tuple[str, ...]) -> str:
        """Assignments to one or two columns."""
        chosen = self.pick.sample(choices, self.pick.randrange(1, 3))
        return ", ".join({each.split()[0]: each for each in chosen}.values())

    def merge(self) -> str:
        """A MERGE that updates, and may have three other clauses."""
        pick = self.pick
        clauses = []
        if pick.random() < 0.4:
            clauses.append(f"WHEN MATCHED AND {pick.choice(self.conditions)} THEN DELETE")
        if pick.random() < 0.5:
            clauses.append(
                f"WHEN MATCHED AND {pick.choice(self.conditions)} THEN UPDATE SET"
                f" {self.values(self.sets)}"
            )
        clauses.append(f"WHEN MATCHED THEN UPDATE SET {self.values(self.sets)}")
        if pick.random() < 0.6:
            more = pick.choice(["", " AND src.v > 50"])
            clauses.append(f"WHEN NOT MATCHED{more} THEN {INSERT}")
        if pick.random() < 0.4:
            done = pick.choice(["DELETE", f"UPDATE SET {self.values(self.own)}"])
            clauses.append(f"WHEN NOT MATCHED BY SOURCE AND t.id % 10 = 1 THEN {done}")
        table = pick.choice(["few", "many", "many"])
        return f"MERGE INTO {{t}} t USING {table} src ON t.id = src.id " + " ".join(clauses)

    def update(self) -> str:
        """An UPDATE of most rows, or of few."""
        condition = self.pick.choice(["id >= 200", "id < 1503", "n IS NOT NULL"])
        return f"UPDATE {{t}} SET {self.values(self.own).replace('t.', '')} WHERE {condition}"


def compare(spark: SparkShell, seed: int, count: int) -> list[dict[str, int]]:
    """Run `count` statements in both engines, and compare all rows after each. Return counts."""
    duck = duckdb.connect()
    for name in ("few", "many"):
        duck.execute(f"CREATE VIEW {name} AS FROM '{spark.folder}/{name}.parquet'")
    first = opened(spark).scan().to_arrow()  # noqa: F841 - DuckDB reads it by its name
    duck.execute("CREATE TABLE t AS FROM first")
    make, pick, done = Statements(random.Random(seed)), random.Random(seed), []
    for number in range(count):
        statement = make.update() if number % 5 == 3 else make.merge()
        duck.execute(statement.format(t="t"))
        spark.sql(statement.format(t=TABLE))
        done.append({"number": number, **last(spark)})
        found = opened(spark).scan().to_arrow().sort_by("id").combine_chunks()
        expected = duck.execute("FROM t ORDER BY id").arrow().read_all().cast(found.schema)
        assert found.equals(expected.combine_chunks()), (seed, number, statement)
        if number % 3 == 1:
            least = pick.randrange(40)
            opened(spark).delete(f"id BETWEEN {40 * least} AND {40 * least + 9}")
            duck.execute(f"DELETE FROM t WHERE id BETWEEN {40 * least} AND {40 * least + 9}")
        if number % 4 == 2:
            opened(spark).optimize().executeCompaction()
    assert opened(spark).verify().is_sound
    return done


@pytest.mark.matrix
def test_random_merges_that_replace_columns_leave_the_rows_that_duckdb_has(
    spark: SparkShell,
) -> None:
    done = compare(spark, 1, 7)
    assert sum("rowsets_in_place" in each for each in done) > 3, done
    assert any(each.get("rowsets_in_place", 0) < each["rowsets_touched"] for each in done), done


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 18))
def test_many_random_merges_leave_the_rows_that_duckdb_has(spark: SparkShell, seed: int) -> None:
    assert any("rowsets_in_place" in each for each in compare(spark, seed, 25))


def merge(using: str, *clauses: str) -> str:
    return f"MERGE INTO {TABLE} t USING {using} ON t.id = src.id {' '.join(clauses)}"


def test_a_merge_replaces_moves_inserts_and_deletes_in_one_epoch(spark: SparkShell) -> None:
    """The second RowSet has few changed rows, so these move."""
    before = opened(spark).epoch
    using = "(SELECT id, CAST(id AS INT) AS v, 'x' AS x, NULL AS s FROM range(4000)) src"
    spark.sql(
        merge(
            using,
            "WHEN MATCHED AND t.id % 100 = 1 THEN DELETE",
            f"WHEN MATCHED AND t.id < {ROWS + 10} THEN UPDATE SET n = src.v",
            f"WHEN NOT MATCHED AND src.id < {2 * ROWS + 7} THEN {INSERT}",
        )
    )
    assert opened(spark).epoch == before + 1
    found = last(spark)
    assert (found["rows_updated"], found["rows_deleted"]) == (ROWS + 10 - 16, 30)
    assert (found["rows_inserted"], found["rowsets_in_place"]) == (7, 1)
    (again,) = spark.sql(
        "SELECT count(*), count_if(n = id), count_if(id % 100 = 1), count_if(c0 = 0.5)"
        f" FROM {TABLE}"
    )
    assert again[0] == 2 * ROWS - 30 + 7
    assert again[1] >= ROWS + 10 - 16 + 7
    assert again[2:] == [1, 7]  # row 3001 was inserted


@pytest.mark.matrix
def test_a_source_is_evaluated_once_and_a_column_of_it_may_have_a_reserved_name(
    spark: SparkShell,
) -> None:
    """The source has other values each time it is read. Both set columns have the same one."""
    spark.run(
        "spark.createDataFrame(spark.sparkContext.range(1510).map("
        "lambda i: (i, __import__('random').randrange(1000), i, i)),"
        " 'id long, v int, _row_handler long, _row long').createOrReplaceTempView('dice')"
    )
    spark.sql(
        merge(
            "dice src",
            "WHEN MATCHED THEN UPDATE SET n = src.v, w = concat(src.v, ' ', src._row_handler)",
        )
    )
    found = last(spark)
    assert found["rowsets_in_place"] == 1 < found["rowsets_touched"]
    (same,) = spark.sql(
        f"SELECT count_if(w = concat(n, ' ', id)), count(DISTINCT n) FROM {TABLE} WHERE id < 1510"
    )
    assert same[0] == 1510
    assert same[1] > 100


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("(SELECT id % 900 AS id, 1 AS v FROM range(1800)) src", "MERGE_CARDINALITY_VIOLATION"),
        ("(SELECT id, 1 / (id - 7) AS v FROM range(1800)) src", "DIVIDE_BY_ZERO"),
    ],
)
def test_a_merge_that_fails_changes_nothing(spark: SparkShell, change: str, words: str) -> None:
    before = opened(spark).epoch
    update = "WHEN MATCHED THEN UPDATE SET n = CAST(src.v AS INT)"
    assert words in spark.refusal(merge(change, update))
    assert opened(spark).epoch == before


@pytest.mark.matrix
def test_merges_of_different_rows_at_once_all_succeed(spark: SparkShell) -> None:
    """All replace one column of one RowSet. Later ones move their rows instead."""
    pool = "__import__('concurrent.futures', fromlist=['x']).ThreadPoolExecutor(2)"
    using = "(SELECT 2 * id + {each} AS id FROM range(700)) src"
    text = merge(using, "WHEN MATCHED THEN UPDATE SET n = 100 + {each}")
    spark.run(f"len([*{pool}.map(lambda each: spark.sql(f'{text}'), (0, 1))])")
    found = f"SELECT n, count(*) FROM {TABLE} WHERE id < 1400 GROUP BY 1 ORDER BY 1"
    assert spark.sql(found) == [[100, 700], [101, 700]]


@pytest.mark.long
def test_a_transaction_sees_what_its_merges_and_updates_replaced_and_commits_it_whole(
    spark: SparkShell,
) -> None:
    before = opened(spark)
    twin = "colonnade.merged.twin"
    spark.sql(f"CREATE TABLE {twin} AS SELECT * FROM {TABLE}")
    using = "(SELECT id, CAST(id % 50 AS INT) AS v, 'x' AS x, NULL AS s FROM range(3100)) src"
    statements = [
        merge(using, "WHEN MATCHED THEN UPDATE SET n = src.v", f"WHEN NOT MATCHED THEN {INSERT}"),
        f"UPDATE {TABLE} SET n = n + 1, w = concat(w, 'u') WHERE id >= 100",
        f"DELETE FROM {TABLE} WHERE id % 50 = 9",
        merge(
            using,
            "WHEN MATCHED AND t.id % 7 = 3 THEN DELETE",
            "WHEN MATCHED THEN UPDATE SET n = t.n + src.v, s = named_struct('f', t.n, 'g', t.w)",
        ),
    ]
    for each in statements:
        spark.sql(each.replace(TABLE, twin))
    expected = spark.sql(f"SELECT * FROM {twin} ORDER BY id")
    found = f"SELECT * FROM {TABLE} ORDER BY id"
    for end in ("rollback", "commit"):
        spark.sql("CALL colonnade.system.begin(database => 'merged')")
        try:
            for each in statements:
                spark.sql(each)
            assert spark.sql(found) == expected
            before.refresh()
            assert before.scan(["id"]).to_arrow().num_rows == 2 * ROWS
            epoch = before.epoch
            spark.sql(f"CALL colonnade.system.{end}()")
        finally:
            spark.run("spark.conf.unset('spark.colonnade.transaction')")
        assert opened(spark).epoch == epoch + (end == "commit")
    assert spark.sql(found) == expected
    assert opened(spark).verify(4).is_sound


@pytest.mark.matrix
def test_constraints_and_lengths_hold_for_replaced_and_moved_values(
    spark: SparkShell, tmp_path: Path
) -> None:
    spark.sql(f"ALTER TABLE {TABLE} ADD CONSTRAINT low CHECK (n < 1000)")
    before = opened(spark).epoch
    for most, value in ((1600, "2000"), (1600, "CAST(src.id AS INT)"), (10, "2000")):
        using = f"(SELECT id FROM range({most})) src"
        text = merge(using, f"WHEN MATCHED THEN UPDATE SET n = {value}")
        assert "CHECK_CONSTRAINT_VIOLATION" in spark.refusal(text), text
    assert opened(spark).epoch == before


def test_rows_move_by_sparks_plan_where_a_merge_reads_many_columns(spark: SparkShell) -> None:
    many = " AND ".join(f"t.c{i} >= 0" for i in range(8))
    using = "(SELECT id FROM range(1600)) src"
    spark.sql(merge(using, f"WHEN MATCHED AND {many} THEN UPDATE SET n = 1"))
    found: dict[str, Any] = last(spark)
    assert found["rows_updated"] == 1600
    assert "rowsets_in_place" not in found
