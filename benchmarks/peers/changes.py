"""Statements that change rows: Colonnade beside Delta Lake and Iceberg, in one Spark session."""

from __future__ import annotations

import itertools
import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

import colonnade
from benchmarks.measure import Figure, in_turn, lineitem, median_ratio
from benchmarks.peers.engines import Colonnade, Delta, Engine, Iceberg, session
from benchmarks.peers.peers import WIDE_COLUMNS, wide
from colonnade.manifests.once import once

ENGINES: tuple[type[Engine], ...] = (Colonnade, Delta, Iceberg)
SCATTERED = "(l_orderkey * 7 + l_linenumber * 13) % 100 = {turn}"
KEYED_ROWS, MERGED_ROWS = 1_500_000, 25_000
MERGE = """
    MERGE INTO {t} t USING {s} s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET amount = s.amount
    WHEN NOT MATCHED THEN INSERT *"""
Statement = Callable[[Engine, int], object]


class Changes:
    """The engines, and the measures of their statements."""

    def __init__(self, spark: SparkSession, folder: Path, scale: float) -> None:
        self.spark, self.folder, self.scale = spark, folder, scale
        self.engines = [each(spark, folder) for each in ENGINES]

    @once
    def file(self) -> Path:
        """Lineitem as Parquet."""
        return lineitem(self.folder.parent, self.scale)

    @once
    def source(self) -> DataFrame:
        """The rows of lineitem."""
        return self.spark.read.parquet(str(self.file))

    def figures(self, runs: int) -> Iterator[Figure]:
        """Yield every row of the benchmark's table; print each one right after its measurement."""
        self._create("lineitem", self.source)
        before = self._times(self._sum_of_one, runs)
        yield from self._statement("DELETE of 1 % scattered rows", "lineitem", self._delete, runs,
                                   0.8, 1.0)  # fmt: skip
        yield self._slowdown("sum of 1 column after it, over before it", before, runs)
        yield from self._statement("UPDATE of 1 %", "lineitem", self._update, runs, 0.8, None)
        yield self._figure(
            "compaction of the table", "s", 1.0, [[each] for each in self._compaction_times()]
        )
        self._check("lineitem")
        self._create("keyed", keyed(self.spark, 0, int(KEYED_ROWS * self.scale)))
        merged = f"MERGE of {int(MERGED_ROWS * self.scale):,} rows"
        yield from self._statement(merged, "keyed", self._merge, runs, 0.5, None)
        self._create("wide", wide(self.spark))
        yield from self._statement(
            f"UPDATE of 1 of {WIDE_COLUMNS} columns", "wide", self._update_column, runs, 0.3, 0.02,
            rival=Delta.name)  # fmt: skip
        yield from self._at_once()

    def _statement(
        self,
        measure: str,
        table: str,
        statement: Statement,
        runs: int,
        target: float | None,
        bytes_target: float | None,
        rival: str = Iceberg.name,
    ) -> Iterator[Figure]:
        """Time a statement, on other rows in each turn, and measure the bytes of its first run."""
        sizes = []
        for engine in self.engines:
            before = engine.size(table)
            statement(engine, 0)
            sizes.append([(engine.size(table) - before) / 1e6])
        self._check(table)
        turns = [itertools.count(1) for _ in self.engines]
        works = [
            partial(lambda e, turn: statement(e, next(turn)), engine, turn)
            for engine, turn in zip(self.engines, turns, strict=True)
        ]
        times = in_turn(works, runs, before=os.sync)
        self._check(table)
        yield self._figure(measure, "s", target, times, rival)
        yield self._figure(f"{measure}: bytes written", "MB", bytes_target, sizes, rival)

    def _at_once(self) -> Iterator[Figure]:
        """Count the statements that are refused beside concurrent statements on other rows."""

        def delete(engine: Engine, part: int, of: int) -> object:
            return self._run(engine, f"DELETE FROM {{t}} WHERE id % {of} = {part}", "rivals")

        def append(engine: Engine, part: int) -> object:
            return engine.append("rivals", keyed(self.spark, 10**9 + part * 10, 10))

        deletes = [partial(delete, part=part, of=20) for part in range(20)]
        merges = [partial(self._merge, turn=part, table="rivals") for part in range(4)]
        apart = [partial(self._merge, turn=part, table="rivals") for part in range(10, 14)]
        appends = [partial(append, part=part) for part in range(5)]
        yield self._refused("20 DELETEs of disjoint rows", deletes)
        yield self._refused("10 DELETEs beside a compaction", [self._compact, *deletes[:10]])
        yield self._refused(
            "10 DELETEs and 4 MERGEs beside a compaction",
            [self._compact, *deletes[:10], *apart],
        )
        yield self._refused("5 DELETEs beside 5 appends", [*deletes[:5], *appends])
        yield self._refused("4 MERGEs on disjoint keys", merges)

    def _refused(self, measure: str, works: Sequence[Callable[[Engine], object]]) -> Figure:
        self._create("rivals", keyed(self.spark, 0, 20_000))
        for engine in self.engines:
            # Two files, so that there is something to compact.
            engine.append("rivals", keyed(self.spark, 20_000, 20_000))
        counts = [[float(self._refusals(engine, works))] for engine in self.engines]
        medians = [each[0] for each in counts]
        beside = dict(zip((e.name for e in self.engines[1:]), medians[1:], strict=True))
        print(f"  {measure}: {medians[0]:g} refused, {beside}", flush=True)
        return Figure(f"{measure}, refused of {len(works)}", "", medians[0], beside[Iceberg.name],
                      None, 0.0, judged_by_ratio=False, beside=beside)  # fmt: skip

    def _refusals(self, engine: Engine, works: Sequence[Callable[[Engine], object]]) -> int:
        def refused(work: Callable[[Engine], object]) -> bool:
            try:
                work(engine)
            except (PySparkException, Py4JJavaError):
                return True
            return False

        with ThreadPoolExecutor(len(works)) as pool:
            return sum(pool.map(refused, works))

    def _create(self, table: str, frame: DataFrame) -> None:
        for engine in self.engines:
            engine.create(table, frame)
            if isinstance(engine, Delta):
                name = engine.sql_name(table)
                vectors = "'delta.enableDeletionVectors' = 'true'"
                self.spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ({vectors})")

    def _run(self, engine: Engine, sql: str, table: str) -> list[Row]:
        return self.spark.sql(sql.replace("{t}", engine.sql_name(table))).collect()

    def _delete(self, engine: Engine, turn: int) -> object:
        where = SCATTERED.replace("{turn}", str(turn % 50))
        return self._run(engine, f"DELETE FROM {{t}} WHERE {where}", "lineitem")

    def _update(self, engine: Engine, turn: int) -> object:
        where = SCATTERED.replace("{turn}", str(50 + turn % 50))
        sql = f"UPDATE {{t}} SET l_quantity = l_quantity + 1 WHERE {where}"
        return self._run(engine, sql, "lineitem")

    def _update_column(self, engine: Engine, turn: int) -> object:
        return self._run(engine, "UPDATE {t} SET c17 = c17 + 1", "wide")

    def _merge(self, engine: Engine, turn: int, table: str = "keyed") -> object:
        count = int(MERGED_ROWS * self.scale) if table == "keyed" else 1_000
        step = 97 if table == "keyed" else 20
        # Half of the keys exist, and the other half are new in every turn.
        old = f"SELECT id * {step} + {turn} AS id, 'm' AS name, id * 1.0D AS amount"
        new = f"SELECT id + {10**8 + turn * count} AS id, 'n' AS name, id * 1.0D AS amount"
        rows = f"{old} FROM range({count // 2}) UNION ALL {new} FROM range({count // 2})"
        return self._run(engine, MERGE.replace("{s}", f"({rows})"), table)

    def _compact(self, engine: Engine, table: str = "rivals") -> object:
        if isinstance(engine, Colonnade):
            optimize = self._table(engine, table).optimize()
            return optimize.option("min-rowsets", 2).executeCompaction()
        if isinstance(engine, Delta):
            return self._run(engine, "OPTIMIZE {t}", table)
        name = engine.sql_name(table).removeprefix("iceberg.")
        options = "map('rewrite-all', 'true', 'delete-file-threshold', '1')"
        return self.spark.sql(
            f"CALL iceberg.system.rewrite_data_files(table => '{name}', options => {options})"
        ).collect()

    def _table(self, engine: Engine, table: str) -> colonnade.Table:
        return colonnade.Table.forPath(self.spark, engine.place(table))

    def _compaction_times(self) -> list[float]:
        works = [partial(self._compact, engine, "lineitem") for engine in self.engines]
        return [each for [each] in in_turn(works, 1, warm_ups=0, before=os.sync)]

    def _sum_of_one(self, engine: Engine) -> object:
        return self._run(engine, "SELECT sum(l_extendedprice) FROM {t}", "lineitem")

    def _times(self, work: Callable[[Engine], object], runs: int) -> list[list[float]]:
        return in_turn([partial(work, engine) for engine in self.engines], runs, warm_ups=2)

    def _slowdown(self, measure: str, before: list[list[float]], runs: int) -> Figure:
        after = self._times(self._sum_of_one, runs)
        medians = [statistics.median(a) / statistics.median(b)
                   for a, b in zip(after, before, strict=True)]  # fmt: skip
        beside = dict(zip((e.name for e in self.engines[1:]), medians[1:], strict=True))
        print(f"  {measure}: {medians[0]:.3f}, {beside}", flush=True)
        return Figure(measure, "", medians[0], beside[Iceberg.name], None, 1.15,
                      judged_by_ratio=False, beside=beside)  # fmt: skip

    def _check(self, table: str) -> None:
        """Raise `AssertionError` if the engines hold different rows."""
        columns = ", ".join(self.engines[0].read(table).columns)
        every = f"SELECT count(*), sum(CAST(xxhash64({columns}) AS DECIMAL(38))) FROM {{t}}"
        answers = {engine.name: self._run(engine, every, table) for engine in self.engines}
        if any(answer != answers[Colonnade.name] for answer in answers.values()):
            raise AssertionError(f"The rows of {table} differ: {answers}")

    def _figure(
        self,
        measure: str,
        unit: str,
        target: float | None,
        samples: Sequence[Sequence[float]],
        rival: str = Iceberg.name,
    ) -> Figure:
        by_name = {e.name: each for e, each in zip(self.engines, samples, strict=True)}
        medians = {name: statistics.median(each) for name, each in by_name.items()}
        ours = medians.pop(Colonnade.name)
        ratio = median_ratio(by_name[Colonnade.name], by_name[rival])
        print(f"  {measure}: {ours:.4g} {unit}, {ratio:.3f} of {rival}", flush=True)
        return Figure(measure, unit, ours, medians[rival], ratio, target, beside=medians)


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure every row. Ratios are Colonnade's over Iceberg's, or Delta's for one wide column.

    Engines must hold the same rows after every statement. Tables are stored below
    `folder`/changes.
    """
    spark = session(folder / "changes")
    try:
        return list(Changes(spark, folder / "changes", scale).figures(runs))
    finally:
        spark.stop()


def keyed(spark: SparkSession, first: int, count: int) -> DataFrame:
    """Make `count` rows with keys from `first` on."""
    rows = spark.range(first, first + count, 1, 2)
    return rows.selectExpr("id", "concat('n', id % 1000) AS name", "id * 0.5D AS amount")
