"""Columns that are added, computed, widened and set through Spark, beside other formats."""

from __future__ import annotations

import itertools
import os
import shutil
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pyspark
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import colonnade
from benchmarks.measure import Figure, in_turn, lineitem, median_ratio
from benchmarks.peers import engines
from benchmarks.peers.engines import Colonnade, Delta, Engine, Iceberg, Parquet
from benchmarks.peers.peers import WIDE_COLUMNS, WIDE_ROWS, wide
from benchmarks.spark.wide import session

LINEITEM, WIDE, FRESH = "lineitem", "wide", "fresh"
LEAST_SETTING = "spark.colonnade.replaceColumnsBytes"
REVENUE = "CAST(l_extendedprice * (1 - l_discount) AS DECIMAL(18,4))"
Way = Callable[[Engine, int], object]
"""Does a step on an engine. Each turn has its own number, for the names of new columns."""


class Columns:
    """Engines with the same tables, and the steps that change columns of them.

    A step is done in the way that an engine has for it. Plain Parquet writes the table again.
    """

    def __init__(
        self, spark: SparkSession, folder: Path, scale: float, kinds: Sequence[type[Engine]]
    ) -> None:
        self.spark, self.scale = spark, scale
        self.engines = [each(spark, folder) for each in kinds]
        self.ours = self.engines[0]
        self.source = spark.read.parquet(str(lineitem(folder.parent, scale)))

    def figures(self, runs: int, only: Sequence[str] = ()) -> Iterator[Figure]:
        """Yield every row of the benchmark's table; print each one right after its measurement.

        `only` has parts of the names of steps, and chooses among them. The step that widens a
        column needs the one that adds it.
        """
        self._create(LINEITEM)
        self._create(WIDE)
        steps: list[tuple[str, str, Way, float | None]] = [
            ("ADD COLUMN with a default", LINEITEM, self.add_with_default, 0.2),
            ("a computed column", LINEITEM, self.add_computed, 0.2),
            ("INT to BIGINT", LINEITEM, self.widen, None),
            (f"UPDATE of 1 of {WIDE_COLUMNS} columns", WIDE, self.update, None),
            (f"MERGE that sets 1 of {WIDE_COLUMNS} columns", WIDE, self.merge, None),
            (f"backfill of 1 of {WIDE_COLUMNS} columns", WIDE, self.backfill, 0.2),
        ]
        for measure, table, way, target in steps:
            if not only or any(text in measure for text in only):
                yield from self._step(measure, table, way, runs, target)
        if only:
            return
        yield self._evolved(runs)
        yield from self._moved(runs)

    def add_with_default(self, engine: Engine, turn: int) -> object:
        """Add a column that is 5 in every row."""
        name = f"d{turn}"
        if isinstance(engine, Colonnade):
            return self._sql(
                engine, LINEITEM, f"ALTER TABLE {{t}} ADD COLUMNS ({name} INT DEFAULT 5)"
            )
        return self._added(engine, name, "INT", "5")

    def add_computed(self, engine: Engine, turn: int) -> object:
        """Add a column whose values are computed from two columns of the table."""
        name, kind = f"revenue{turn}", "DECIMAL(18,4)"
        if isinstance(engine, Colonnade):
            return self._table(engine, LINEITEM).addColumn(name, kind, REVENUE)
        return self._added(engine, name, kind, REVENUE)

    def widen(self, engine: Engine, turn: int) -> object:
        """Widen the column that `add_with_default` has added in the same turn."""
        name = f"d{turn}"
        if isinstance(engine, Parquet):
            return self._rewrite(engine, LINEITEM, name, F.col(name).cast("BIGINT"))
        return self._sql(engine, LINEITEM, f"ALTER TABLE {{t}} ALTER COLUMN {name} TYPE BIGINT")

    def update(self, engine: Engine, _: int) -> object:
        """Set one of many columns in all rows."""
        if isinstance(engine, Parquet):
            return self._rewrite(engine, WIDE, "c17", F.expr("c17 + 1"))
        return self._sql(engine, WIDE, "UPDATE {t} SET c17 = c17 + 1")

    def merge(self, engine: Engine, _: int) -> object:
        """Set one of many columns in all rows, from a source with a key."""
        if isinstance(engine, Parquet):
            rows, added = engine.read(WIDE), self._added_rows()
            joined = rows.join(added, rows["c0"] == added["k"], "left").drop("k")
            return self._replace(
                engine, WIDE, joined.withColumn("c19", F.expr("c19 + v")).drop("v")
            )
        self._added_rows().createOrReplaceTempView("added")
        return self._sql(
            engine,
            WIDE,
            "MERGE INTO {t} t USING added ON t.c0 = added.k"
            " WHEN MATCHED THEN UPDATE SET c19 = t.c19 + added.v",
        )

    def _added_rows(self) -> DataFrame:
        """Return the keys of all rows of the wide table, each with a number."""
        rows = self.spark.range(0, int(WIDE_ROWS * self.scale), 1, 2)
        return rows.selectExpr("id * 7919 % 1000003 AS k", "CAST(id % 1000 AS DOUBLE) AS v")

    def backfill(self, engine: Engine, turn: int) -> object:
        """Do as `update` does, by the method that never moves rows where there is one."""
        if isinstance(engine, Colonnade):
            return self._table(engine, WIDE).backfill("c17", "c17 + 1")
        return self.update(engine, turn)

    def _added(self, engine: Engine, name: str, kind: str, value: str) -> object:
        if isinstance(engine, Parquet):
            return self._rewrite(engine, LINEITEM, name, F.expr(value).cast(kind))
        self._sql(engine, LINEITEM, f"ALTER TABLE {{t}} ADD COLUMNS ({name} {kind})")
        return self._sql(engine, LINEITEM, f"UPDATE {{t}} SET {name} = {value}")

    def _rewrite(self, engine: Engine, table: str, name: str, value: Column) -> object:
        return self._replace(engine, table, engine.read(table).withColumn(name, value))

    def _replace(self, engine: Engine, table: str, rows: DataFrame) -> object:
        before = engine.place(table)
        engine.create(table, rows)
        shutil.rmtree(before)
        return before

    def _sql(self, engine: Engine, table: str, sql: str) -> object:
        return self.spark.sql(sql.replace("{t}", engine.sql_name(table))).collect()

    def _table(self, engine: Engine, table: str) -> colonnade.Table:
        return colonnade.Table.forPath(self.spark, engine.place(table))

    def _create(self, table: str) -> None:
        wide_rows = wide(self.spark, int(WIDE_ROWS * self.scale))
        frame = self.source if table == LINEITEM else wide_rows
        for engine in self.engines:
            engine.create(table, frame)
            if isinstance(engine, Delta):
                wanted = (
                    "'delta.enableDeletionVectors' = 'true', 'delta.enableTypeWidening' = 'true'"
                )
                self._sql(engine, table, f"ALTER TABLE {{t}} SET TBLPROPERTIES ({wanted})")

    def _step(
        self, measure: str, table: str, way: Way, runs: int, target: float | None
    ) -> Iterator[Figure]:
        """Measure the bytes that the first turn writes, and the seconds of the later ones."""
        works = [partial(way, engine, 0) for engine in self.engines]
        sizes = [
            [_written(engine, table, work) / 1e6]
            for engine, work in zip(self.engines, works, strict=True)
        ]
        self._check(table)
        turns = [itertools.count(1) for _ in self.engines]
        later = [
            partial(lambda engine, turn: way(engine, next(turn)), engine, turn)
            for engine, turn in zip(self.engines, turns, strict=True)
        ]
        # Colonnade syncs its files. It must not pay for unsynced files that other formats left.
        times = in_turn(later, runs, before=os.sync)
        self._check(table)
        yield self._figure(measure, "s", target, times)
        yield self._figure(f"{measure}: bytes written", "MB", target, sizes)

    def _figure(
        self, measure: str, unit: str, target: float | None, samples: Sequence[Sequence[float]]
    ) -> Figure:
        by_name = {e.name: each for e, each in zip(self.engines, samples, strict=True)}
        medians = {name: statistics.median(each) for name, each in by_name.items()}
        ours = medians.pop(Colonnade.name)
        rivals = [name for name in medians if name != Parquet.name] or [Parquet.name]
        rival = min(rivals, key=medians.__getitem__)
        # An engine may have nothing to write.
        ratio = median_ratio(by_name[Colonnade.name], by_name[rival]) if medians[rival] else None
        print(f"  {measure}: {ours:.4g} {unit}, {medians[rival]:.4g} of {rival}", flush=True)
        return Figure(measure, unit, ours, medians[rival], ratio, target, beside=medians)

    def _evolved(self, runs: int) -> Figure:
        """Compare reading the evolved table with reading the same rows, written at once."""
        self.ours.create(FRESH, self.ours.read(LINEITEM))
        works = [partial(_drain, self.ours, LINEITEM), partial(_drain, self.ours, FRESH)]
        evolved, fresh = in_turn(works, 3 * runs)
        medians = statistics.median(evolved), statistics.median(fresh)
        measure = "all columns of the evolved lineitem; ratio: to the same rows, written at once"
        return Figure(measure, "s", *medians, median_ratio(evolved, fresh), 1.1)

    def _moved(self, runs: int) -> Iterator[Figure]:
        """Compare statements as they run by default with the same ones that move whole rows."""
        narrow = "UPDATE {t} SET l_tax = l_tax + 1 WHERE l_orderkey % 2 = 0"
        statements: list[tuple[str, Callable[[], object]]] = [
            (f"UPDATE of 1 of {WIDE_COLUMNS} columns", partial(self.update, self.ours, 0)),
            (f"MERGE that sets 1 of {WIDE_COLUMNS} columns", partial(self.merge, self.ours, 0)),
            ("UPDATE of half of lineitem", partial(self._sql, self.ours, LINEITEM, narrow)),
        ]
        for name, work in statements:
            ours, moved = in_turn([work, partial(self._with_moves, work)], runs, before=os.sync)
            medians = statistics.median(ours), statistics.median(moved)
            measure = f"{name}; ratio: to moving rows"
            yield Figure(measure, "s", *medians, median_ratio(ours, moved), 1.05)

    def _with_moves(self, work: Callable[[], object]) -> object:
        self.spark.conf.set(LEAST_SETTING, "1000g")
        try:
            return work()
        finally:
            self.spark.conf.unset(LEAST_SETTING)

    def _check(self, table: str) -> None:
        """Raise `AssertionError` if the engines hold different rows."""
        columns = ", ".join(self.ours.read(table).columns)
        every = f"SELECT count(*), sum(CAST(xxhash64({columns}) AS DECIMAL(38))) FROM {{t}}"
        answers = {e.name: self.spark.sql(every, t=e.read(table)).collect() for e in self.engines}
        if any(answer != answers[Colonnade.name] for answer in answers.values()):
            raise AssertionError(f"The rows of {table} differ: {answers}")


