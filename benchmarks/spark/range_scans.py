"""Scans beside and around many small ranges that were deleted unread, in Spark."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark.sql import SparkSession

import colonnade
from benchmarks.measure import Figure, interleave
from benchmarks.rows.lifetimes import INSIDE, MANY, OTHERS, ROWS, cut_readings, made_readings
from benchmarks.spark.spark import session


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure sums of a table with many small ranges beside one without ranges."""
    place = folder / "range_scans"
    shutil.rmtree(place, ignore_errors=True)
    rows = max(100_000, int(ROWS * scale))
    made_readings(place / "plain", rows, by_time=False)
    cut_readings(place / "cut", rows)
    spark = colonnade.enable(session())
    try:
        return [*_figures(spark, place, runs)]
    finally:
        spark.stop()


def _figures(spark: SparkSession, place: Path, runs: int) -> Iterator[Figure]:
    def total(name: str, where: str) -> Callable[[], object]:
        def work() -> object:
            table = spark.read.format("colonnade").load(str(place / name))
            return table.where(where).groupBy().sum("value").collect()

        return work

    for what, where, most in (
        ("other rows beside", OTHERS, 1.05),
        ("the rows around", INSIDE, 1.3),
    ):
        ours, theirs = total("cut", where), total("plain", where)
        ours()  # The first scan finds the rows of the ranges.
        a, b, ratio = interleave(ours, theirs, runs)
        yield Figure(f"sum of {what} {MANY:,} ranges, in Spark", "s", a, b, ratio, most)
