"""Write and scan lineitem through the Python source for Spark, beside Spark's own Parquet-zstd."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from benchmarks.measure import Figure, interleave, lineitem

FOUR_COLUMNS = ["l_orderkey", "l_quantity", "l_extendedprice", "l_shipdate"]


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Write into a new folder in each run; scan the table of the last run."""
    source = lineitem(folder, scale)
    spark = session()
    try:
        frame = spark.read.parquet(str(source))
        ours, theirs = str(folder / "spark-colonnade"), str(folder / "spark-parquet")

        def write_ours() -> None:
            shutil.rmtree(ours, ignore_errors=True)
            frame.write.format("colonnade").mode("append").save(ours)

        def write_theirs() -> None:
            frame.write.mode("overwrite").option("compression", "zstd").parquet(theirs)

        written = interleave(write_ours, write_theirs, runs)
        every = frame.schema
        some = frame.select(*FOUR_COLUMNS).schema
        return [
            Figure(f"Spark write of lineitem SF{scale:g}", "s", *written, 1.5),
            *(
                scan(spark, f"Spark scan of {label}", schema, ours, theirs, runs)
                for label, schema in (("4 columns", some), ("all columns", every))
            ),
        ]
    finally:
        spark.stop()


def scan(
    spark: SparkSession, measure: str, schema: object, ours: str, theirs: str, runs: int
) -> Figure:
    """Read every value of the columns in `schema`, and discard it."""

    def drain(frame: DataFrame) -> None:
        frame.write.format("noop").mode("overwrite").save()

    times = interleave(
        lambda: drain(spark.read.format("colonnade").schema(schema).load(ours)),  # type: ignore[arg-type]
        lambda: drain(spark.read.schema(schema).parquet(theirs)),  # type: ignore[arg-type]
        runs,
    )
    return Figure(measure, "s", *times)


def session() -> SparkSession:
    """Start local Spark on all processors, with workers that run this Python."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[*]").appName("colonnade-benchmarks")
    return (
        builder.config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