def _written(engine: Engine, table: str, work: Callable[[], object]) -> int:
    """Return the bytes of the files that a work writes; those of a new table if it makes one."""
    before = _files(engine, table)
    work()
    return sum(size for file, size in _files(engine, table).items() if file not in before)


def _files(engine: Engine, table: str) -> dict[Path, int]:
    found = (each for each in Path(engine.place(table)).rglob("*") if each.suffix != ".crc")
    return {each: each.stat().st_size for each in found if each.is_file()}


def _drain(engine: Engine, table: str) -> None:
    """Read every value and discard it."""
    engine.read(table).write.format("noop").mode("overwrite").save()


def run(folder: Path, scale: float, runs: int, only: Sequence[str] = ()) -> list[Figure]:
    """Measure every row, or only the steps that `only` chooses.

    Ratios are Colonnade's over the better of Delta Lake and Iceberg. They are over plain Parquet on
    a version of Spark that the peers are not released for. Engines must hold the same rows after
    every step. Tables are stored below `folder`/columns.
    """
    place = folder / "columns"
    with_peers = pyspark.__version__.startswith(f"{engines.SPARK}.")
    spark = engines.session(place) if with_peers else session()
    kinds = (Colonnade, Parquet, Delta, Iceberg) if with_peers else (Colonnade, Parquet)
    try:
        return list(Columns(spark, place, scale, kinds).figures(runs, only))
    finally:
        spark.stop()
