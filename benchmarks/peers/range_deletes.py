"""DELETE of ranges of sorted tables through SQL, beside Delta Lake and Iceberg."""

from __future__ import annotations

import itertools
import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

import colonnade
from benchmarks.measure import Figure, in_turn
from benchmarks.peers.changes import Changes
from benchmarks.peers.engines import Colonnade, Delta, Engine, session

ROWS, DEVICES = 50_000_000, 1_000
SCHEMA = pa.schema(
    [
        pa.field("device", pa.int64(), nullable=False),
        pa.field("at", pa.int64(), nullable=False),
        ("value", pa.float64()),
    ]
)


ORDER = "l_orderkey"


class RangeDeletes(Changes):
    """The engines, each with a table of readings by device and time, and lineitem by order."""

    def figures(self, runs: int) -> Iterator[Figure]:
        """Yield every row of the benchmark's table; each deletion is of other rows."""
        rows = max(100_000, int(ROWS * self.scale))
        each = rows // DEVICES
        readings = self.spark.range(0, rows, 1, 8).selectExpr(
            f"id DIV {each} AS device", f"id % {each} AS at", "rand(1) AS value"
        )
        self._create_sorted("readings", readings, SCHEMA, ["device", "at"])
        yield from self._range("readings", "a range of 0.1 %, inside files", runs,
                               lambda turn: f"device = {100 + turn} AND at < {each}")  # fmt: skip
        yield from self._range("readings", "a range of 30 %", 1,
                               lambda _: "device >= 600 AND device < 900", warm_ups=0)  # fmt: skip
        schema = pq.read_schema(self.file)
        [[keys]] = self.source.selectExpr(f"max({ORDER})").collect()
        self._create_sorted("lineitem", self.source, schema, [ORDER])
        few = max(1, keys // 1000)
        large = f"{ORDER} > {keys * 6 // 10} AND {ORDER} <= {keys * 9 // 10}"

        def small(turn: int) -> str:
            first = keys // 10 + 2 * few * turn
            return f"{ORDER} BETWEEN {first} AND {first + few}"

        yield from self._range("lineitem", "0.1 % of lineitem, inside files", runs, small)
        yield from self._range("lineitem", "30 % of lineitem", 1, lambda _: large, warm_ups=0)

    def _create_sorted(
        self, table: str, frame: DataFrame, schema: pa.Schema, key: Sequence[str]
    ) -> None:
        for engine in self.engines:
            if isinstance(engine, Colonnade):
                # The columns of the sort key must be NOT NULL, which a DataFrame's writer drops.
                engine.adopt(table, f"{table}_sorted")
                colonnade.create(engine.place(table), schema, sort_key=key)
                engine.append(table, frame)
            else:
                engine.create(table, frame)
            if isinstance(engine, Delta):
                vectors = "'delta.enableDeletionVectors' = 'true'"
                name = engine.sql_name(table)
                self.spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ({vectors})")

    def _range(
        self, table: str, what: str, runs: int, where: Callable[[int], str], warm_ups: int = 1
    ) -> Iterator[Figure]:
        sizes = [engine.size(table) for engine in self.engines]
        turns = {engine.name: itertools.count() for engine in self.engines}

        def delete(engine: Engine) -> object:
            chosen = where(next(turns[engine.name]))
            return self._run(engine, f"DELETE FROM {{t}} WHERE {chosen}", table)

        works = [partial(delete, engine) for engine in self.engines]
        times = in_turn(works, runs, warm_ups=warm_ups, before=os.sync)
        self._check(table)
        done = runs + warm_ups
        after = [engine.size(table) for engine in self.engines]
        written = [[(b - a) / done / 1e3] for a, b in zip(sizes, after, strict=True)]
        best = min(zip(self.engines, times, strict=True), key=_median_of_rival)[0].name
        yield self._figure(f"DELETE of {what}", "s", 0.2, times, best)
        bytes_ = self._figure(f"DELETE of {what}: bytes written", "kB", 1.0, written, best)
        yield replace(bytes_, judged_by_ratio=False)


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
