"""Aggregates that each task computes for its share are those that Spark computes from rows."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.log.log import Log
from colonnade.manifests.store import open_store
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.rowset.stored.column_segments import ColumnSegments
from colonnade.tableformat.table.table import ArrowTable
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat, pytest.mark.matrix]

ROWS = 300
IN_TASKS = "in each task"
BY_SPARK = "WHERE rand() >= 0"  # a filter, so that nothing is taken over

Kind = tuple[pa.DataType, int, Callable[[int], Any]]
"""A type, the limit of its numbers, and what makes a value of a number."""

SUMMED: dict[str, Kind] = {
    "int8": (pa.int8(), 2**7, int),
    "int16": (pa.int16(), 2**15, int),
    "int32": (pa.int32(), 2**31, int),
    "int64": (pa.int64(), 2**50, int),
    "dec4": (pa.decimal128(4, 2), 2499, lambda v: Decimal(v).scaleb(-2)),
    "dec12": (pa.decimal128(12, 2), 10**12 // 4, lambda v: Decimal(v).scaleb(-2)),
    "dec18": (pa.decimal128(18, 0), 10**18 // 4, Decimal),
    "float32": (pa.float32(), 2**20, lambda v: v / 8),
    "float64": (pa.float64(), 2**50, lambda v: v / 7),
}
TIMES: dict[str, Kind] = {
    "day": (pa.date32(), 10**4, lambda v: datetime.date(2000, 1, 1) + datetime.timedelta(v)),
    "instant": (pa.timestamp("us", "UTC"), 2**50, int),
    "clock": (pa.timestamp("us"), 2**50, int),
}
TYPES: dict[str, Kind] = {**SUMMED, **TIMES, "text": (pa.string(), 2**50, str)}
PATTERNS = ("far", "near", "few", "one", "none")
EXTREMES = [name for name in TYPES if name not in ("float32", "float64", "text")]
AVERAGES = ("dec12", "dec18", "float32", "float64")
EVERY = ", ".join(
    [
        "count(*)",
        *(f"count({name})" for name in TYPES),
        *(f"sum({name})" for name in SUMMED),
        *(f"avg({name})" for name in AVERAGES),
        *(f"{extreme}({name})" for name in EXTREMES for extreme in ("min", "max")),
    ]
)


def rows(pattern: str, nulls: float) -> pa.Table:
    """The rows of one RowSet: whole numbers below a limit, as each type has them."""
    rng = random.Random(pattern)

    def number(limit: int) -> int:
        far = rng.randrange(-limit, limit) if limit < 9999 else rng.randrange(1 - limit, limit)
        few = rng.choice((-limit // 2, limit // 3, limit - 1))
        return {"far": far, "near": limit // 2 + rng.randrange(9), "few": few}.get(pattern, -7)

    def column(data_type: pa.DataType, limit: int, make: Callable[[int], Any]) -> pa.Array:
        absent = 1.0 if pattern == "none" else nulls
        found = [None if rng.random() < absent else make(number(limit)) for _ in range(ROWS)]
        return pa.array(found, data_type)

    numbers = pa.array(range(ROWS), pa.int64())
    return pa.table({"n": numbers} | {name: column(*each) for name, each in TYPES.items()})


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> ArrowTable:
    """Rows of every pattern, without NULL and with."""
    parts = [rows(pattern, nulls) for pattern in PATTERNS for nulls in (0.0, 0.3)]
    made = ArrowTable.create(tmp_path_factory.mktemp("sums") / "t", parts[0].schema)
    for part in parts:
        made.append(part)
    return made


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    spark_shell.sql("CREATE DATABASE colonnade.sums")
    yield spark_shell
    spark_shell.run("spark.conf.unset('spark.sql.ansi.enabled')")
    spark_shell.sql("DROP DATABASE colonnade.sums CASCADE")


def same(spark: SparkShell, functions: str, source: str) -> list[list[Any]]:
    """What tasks compute, which is what Spark does of the rows."""
    query = f"SELECT {functions} FROM {source}"
    assert IN_TASKS in explained(spark, query)
    found = spark.sql(query)
    assert found == spark.sql(f"{query} {BY_SPARK}")
    return found


def explained(spark: SparkShell, query: str) -> str:
    return str(spark.sql(f"EXPLAIN {query}"))


def test_every_type_in_every_encoding_gives_what_spark_makes_of_it(
    spark: SparkShell, table: ArrowTable
) -> None:
    assert encodings(table) == {"plain", "narrowed", "dictionary", "constant", "null", "lengths"}
    source = f"colonnade.`{table.path}`"
    [[count, *_]] = same(spark, EVERY, source)
    assert count == 2 * len(PATTERNS) * ROWS
    # Rows in the middle, all of a RowSet, and the extremes.
    spark.sql(f"DELETE FROM {source} WHERE n % 7 = 3 OR n > 200 OR int8 = -7 OR int16 = 32767")
    [[left, *_]] = same(spark, EVERY, source)
    assert 0 < left < count
    assert same(spark, EVERY, f"{source} VERSION AS OF {table.epoch}")[0][0] == count


def encodings(table: ArrowTable) -> set[str]:
    store, found = open_store(table.path), set()
    for rowset in Log(store).rowsets.read(table._state, None):
        segments = ColumnSegments(store, table._state.prefix, rowset)
        for field in table._state.schema.fields:
            [opened] = segments.open([column_of(field)])
            assert opened is not None
            found |= {each.encoding for each in opened.index.entries}
    return found


def test_a_transaction_sums_what_it_alone_has_changed(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE colonnade.sums.t AS SELECT id FROM range(100)")
    spark.sql("CALL colonnade.system.begin(database => 'sums')")
    spark.sql("INSERT INTO colonnade.sums.t VALUES (1000)")
    spark.sql("DELETE FROM colonnade.sums.t WHERE id % 2 = 0 AND id < 100")
    assert same(spark, "sum(id), count(*)", "colonnade.sums.t") == [[3500, 51]]
    spark.sql("CALL colonnade.system.rollback()")
    assert same(spark, "sum(id), count(*)", "colonnade.sums.t") == [[4950, 100]]


def test_a_sum_of_longs_overflows_where_spark_overflows(spark: SparkShell) -> None:
    columns = {
        "a": (2**63 - 1, 1, -1, 0),
        "b": (-(2**63), None, -1, 5),
        "c": (2**62, 2**62, -(2**62), 2**62 + 1),
        "fits": (2**63 - 1, -1, None, 1),
    }
    cast = "transform(array({}), v -> CAST(v AS BIGINT))"
    listed = [
        cast.format(", ".join("NULL" if v is None else f"'{v}'" for v in values))
        for values in columns.values()
    ]
    zipped = f"inline(arrays_zip({', '.join(listed)})) AS ({', '.join(columns)})"
    spark.sql(f"CREATE TABLE colonnade.sums.t AS SELECT {zipped}")
    tried = ", ".join(f"try_sum({name})" for name in columns)
    assert same(spark, tried, "colonnade.sums.t") == [[None, None, None, 2**63 - 1]]
    for name in "abc":
        query = f"SELECT sum({name}) FROM colonnade.sums.t"
        assert spark.refusal(query) == spark.refusal(f"{query} {BY_SPARK}")
    spark.run("spark.conf.set('spark.sql.ansi.enabled', 'false')")
    same(spark, tried.replace("try_", ""), "colonnade.sums.t")


def test_a_sum_may_have_more_digits_than_its_decimals(spark: SparkShell) -> None:
    greatest = [Decimal(each) for each in ("249999999999999999", "0.249999999999999999", "2.4")]
    types = ("DECIMAL(18, 0)", "DECIMAL(18, 18)", "DECIMAL(2, 1)")
    columns = ", ".join(
        f"CAST(IF(id % 5 = 4, '-{value}', '{value}') AS {each}) AS v{i}"
        for i, (value, each) in enumerate(zip(greatest, types, strict=True))
    )
    spark.sql(f"CREATE TABLE colonnade.sums.t AS SELECT {columns} FROM range(1000)")
    [[*totals, count]] = same(spark, "sum(v0), sum(v1), sum(v2), count(v0)", "colonnade.sums.t")
    assert [Decimal(each) for each in totals] == [600 * value for value in greatest]
    assert count == 1000


def test_a_sum_is_in_as_few_parts_as_its_decimals_allow(spark: SparkShell) -> None:
    spark.sql(
        "CREATE TABLE colonnade.sums.t AS SELECT CAST(IF(id % 4 < 2, 2.4, -2.4) AS DECIMAL(2, 1)) v"
        ", CAST(IF(id < 7, '-240000000000000000', NULL) AS DECIMAL(18, 0)) w FROM range(1000)"
    )
    run = "(frame := spark.sql('SELECT {} FROM colonnade.sums.t'), frame.collect()[0][0], {})[1:]"
    leaf = "frame._jdf.queryExecution().executedPlan().finalPhysicalPlan().collectLeaves().head()"
    parts = leaf + ".metrics().apply('numOutputRows').value()"
    assert spark.run(run.format("double(sum(v))", parts)) == [0, 1]
    assert spark.run(run.format("string(sum(w))", parts)) == ["-1680000000000000000", 2]
    spark.sql("INSERT INTO colonnade.sums.t VALUES (9.9, NULL)")
    assert IN_TASKS in explained(spark, "SELECT sum(w) FROM colonnade.sums.t")
    assert IN_TASKS not in explained(spark, "SELECT sum(v) FROM colonnade.sums.t")


def test_without_any_value_a_sum_is_null_and_a_count_0(spark: SparkShell) -> None:
    names = ", ".join(f"{name} {each}" for name, each in (
        ("i", "INT"), ("d", "DECIMAL(12, 2)"), ("x", "DOUBLE"),
    ))  # fmt: skip
    functions = "sum(i), sum(d), sum(x), avg(d), max(i), count(i), count(*)"
    spark.sql(f"CREATE TABLE colonnade.sums.t ({names})")
    nothing: list[Any] = [None] * 5
    assert spark.sql(f"SELECT {functions} FROM colonnade.sums.t") == [[*nothing, 0, 0]]
    spark.sql("INSERT INTO colonnade.sums.t SELECT NULL, NULL, NULL FROM range(9)")
    assert same(spark, functions, "colonnade.sums.t") == [[*nothing, 0, 9]]
    spark.sql("INSERT INTO colonnade.sums.t VALUES (1, 1, 1), (2, 2, 2)")
    spark.sql("DELETE FROM colonnade.sums.t WHERE i = 1 OR i IS NULL")
    spark.sql("DELETE FROM colonnade.sums.t WHERE x = 2")
    assert spark.sql(f"SELECT {functions} FROM colonnade.sums.t") == [[*nothing, 0, 0]]


def test_an_aggregate_that_tasks_would_compute_differently_is_left_to_spark(
    spark: SparkShell, table: ArrowTable
) -> None:
    functions = (
        "avg(int32)", "avg(int64)", "avg(dec4)", "avg(int32), sum(int32)", "sum(DISTINCT int8)",
        "count(DISTINCT int8), sum(int8)", "sum(int8) FILTER (WHERE n > 3)", "sum(int8 + 1)",
        "sum(CAST(dec4 AS DECIMAL(20, 2)))", "max(float64), sum(n)", "min(text), sum(n)",
        "sum(_row)", "sum(1)", "stddev(float64)", "first(n), sum(n)",
    )  # fmt: skip
    source = f"colonnade.`{table.path}`"
    queries = [f"SELECT {each} FROM {source}" for each in functions]
    queries += [
        f"SELECT sum(n) FROM {source} GROUP BY int8",
        f"SELECT sum(n) FROM {source} WHERE int8 = 3",
        f"SELECT sum(n) FROM (SELECT n FROM {source} LIMIT 5)",
    ]
    plans = spark.run(f"[str(spark.sql('EXPLAIN ' + each).head()) for each in {queries!r}]")
    assert [query for query, plan in zip(queries, plans, strict=True) if IN_TASKS in plan] == []


def test_queries_with_several_aggregations_tell_them_apart(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE colonnade.sums.t AS SELECT id AS a, id * 2 AS b FROM range(10)")
    spark.sql("DELETE FROM colonnade.sums.t WHERE a IN (0, 9)")
    parts = [
        f"(SELECT {f}({c}) FROM colonnade.sums.t)" for c in "ab" for f in ("sum", "min", "max")
    ]
    assert spark.sql(f"SELECT {', '.join(parts)}") == [[36, 1, 8, 72, 2, 16]]
    union = " UNION ALL ".join(part[1:-1] for part in parts)
    assert sorted(spark.sql(union)) == [[1], [2], [8], [16], [36], [72]]
