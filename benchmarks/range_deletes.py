"""DELETE of ranges of a sorted table through SQL, beside Delta Lake and Iceberg."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame

import colonnade
from benchmarks.changes import Changes
from benchmarks.engines import Colonnade, Delta, Engine, session
from benchmarks.measure import Figure, in_turn

ROWS, DEVICES = 50_000_000, 1_000
SCHEMA = pa.schema(
    [
        pa.field("device", pa.int64(), nullable=False),
        pa.field("at", pa.int64(), nullable=False),
        ("value", pa.float64()),
    ]
)


class RangeDeletes(Changes):
    """The engines, each with one table of readings that is sorted by device and time."""

    def figures(self, runs: int) -> Iterator[Figure]:
        """Yield every row of the benchmark's table; each deletion is of other rows."""
        rows = max(100_000, int(ROWS * self.scale))
        each = rows // DEVICES
        self._create(
            "readings",
            self.spark.range(0, rows, 1, 8).selectExpr(
                f"id DIV {each} AS device", f"id % {each} AS at", "rand(1) AS value"
            ),
        )
        yield from self._range("0.1 %, inside files", runs, f"device = {{turn}} AND at < {each}")
        yield from self._range("30 %", 1, "device >= 600 AND device < 900", warm_ups=0)

    def _create(self, table: str, frame: DataFrame) -> None:
        for engine in self.engines:
            if isinstance(engine, Colonnade):
                # The columns of the sort key must be NOT NULL, which a DataFrame's writer drops.
                engine.adopt(table, f"{table}_sorted")
                path = engine.place(table)
                colonnade.create(path, SCHEMA, sort_key=["device", "at"])
                engine.append(table, frame)
            else:
                engine.create(table, frame)
            if isinstance(engine, Delta):
                vectors = "'delta.enableDeletionVectors' = 'true'"
                name = engine.sql_name(table)
                self.spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ({vectors})")

    def _range(self, what: str, runs: int, where: str, warm_ups: int = 1) -> Iterator[Figure]:
        sizes = [engine.size("readings") for engine in self.engines]
        turns = {engine.name: iter(range(100, 500)) for engine in self.engines}

        def delete(engine: Engine) -> object:
            chosen = where.replace("{turn}", str(next(turns[engine.name])))
            return self._run(engine, f"DELETE FROM {{t}} WHERE {chosen}", "readings")

        works = [partial(delete, engine) for engine in self.engines]
        times = in_turn(works, runs, warm_ups=warm_ups, before=os.sync)
        self._check("readings")
        done = runs + warm_ups
        after = [engine.size("readings") for engine in self.engines]
        written = [[(b - a) / done / 1e3] for a, b in zip(sizes, after, strict=True)]
        measure = f"DELETE of a range of {what}"
        best = min(zip(self.engines, times, strict=True), key=_median_of_rival)[0].name
        yield self._figure(measure, "s", 0.2, times, best)
        yield self._figure(f"{measure}: bytes written", "kB", None, written, best)


def _median_of_rival(measured: tuple[Engine, list[float]]) -> float:
    engine, times = measured
    return float("inf") if isinstance(engine, Colonnade) else statistics.median(times)


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure every row. Ratios are Colonnade's time over that of the best rival.

    Engines must hold the same rows after every statement.
    """
    place = folder / "range_deletes"
    spark = session(place)
    try:
        return list(RangeDeletes(spark, place, scale).figures(runs))
    finally:
        spark.stop()
