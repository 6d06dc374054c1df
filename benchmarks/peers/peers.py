"""Compare Colonnade in Spark with plain Parquet, Delta Lake and Iceberg, in turn in one session."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession

from benchmarks.measure import Figure, in_turn, lineitem, median_ratio
from benchmarks.peers.engines import ENGINES, Colonnade, Engine, Iceberg, Parquet, session
from benchmarks.peers.plot import peers_plot
from benchmarks.spark.profiling import profile_of

APPENDS = 100
WIDE_ROWS, WIDE_COLUMNS = 300_000, 200
RIVALS = (Parquet.name, Iceberg.name)


@dataclass(frozen=True)
class Query:
    """A query that must have the same answer on all engines; `{t}` is replaced by the table."""

    measure: str
    target: float
    table: str
    sql: str
    often: int = 1  # this many times the runs asked for: what takes 0.1 s varies more


Q1 = """
    SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
        sum(l_extendedprice * (1 - l_discount)),
        sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
        avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
    FROM {t} WHERE l_shipdate <= DATE '1998-09-02'
    GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus"""
Q6 = """
    SELECT sum(l_extendedprice * l_discount) FROM {t}
    WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
        AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24"""
SUM_OF_FOUR = "SELECT sum(l_quantity), sum(l_extendedprice), sum(l_discount), sum(l_tax) FROM {t}"
QUERIES = (
    Query("sum of 1 column", 0.7, "lineitem", "SELECT sum(l_extendedprice) FROM {t}"),
    Query("sum of 4 columns", 0.7, "lineitem", SUM_OF_FOUR),
    Query("TPC-H q6", 0.8, "lineitem", Q6),
    Query("TPC-H q1", 1.0, "lineitem", Q1),
    Query("count(*)", 0.7, "lineitem", "SELECT count(*) FROM {t}", often=5),
    Query("min and max of a date", 0.7, "lineitem",
          "SELECT min(l_shipdate), max(l_shipdate) FROM {t}", often=5),
    Query("one order by its key", 0.8, "lineitem",
          "SELECT * FROM {t} WHERE l_orderkey = {key} ORDER BY l_linenumber", often=5),
    Query(f"sum of 2 of {WIDE_COLUMNS} columns", 1.0, "wide",
          "SELECT sum(c17), sum(c118) FROM {t}", often=5),
)  # fmt: skip
AFTER_APPENDS = Query(
    f"scan after {APPENDS} appends", 0.3, "small",
    "SELECT count(*), sum(id), sum(amount) FROM {t}", often=5,
)  # fmt: skip
WRITE, BYTES, ALL_COLUMNS = "write", "bytes", "all columns, no sink"
APPEND = "append of 10 rows"


class Peers:
    """The engines, and what is measured of them."""

    def __init__(self, spark: SparkSession, folder: Path, scale: float) -> None:
        self.spark, self.scale = spark, scale
        self.engines = [each(spark, folder) for each in ENGINES]
        self.source = spark.read.parquet(str(lineitem(folder.parent, scale)))
        # An order in the middle: TPC-H uses the first eight of every 32 numbers.
        [[self.key]] = self.source.selectExpr("max(l_orderkey) div 64 * 32 + 1").collect()

    def figures(self, runs: int) -> Iterator[Figure]:
        """Yield every row of the benchmark's table; print each one right after its measurement."""
        yield self._compare(f"{WRITE} lineitem SF{self.scale:g}", 0.75, self._writers(), runs, 1)
        yield self._bytes()
        self._check_that_all_rows_are_there()
        yield self._compare(ALL_COLUMNS, 0.9, [partial(drain, e) for e in self.engines], runs)
        for engine in self.engines:
            engine.create("wide", wide(self.spark))
        for query in QUERIES:
            yield self._time(query, runs)
        yield from self._appends(runs)

    def askers(self, query: Query) -> list[Callable[[], list[Row]]]:
        """For each engine, what asks it the query. Raises `AssertionError` where answers differ."""
        askers: list[Callable[[], list[Row]]] = [
            partial(self._ask, engine, query) for engine in self.engines
        ]
        answers = {engine.name: ask() for engine, ask in zip(self.engines, askers, strict=True)}
        expected = answers[Parquet.name]
        different = [name for name, answer in answers.items() if answer != expected]
        if different or not expected:
            raise AssertionError(f"{query.measure}: {different} differ from Parquet: {answers}")
        return askers

    def appender(self, engine: Engine) -> Callable[[], None]:
        """What appends the next ten rows to a new table."""
        turns = iter(range(0, 10 * 10_000, 10))
        engine.create("small", small(self.spark, next(turns)))
        return lambda: engine.append("small", small(self.spark, next(turns)))

    def ours(self) -> Iterator[tuple[str, Callable[[], Callable[[], object]]]]:
        """Each row's name, and what makes its tables and returns what Colonnade does in it.

        Requires Colonnade's lineitem.
        """
        [ours] = (each for each in self.engines if isinstance(each, Colonnade))
        yield WRITE, lambda: partial(ours.create, "lineitem", self.source)
        yield ALL_COLUMNS, lambda: partial(drain, ours)
        yield APPEND, lambda: self.appender(ours)
        for query in (*QUERIES, AFTER_APPENDS):
            yield query.measure, partial(self._asker, ours, query)

    def _asker(self, engine: Engine, query: Query) -> Callable[[], object]:
        if query.table == "wide":
            engine.create("wide", wide(self.spark))
        if query.table == "small":
            append = self.appender(engine)
            for _ in range(APPENDS):
                append()
        return partial(self._ask, engine, query)

    def _writers(self) -> list[Callable[[], None]]:
        return [partial(engine.create, "lineitem", self.source) for engine in self.engines]

    def _ask(self, engine: Engine, query: Query) -> list[Row]:
        table = engine.read(query.table)
        return self.spark.sql(query.sql.replace("{key}", str(self.key)), t=table).collect()

    def _appends(self, runs: int) -> Iterator[Figure]:
        appenders = [self.appender(engine) for engine in self.engines]
        yield self._compare(APPEND, 0.6, appenders, APPENDS, 0)
        yield self._time(AFTER_APPENDS, runs)

    def _bytes(self) -> Figure:
        sizes = [[engine.size("lineitem") / 1e6] for engine in self.engines]
        return self._figure(f"{BYTES} of it", "MB", 1.02, sizes)

    def _check_that_all_rows_are_there(self) -> None:
        columns = ", ".join(self.source.columns)
        every = f"SELECT count(*), sum(CAST(xxhash64({columns}) AS DECIMAL(38))) FROM {{t}}"
        self.askers(Query("all rows", 0, "lineitem", every))

    def _time(self, query: Query, runs: int) -> Figure:
        return self._compare(query.measure, query.target, self.askers(query), runs * query.often)

    def _compare(
        self,
        measure: str,
        target: float,
        works: Sequence[Callable[[], object]],
        runs: int,
        warm_ups: int = 2,
    ) -> Figure:
        # Colonnade syncs its files. It must not pay for unsynced files that other formats left.
        times = in_turn(works, runs, warm_ups=warm_ups, before=os.sync)
        return self._figure(measure, "s", target, times)

    def _figure(
        self, measure: str, unit: str, target: float, samples: Sequence[Sequence[float]]
    ) -> Figure:
        by_name = {e.name: each for e, each in zip(self.engines, samples, strict=True)}
        medians = {name: statistics.median(each) for name, each in by_name.items()}
        ours = medians.pop(Colonnade.name)
        rival = min(RIVALS, key=medians.__getitem__)
        ratio = median_ratio(by_name[Colonnade.name], by_name[rival])
        print(f"  {measure}: {ours:.4g} {unit}, {ratio:.3f} of {rival}", flush=True)
        return Figure(measure, unit, ours, medians[rival], ratio, target, beside=medians)


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure every row, and draw them into `peers.svg` beside the JSON.

    A ratio is Colonnade's time over that of the better of plain Parquet and Iceberg. Tables go
    below `folder`/peers. About eight minutes for scale 1 on two processors.
    """
    spark = session(folder / "peers")
    try:
        figures = list(Peers(spark, folder / "peers", scale).figures(runs))
    finally:
        spark.stop()
    (folder / "peers.svg").write_text(peers_plot(figures), encoding="utf-8")
    return figures


def profile(folder: Path, scale: float, measures: Sequence[str], repeats: int) -> Iterator[str]:
    """Where Colonnade's time goes in the rows whose names hold one of `measures`."""
    spark = session(folder / "peers")
    try:
        peers = Peers(spark, folder / "peers", scale)
        peers.engines[0].create("lineitem", peers.source)
        for name, work in peers.ours():
            if any(each in name for each in measures):
                yield f"## {name}: {profile_of(spark, work(), repeats)}\n"
    finally:
        spark.stop()


def drain(engine: Engine) -> None:
    """Read every value of lineitem and throw it away."""
    engine.read("lineitem").write.format("noop").mode("overwrite").save()


def small(spark: SparkSession, start: int) -> DataFrame:
    """Ten rows in one partition."""
    rows = spark.range(start, start + 10, 1, 1)
    return rows.selectExpr("id", "concat('n', id) AS name", "id * 0.5D AS amount")


def wide(spark: SparkSession, rows: int = WIDE_ROWS) -> DataFrame:
    """Whole numbers up to a million, as longs and as doubles, whose sums have no rounding."""
    columns = (
        f"CAST(id * {7919 + 2 * each} % 1000003 AS {'DOUBLE' if each % 2 else 'BIGINT'}) AS c{each}"
        for each in range(WIDE_COLUMNS)
    )
    return spark.range(0, rows, 1, 2).selectExpr(*columns)
