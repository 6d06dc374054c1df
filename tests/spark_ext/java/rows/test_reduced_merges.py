"""MERGE of a small source: the table is reduced by the keys of the source before the join."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import colonnade
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"
PRUNING = "spark.sql.optimizer.dynamicPartitionPruning.enabled"
ADAPTIVE = "spark.sql.adaptive.enabled"
SETTINGS = (ADAPTIVE, PRUNING, "spark.sql.exchange.reuse")
COLUMNS = "a INT, b STRING, x DOUBLE, n DECIMAL(9, 2), s STRUCT<f: INT>"
FIRST = (
    "SELECT nullif(int(id), 7), if(id % 9 = 0, NULL, concat('b', id % 3)),"
    " CASE id % 5 WHEN 0 THEN double('NaN') WHEN 1 THEN -0.0D WHEN 2 THEN NULL ELSE id END,"
    " cast(id AS DECIMAL(9, 2)), named_struct('f', int(id)) FROM range(0, 60, 1, 2)"
)
ALL = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
SOME = (
    "WHEN MATCHED AND q.n > 40 THEN DELETE WHEN MATCHED AND t.n < 90 THEN UPDATE SET n = t.n + q.n"
    " WHEN NOT MATCHED AND q.a % 2 = 0 THEN INSERT (a, b) VALUES (q.a, q.b)"
)
MATCHED = "WHEN MATCHED THEN UPDATE SET s = q.s, b = upper(q.b)"
MATCHED_B = "WHEN MATCHED THEN UPDATE SET b = q.b"
A_AND_B = f"{MATCHED_B} WHEN NOT MATCHED THEN INSERT (a, b) VALUES (a, b)"
CONDITIONS = (
    "t.a = q.a",
    "q.a <=> t.a AND t.b <=> q.b",
    "t.a = q.a AND t.n > q.n AND q.b <> 'b1'",
    "t.a = bigint(q.a) + 1 AND upper(t.b) = upper(q.b)",
    "t.x = q.x AND t.a = q.a",
    "t.n = q.a AND t.s.f = q.s.f",
)
database = kept_database(
    "reduced",
    *(f"CREATE TABLE colonnade.reduced.{name} ({COLUMNS}) USING colonnade" for name in "tu"),
    *(f"INSERT INTO colonnade.reduced.{name} {FIRST}" for name in "tu"),
)


@pytest.fixture
def spark(database: KeptDatabase) -> Iterator[SparkShell]:
    """With two equal tables `t` and `u` of 60 rows in two RowSets, without a primary key."""
    yield database.ready()
    database.shell.sql(f"RESET {THRESHOLD}")


@contextmanager
def without(spark: SparkShell, setting: str) -> Iterator[None]:
    """Switch a setting off, if one is named."""
    if setting:
        spark.sql(f"SET {setting} = false")
    yield
    if setting:
        spark.sql(f"RESET {setting}")


def opened(spark: SparkShell, name: str) -> colonnade.ArrowTable:
    return colonnade.open_database(spark.folder / "warehouse" / "reduced").table(name)


def merge(source: str, on: str, clauses: str = ALL, table: str = "t") -> str:
    return f"MERGE INTO colonnade.reduced.{table} t USING {source} q ON {on} {clauses}"


def values(pick: random.Random, rows: int, *, repeated: bool = False) -> str:
    """A source of so many rows, about half of them with keys that are there."""
    keys = pick.choices(range(90), k=rows) if repeated else pick.sample(range(90), rows)
    listed = ", ".join(
        f"({'NULL' if key == 7 else key}, {pick.choice(['NULL', repr(f'b{key % 3}')])}, "
        f"{pick.choice(['double(`NaN`)', '0.0D', 'NULL', f'{key}D'])}, {pick.randrange(99)})"
        for key in keys
    ).replace("`", "'")
    return (
        "(SELECT a, b, x, cast(n AS DECIMAL(9, 2)) AS n, named_struct('f', a) AS s"
        f" FROM VALUES {listed} AS v(a, b, x, n))"
    )


def plan(spark: SparkShell, statement: str) -> str:
    text: str = spark.sql(f"EXPLAIN {statement}")[0][0]
    assert text.startswith("== Physical Plan ==")
    return text


def both(spark: SparkShell, source: str, on: str, clauses: str) -> str | None:
    """Run a MERGE into `t`, and one with the whole table into `u`; return how both failed."""
    ends = []
    for name, most in (("t", "10m"), ("u", "-1")):
        spark.sql(f"SET {THRESHOLD} = {most}")
        statement = merge(source, on, clauses, name)
        assert ("LeftSemi" in plan(spark, statement)) == (name == "t")
        reply = spark.ask({"sql": statement})
        ends.append(reply.get("condition") if "error" in reply else None)
    assert ends[0] == ends[1]
    return ends[0]


def rows(spark: SparkShell, name: str) -> list[str]:
    """The rows of a table as sorted texts, in which NaN equals itself."""
    return sorted(map(repr, opened(spark, name).scan().to_arrow().to_pylist()))


@pytest.mark.parametrize("on", CONDITIONS)
def test_a_merge_gives_the_rows_and_counts_of_a_join_with_the_whole_table(
    spark: SparkShell, on: str
) -> None:
    pick = random.Random(on)
    for clauses in (ALL, SOME, MATCHED):
        assert both(spark, values(pick, pick.choice([1, 20, 50])), on, clauses) is None
        assert rows(spark, "t") == rows(spark, "u")
        mine, other = opened(spark, "t").history(1)[0], opened(spark, "u").history(1)[0]
        for each in ("rows_updated", "rows_inserted", "rows_deleted"):
            assert mine.metrics[each] == other.metrics[each]


def test_a_row_that_two_source_rows_match_is_the_error_of_a_join(spark: SparkShell) -> None:
    source = values(random.Random(3), 60, repeated=True)
    before = opened(spark, "t").epoch
    assert both(spark, source, "t.a = q.a", ALL) == "MERGE_CARDINALITY_VIOLATION"
    assert opened(spark, "t").epoch == before


@pytest.mark.parametrize(
    ("source", "on", "clauses"),
    [
        ("SOURCE", "t.a > q.a", ALL),
        ("SOURCE", "t.a = 3", ALL),
        ("SOURCE", "t.a = q.a", f"{ALL} WHEN NOT MATCHED BY SOURCE THEN DELETE"),
        ("(SELECT *, rand() AS r FROM SOURCE, range(1))", "t.a = q.a + floor(q.r)", MATCHED),
    ],
    ids=["no equality", "no value of the source", "by source", "random values"],
)
def test_a_merge_that_needs_all_rows_joins_the_whole_table(
    spark: SparkShell, source: str, on: str, clauses: str
) -> None:
    source = source.replace("SOURCE", values(random.Random(1), 3))
    assert "LeftSemi" not in plan(spark, merge(source, on, clauses))


@pytest.mark.parametrize(
    "clauses",
    [
        MATCHED_B,
        ALL,
        "WHEN NOT MATCHED THEN INSERT *",
        f"{ALL} WHEN NOT MATCHED BY SOURCE THEN DELETE",
    ],
)
def test_a_source_with_random_values_is_merged_like_any_other(
    spark: SparkShell, clauses: str
) -> None:
    source = "(SELECT int(50 + id) AS a, uuid() AS b, 1D AS x, cast(1 AS DECIMAL(9, 2)) AS n,"
    source += " named_struct('f', int(id)) AS s FROM range(20) WHERE rand() < 2)"
    spark.sql(merge(source, "t.a = q.a", clauses))
    made = [
        row["a"]
        for row in opened(spark, "t").scan().to_arrow().to_pylist()
        if len(row["b"] or "") > 9
    ]
    wanted = range(50 if "UPDATE" in clauses else 60, 70 if "INSERT" in clauses else 60)
    assert sorted(made) == list(wanted)


@pytest.mark.parametrize("setting", ["", *SETTINGS])
def test_each_row_of_the_source_is_computed_once(spark: SparkShell, setting: str) -> None:
    calls = spark.folder / "calls"
    body = f"(open({str(calls)!r}, 'a').write('x'), id)[1]"
    spark.run(f"spark.udf.register('counted', lambda id: {body}, 'int') and None")
    source = "(SELECT counted(int(id)) AS a, 'c' AS b FROM range(0, 9, 1, 3))"
    statement = merge(source, "t.a = q.a", A_AND_B)
    with without(spark, setting):
        assert ("LeftSemi" in plan(spark, statement)) == (setting in ("", PRUNING))
        calls.write_text("")
        spark.sql(statement)
    assert calls.read_text() == "x" * 9


def test_a_source_in_the_partitions_of_its_keys_is_computed_once(spark: SparkShell) -> None:
    source = "(SELECT int(id) AS a, string(max(id)) AS b FROM range(9) GROUP BY 1)"
    text = plan(spark, merge(source, "t.a = q.a", MATCHED_B))
    assert "LeftSemi" in text
    # Without this exchange, Spark would compute the groups twice from what is shuffled for them.
    assert "REBALANCE_PARTITIONS_BY_COL" in text


def test_a_source_may_take_longer_than_a_broadcast(spark: SparkShell) -> None:
    spark.run(
        "spark.udf.register('slow', lambda i: [__import__('time').sleep(2), i][1], 'int') and None"
    )
    statement = merge("(SELECT slow(int(id)) AS a, 'c' AS b FROM range(1))", "t.a = q.a", A_AND_B)
    spark.sql("SET spark.sql.broadcastTimeout = 1")
    try:
        for setting in ("", ADAPTIVE):
            with without(spark, setting):
                spark.sql(statement)
    finally:
        spark.sql("RESET spark.sql.broadcastTimeout")


def test_rowsets_without_a_key_of_the_source_are_not_read(spark: SparkShell) -> None:
    folder = spark.folder / "warehouse" / "reduced"
    before = set(folder.rglob("*.rowset"))
    spark.sql(
        "INSERT INTO colonnade.reduced.t (a, b) SELECT int(1000 + id), uuid() FROM range(9000)"
    )
    (added,) = set(folder.rglob("*.rowset")) - before
    added.write_bytes(b"")
    statement = merge(values(random.Random(5), 9), "t.a = q.a")
    spark.sql(statement)
    spark.sql(f"SET {THRESHOLD} = -1")
    assert spark.condition(statement) == "COLONNADE_CORRUPTION"


def test_a_source_that_fails_ends_in_its_own_error(spark: SparkShell) -> None:
    source = "(SELECT int(id) AS a, string(1 / (id - 3)) AS b FROM range(0, 9, 1, 3))"
    statement = merge(source, "t.a = q.a", "WHEN MATCHED THEN UPDATE SET b = q.b")
    statement += " WHEN NOT MATCHED THEN INSERT (a, b) VALUES (a, b)"
    assert "LeftSemi" in plan(spark, statement)
    assert {spark.condition(statement) for _ in range(8)} == {"DIVIDE_BY_ZERO"}
