"""MERGE on exactly the primary key: it joins nothing, and means what a MERGE that joins means."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import colonnade
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

SETTING = "spark.colonnade.mergeByKeyBytes"
BY_KEY = "merge by the primary key"
TABLE = "colonnade.matched.t"
COLUMNS = (
    "a BIGINT, b STRING, n INT, s STRUCT<f: INT, g: STRING>, w STRING DEFAULT 'd',"
    " must STRING NOT NULL, PRIMARY KEY (a, b)"
)
FIRST = (
    "SELECT id, concat('b', id % 2), int(id), named_struct('f', int(id), 'g', 'x'), 'w', 'm'"
    " FROM range(0, 40, 1, 2)"
)
ALL = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
SOME = (
    "WHEN MATCHED THEN UPDATE SET n = q.n + 1, s.f = q.n"
    " WHEN NOT MATCHED THEN INSERT (a, b, n, must) VALUES (q.a, q.b, q.n + 1, 'new')"
)
KEPT = (
    "WHEN MATCHED THEN UPDATE SET n = q.n, w = upper(q.w)"
    " WHEN NOT MATCHED THEN INSERT (b, a, n, w, must) VALUES (q.b, q.a, q.n, upper(q.w), 'new')"
)
ON = "t.a = q.a AND q.b = t.b"
database = kept_database(
    "matched",
    *(f"CREATE TABLE colonnade.matched.{name} ({COLUMNS}) USING colonnade" for name in "tu"),
    *(f"INSERT INTO colonnade.matched.{name} {FIRST}" for name in "tu"),
)


@pytest.fixture
def spark(database: KeptDatabase) -> Iterator[SparkShell]:
    """With two equal tables `t` and `u` of 40 rows, whose key is (`a`, `b`)."""
    yield database.ready()
    database.shell.sql(f"RESET {SETTING}")


def opened(spark: SparkShell, name: str = "t") -> colonnade.ArrowTable:
    return colonnade.open_database(spark.folder / "warehouse" / "matched").table(name)


def values(rows: list[tuple[Any, ...]]) -> str:
    """A source with these rows."""
    texts = (", ".join("NULL" if v is None else repr(v) for v in row) for row in rows)
    listed = ", ".join(f"({text})" for text in texts)
    return (
        "(SELECT a, b, n, named_struct('f', n, 'g', w) AS s, w, must FROM VALUES"
        f" {listed} AS v(a, b, n, w, must))"
    )


def merge(source: str, clauses: str = ALL, on: str = ON, table: str = TABLE) -> str:
    return f"MERGE INTO {table} t USING {source} q ON {on} {clauses}"


def plan(spark: SparkShell, statement: str) -> str:
    text: str = spark.sql(f"EXPLAIN {statement}")[0][0]
    return text


def batch(pick: random.Random, rows: int) -> list[tuple[Any, ...]]:
    """Rows with distinct keys, about half of them new."""
    return [
        (
            a,
            f"b{a % 2}" if pick.random() < 0.8 else "other",
            pick.randrange(9),
            pick.choice([None, "v", "w"]),
            pick.choice("xyz"),
        )
        for a in pick.sample(range(80), rows)
    ]


def both(spark: SparkShell, source: str, clauses: str) -> list[tuple[str, str | None]]:
    """Run a MERGE by the key into `t`, and by a join into `u`; return what each failed with."""
    ends = []
    for name, most in (("t", "1g"), ("u", "0")):
        spark.sql(f"SET {SETTING} = {most}")
        statement = merge(source, clauses, table=f"colonnade.matched.{name}")
        reply = spark.ask({"sql": statement})
        error = reply.get("error", "").splitlines()[:1]
        ends.append((" ".join(error).replace("'u'", "'t'"), reply.get("condition")))
    return ends


def assert_equal(spark: SparkShell) -> None:
    """Both tables have the same rows, and both histories the same counts."""
    t, u = opened(spark), opened(spark, "u")
    key = [("a", "ascending"), ("b", "ascending")]
    assert t.scan().to_arrow().sort_by(key) == u.scan().to_arrow().sort_by(key)
    mine, other = t.history(1)[0], u.history(1)[0]
    assert (mine.operation, dict(mine.parameters)) == (other.operation, dict(other.parameters))
    same = ("rows_updated", "rows_inserted", "rows_deleted")
    assert [mine.metrics[each] for each in same] == [other.metrics[each] for each in same]


@pytest.mark.parametrize("clauses", [ALL, KEPT], ids=["all", "some"])
def test_random_batches_give_the_rows_and_counts_of_a_join(spark: SparkShell, clauses: str) -> None:
    pick = random.Random(clauses)
    source = values(batch(pick, 1))
    assert BY_KEY in plan(spark, merge(source, clauses))
    spark.sql(f"SET {SETTING} = 0")
    assert BY_KEY not in plan(spark, merge(source, clauses))
    for _ in range(4):
        ends = both(spark, values(batch(pick, pick.choice([1, 7, 30]))), clauses)
        assert ends == [("", None), ("", None)]
        assert_equal(spark)


@pytest.mark.parametrize(
    ("rows", "condition"),
    [
        ([(1, "b1"), (1, "b1"), (90, "z"), (90, "z")], "MERGE_CARDINALITY_VIOLATION"),
        ([(90, "z"), (90, "z"), (2, "b0")], "COLONNADE_INVALID_INPUT"),
        ([(None, "z"), (2, "b0")], "NOT_NULL_ASSERT_VIOLATION"),
    ],
    ids=["a row is matched twice", "a new key is there twice", "NULL in a key"],
)
def test_a_key_that_is_there_twice_or_null_is_the_error_of_a_join(
    spark: SparkShell, rows: list[tuple[Any, ...]], condition: str
) -> None:
    before = opened(spark).epoch
    mine, other = both(spark, values([(*row, 1, "w", "m") for row in rows]), ALL)
    assert mine == other
    assert mine[1] == condition
    assert opened(spark).epoch == before


@pytest.mark.parametrize(
    ("source", "clauses", "on"),
    [
        ("SOURCE", ALL, "t.a = q.a"),
        ("SOURCE", ALL, f"{ON} AND t.n > 1"),
        ("SOURCE", ALL, f"{ON} AND q.n > 1"),
        ("SOURCE", ALL, "t.a = q.a AND t.b <=> q.b"),
        ("SOURCE", ALL, "t.a = q.a + 1 AND t.b = q.b"),
        ("SOURCE", ALL.replace("NOT MATCHED", "NOT MATCHED AND q.n > 3"), ON),
        ("SOURCE", "WHEN MATCHED THEN UPDATE SET n = q.n", ON),
        ("SOURCE", SOME, ON),
        ("SOURCE", KEPT.replace("SET n = q.n,", "SET n = t.n + q.n,"), ON),
        ("SOURCE", KEPT.replace("SET n = q.n,", "SET n = q.n + 1,"), ON),
        ("SOURCE", KEPT.replace("'new'", "upper(q.must)"), ON),
        ("SOURCE", f"{ALL} WHEN NOT MATCHED BY SOURCE THEN DELETE", ON),
        (f"(SELECT * FROM {TABLE} WHERE n < 3)", ALL, ON),
        (f"(SELECT * FROM SOURCE WHERE a IN (SELECT a FROM {TABLE}))", ALL, ON),
    ],
)
def test_a_merge_of_another_meaning_joins(
    spark: SparkShell, source: str, clauses: str, on: str
) -> None:
    rows = values([(1, "b1", 5, "w", "m")])
    assert BY_KEY not in plan(spark, merge(source.replace("SOURCE", rows), clauses, on))


@pytest.mark.parametrize(
    "alteration",
    [
        "SET TBLPROPERTIES ('merge.n' = 'add')",
        "SET TBLPROPERTIES ('sequence' = 'n')",
        "UNSET TBLPROPERTIES ('primaryKey')",
        "ADD CONSTRAINT few CHECK (n < 1000)",
    ],
)
def test_a_table_in_which_an_upsert_means_something_else_joins(
    spark: SparkShell, alteration: str
) -> None:
    spark.sql(f"ALTER TABLE {TABLE} {alteration}")
    rows = values([(1, "b1", 5, "w", "m")])
    assert BY_KEY not in plan(spark, merge(rows, KEPT))


def test_constraints_hold_for_rows_that_are_whole(spark: SparkShell) -> None:
    spark.sql(f"ALTER TABLE {TABLE} ADD CONSTRAINT few CHECK (n < 1000)")
    rows = values([(1, "b1", 999, "w", "m")])
    assert BY_KEY in plan(spark, merge(rows))
    assert spark.condition(merge(rows.replace("999", "1000"))) == "CHECK_CONSTRAINT_VIOLATION"
    spark.sql(merge(rows))
    assert spark.sql(f"SELECT n FROM {TABLE} WHERE a = 1") == [[999]]


def meddle(spark: SparkShell, action: str) -> str:
    """A source of two rows, whose first look does something else to the table."""
    place = str(spark.folder / "warehouse" / "matched" / "t")
    body = f"(colonnade.open({place!r}).{action}, id)[1]"
    spark.run(f"spark.udf.register('meddle', lambda id: {body}, 'bigint') and None")
    rows = values([(1, "b1", 5, "w", "m"), (90, "z", 6, "w", "m")])
    return f"(SELECT if(a = 1, meddle(a), a) AS a, b, n, s, w, must FROM {rows})"


ROW = "__import__('pyarrow').table({'a': [%d], 'b': ['%s'], 'w': ['r'], 'must': ['r']})"


@pytest.mark.parametrize(
    ("action", "expected", "counts"),
    [
        (f"upsert({ROW % (1, 'b1')})", [[1, 5, "W", "r"], [90, 6, "W", "new"]], (1, 1)),
        (f"upsert({ROW % (90, 'z')})", [[1, 5, "W", "m"], [90, 6, "W", "r"]], (2, 0)),
        ("delete('a = 1')", [[1, 5, "W", "new"], [90, 6, "W", "new"]], (0, 2)),
        ("update({'must': \"'u'\"}, 'a = 1')", [[1, 5, "W", "u"], [90, 6, "W", "new"]], (1, 1)),
    ],
    ids=["upsert of an old key", "upsert of a new key", "delete", "update"],
)
def test_a_merge_beside_another_writer_on_its_keys_is_as_one_after_it(
    spark: SparkShell, action: str, expected: list[list[object]], counts: tuple[int, int]
) -> None:
    spark.sql(f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('isolation' = 'serializable')")
    spark.sql(merge(meddle(spark, action), KEPT))
    found = spark.sql(f"SELECT a, n, w, must FROM {TABLE} WHERE a IN (1, 90) ORDER BY a")
    assert found == expected
    metrics = opened(spark).history(1)[0].metrics
    assert (metrics["rows_updated"], metrics["rows_inserted"]) == counts


def test_two_merges_at_once_on_the_same_keys_both_commit(spark: SparkShell) -> None:
    before = opened(spark).epoch
    sent = [merge(values([(k, "z", n, "w", "m") for k in (1, 2, 99)])) for n in range(6)]
    pool = "__import__('concurrent.futures').futures.ThreadPoolExecutor(3)"
    spark.run(f"[None for each in {pool}.map(lambda text: spark.sql(text).collect(), {sent!r})]")
    assert opened(spark).epoch == before + 6
    rows = spark.sql(f"SELECT a, n FROM {TABLE} WHERE b = 'z' ORDER BY a")
    assert [row[0] for row in rows] == [1, 2, 99]
    assert len({row[1] for row in rows}) == 1


def test_a_transaction_has_the_merge_or_nothing_of_it(spark: SparkShell) -> None:
    before = opened(spark).epoch
    spark.sql("CALL colonnade.system.begin(database => 'matched')")
    try:
        spark.sql(merge(values([(1, "b1", 5, "w", "m"), (90, "z", 6, "w", "m")]), KEPT))
        spark.sql(merge(values([(90, "z", 7, "w", "m")]), KEPT))
        again = values([(90, "z", 8, "w", "m"), (90, "z", 9, "w", "m")])
        assert spark.condition(merge(again, KEPT)) == "MERGE_CARDINALITY_VIOLATION"
        spark.sql("CALL colonnade.system.commit()")
    finally:
        spark.run("spark.conf.unset('spark.colonnade.transaction')")
    assert opened(spark).epoch == before + 1
    assert spark.sql(f"SELECT n, must FROM {TABLE} WHERE a IN (1, 90) ORDER BY a") == [
        [5, "m"],
        [7, "new"],
    ]


def test_a_large_source_joins(spark: SparkShell) -> None:
    rows = values([(1, "b1", 5, "w", "m")])
    spark.sql(f"SET {SETTING} = 1")
    assert BY_KEY not in plan(spark, merge(rows))
    spark.sql(f"SET {SETTING} = some")
    assert f"{SETTING} is 'some', which is not a size" in spark.refusal(merge(rows))


def test_the_methods_of_a_table_take_the_same_way(spark: SparkShell) -> None:
    place: Path = spark.folder / "warehouse" / "matched" / "t"
    rows = values([(1, "b1", 5, "w", "m"), (90, "z", 6, "w", "m")])
    done = spark.run(
        f"colonnade.Table.forPath(spark, {str(place)!r}).alias('t').merge("
        f"spark.sql(\"SELECT * FROM {rows}\").alias('q'), '{ON}')"
        ".whenMatchedUpdateAll().whenNotMatchedInsertAll().execute().metrics()"
    )
    assert (done["rows_updated"], done["rows_inserted"]) == (1, 1)
    assert opened(spark).history(1)[0].operation == "merge"


@pytest.mark.long
def test_many_nested_rows_are_those_of_a_join(spark: SparkShell) -> None:
    columns = (
        "id BIGINT, n INT, l ARRAY<STRUCT<a: INT, b: STRING>>, m MAP<STRING, ARRAY<INT>>,"
        " s STRUCT<f: DOUBLE, g: ARRAY<STRING>>, PRIMARY KEY (id)"
    )
    nested = (
        "array(named_struct('a', n, 'b', w), null) AS l, map(w, array(n, null)) AS m,"
        " if(n % 7 = 0, NULL, named_struct('f', n / 3, 'g', array(w))) AS s"
    )
    made = "SELECT id, int(hash(id, SEED) % 1000) AS n, concat('w', id % 97) AS w FROM RANGE"
    source = f"(SELECT id, n, {nested} FROM ({made}))"
    for name in "tu":
        spark.sql(f"CREATE TABLE colonnade.matched.long_{name} ({columns}) USING colonnade")
        first = source.replace("RANGE", "range(0, 70000, 1, 3)").replace("SEED", "0")
        spark.sql(f"INSERT INTO colonnade.matched.long_{name} SELECT * FROM {first}")
    some = (
        "WHEN MATCHED THEN UPDATE SET n = q.n, l = q.l"
        " WHEN NOT MATCHED THEN INSERT (id, n, l, m) VALUES (q.id, q.n, q.l, q.m)"
    )
    for seed, clauses in enumerate((ALL, some, ALL)):
        rows = "(SELECT id * 3 + 11 AS id FROM range(0, 70000, 1, 4))"
        merged = source.replace("RANGE", rows).replace("SEED", str(seed + 1))
        for name, most in (("t", "1g"), ("u", "0")):
            spark.sql(f"SET {SETTING} = {most}")
            table = f"colonnade.matched.long_{name}"
            statement = merge(merged, clauses, "t.id = q.id", table)
            assert (BY_KEY in plan(spark, statement)) == (name == "t")
            spark.sql(statement)
        t, u = opened(spark, "long_t"), opened(spark, "long_u")
        by = [("id", "ascending")]
        assert t.scan().to_arrow().sort_by(by) == u.scan().to_arrow().sort_by(by)
        assert t.history(1)[0].metrics["rows_updated"] == u.history(1)[0].metrics["rows_updated"]
