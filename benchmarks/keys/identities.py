"""Writers at once on a table with an identity column, beside Delta Lake."""

from __future__ import annotations

import os
import statistics
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.measure import Figure, in_turn, median_ratio
from benchmarks.peers import engines
from benchmarks.peers.engines import Colonnade, Delta, Engine

TABLE = "numbered"
WRITERS, APPENDS = 4, 4
ROWS = 100_000
"""The rows of each append at scale 1."""

COLUMNS = "id BIGINT GENERATED ALWAYS AS IDENTITY, k BIGINT, v STRING"


class Writers:
    """Engines with a table each. Several writers append to a table at once.

    A writer does not repeat an append that is refused, as an INSERT does not.
    """

    def __init__(self, spark: SparkSession, folder: Path, rows: int) -> None:
        self.spark, self.rows = spark, rows
        self.engines = [Colonnade(spark, folder), Delta(spark, folder)]
        self.refused: dict[str, list[int]] = {each.name: [] for each in self.engines}
        self.committed: dict[str, list[int]] = {each.name: [] for each in self.engines}
        for engine in self.engines:
            engine.adopt(TABLE, TABLE)
            using = type(engine).__name__.lower()
            spark.sql(f"CREATE TABLE {engine.sql_name(TABLE)} ({COLUMNS}) USING {using}")

    def figures(self, runs: int) -> list[Figure]:
        """Measure appends of all writers at once, and then of one writer alone."""
        found = []
        for count in (WRITERS, 1):
            for each in (self.refused, self.committed):
                for samples in each.values():
                    samples.clear()
            works = [partial(self.write, each, count) for each in self.engines]
            times = in_turn(works, runs, before=os.sync)
            found += self._figures(count, times)
        self.check()
        return found

    def write(self, engine: Engine, writers: int) -> None:
        """Let each writer append its batches. Raise all errors but refusals."""
        start = threading.Barrier(writers)
        with ThreadPoolExecutor(writers) as pool:
            refused = sum(pool.map(lambda _: self._append_all(engine, start), range(writers)))
        self.refused[engine.name].append(refused)
        self.committed[engine.name].append((writers * APPENDS - refused) * self.rows)

    def _append_all(self, engine: Engine, start: threading.Barrier) -> int:
        start.wait()
        refused = 0
        for _ in range(APPENDS):
            frame = self.spark.range(0, self.rows, numPartitions=2)
            try:
                engine.append(TABLE, frame.selectExpr("id AS k", "concat('row ', id) AS v"))
            except Exception as error:
                # Colonnade says "concurrent writer", and Delta "concurrent update".
                if "concurrent" not in str(error):
                    raise
                refused += 1
        return refused

    def _figures(self, writers: int, times: list[list[float]]) -> list[Figure]:
        ours, theirs = (
            [
                1e6 * each / rows
                for rows, each in zip(self.committed[e.name][1:], spent, strict=True)
            ]
            for e, spent in zip(self.engines, times, strict=True)
        )
        medians = statistics.median(ours), statistics.median(theirs)
        own, other = (statistics.mean(self.refused[e.name][1:]) for e in self.engines)
        what = f"identity insert by {writers} at once"
        return [
            Figure(f"{what}: a million rows", "s", *medians, median_ratio(ours, theirs)),
            Figure(f"{what}: refused of {writers * APPENDS}", "appends", own, other),
        ]

    def check(self) -> None:
        """Raise `AssertionError` if a table has a value twice."""
        for engine in self.engines:
            frame = engine.read(TABLE)
            assert frame.count() == frame.select("id").distinct().count(), engine.name


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure writers at once: seconds for a million rows that are committed, and refusals.

    Ratios are Colonnade's time over Delta's. Tables are stored below `folder`/identities.
    """
    place = folder / "identities"
    spark = engines.session(place, {"spark.sql.warehouse.dir": str(place / "spark")})
    try:
        return Writers(spark, place, int(ROWS * scale)).figures(runs)
    finally:
        spark.stop()
