"""Compare wide tables, and ranges of a key, through Spark with Parquet-zstd, in turn."""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

import colonnade
from benchmarks.measure import Figure, in_turn, lineitem, median_ratio
from benchmarks.peers.engines import Colonnade, Engine, Parquet
from benchmarks.peers.peers import WIDE_COLUMNS, WIDE_ROWS, wide

PERCENT = 100
SUMS = """
    SELECT count(*), sum(l_quantity), sum(l_extendedprice) FROM {t}
    WHERE l_orderkey BETWEEN {first} AND {last}"""


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure every row; tables are stored below `folder`/wide. Needs no packages except pyspark.

    The key of the wide table ascends from row to row, like the key of lineitem.
    """
    source = lineitem(folder, scale)
    spark = session()
    engines = [Colonnade(spark, folder / "wide"), Parquet(spark, folder / "wide")]
    columns = f"{WIDE_COLUMNS} columns"
    frame = wide(spark).selectExpr("monotonically_increasing_id() AS id", "*")
    rows = spark.read.parquet(str(source))
    [[last_key]] = rows.selectExpr("max(l_orderkey)").collect()
    first = last_key // 2
    sums = SUMS.format(t="{t}", first=first, last=first + last_key // PERCENT)

    def beside(measure: str, target: float, work: Callable[[Engine], object], times: int) -> Figure:
        works = [partial(work, engine) for engine in engines]
        ours, theirs = in_turn(works, times, before=os.sync)
        medians = statistics.median(ours), statistics.median(theirs)
        figure = Figure(measure, "s", *medians, median_ratio(ours, theirs), target)
        print(f"  {measure}: {figure.ours:.3f} s, {figure.ratio:.3f} of Parquet", flush=True)
        return figure

    try:
        figures = [
            beside(f"write {columns}", 0.8, lambda each: each.create("wide", frame), runs),
            beside(f"read all of {columns}", 0.8, lambda each: drain(each, "true"), runs),
            beside(f"all of {columns} of 1 % of the key", 0.7,
                   lambda each: drain(each, f"id < {WIDE_ROWS // PERCENT}"), 3 * runs),
        ]  # fmt: skip
        for engine in engines:
            engine.create("lineitem", rows)
        query = partial(_ask, spark, sums)
        assert query(engines[0]) == query(engines[1])
        return [*figures, beside("two sums over 1 % of the key", 0.7, query, 3 * runs)]
    finally:
        spark.stop()


def drain(engine: Engine, where: str) -> None:
    """Read every value of some rows and discard it."""
    engine.read("wide").where(where).write.format("noop").mode("overwrite").save()


def _ask(spark: SparkSession, sql: str, engine: Engine) -> object:
    return spark.sql(sql, t=engine.read("lineitem")).collect()


def session() -> SparkSession:
    """Start local Spark on two processors with Colonnade."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("colonnade-benchmarks")
    builder.config("spark.driver.memory", "4g").config("spark.driver.host", "127.0.0.1")
    builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    builder.config("spark.sql.parquet.compression.codec", "zstd")
    spark = colonnade.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark
