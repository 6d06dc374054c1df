"""Compare compaction with one write of the same rows: of many tiny appends, and of full RowSets."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import colonnade
from benchmarks.measure import Figure, in_turn, interleave, lineitem, median_ratio

APPENDS = 1000
ROWS = 1000
ROWSETS = 16
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("amount", pa.float64())])


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure passes; each compacts a new copy of a table, and writes its rows to a new table."""
    spark = session()
    try:
        return [*appends(spark, folder, runs), full_rowsets(spark, folder, scale, runs)]
    finally:
        spark.stop()


def appends(spark: SparkSession, folder: Path, runs: int) -> list[Figure]:
    """Compact a thousand appends of a thousand rows, also through Spark, and scan the result."""
    grown, copy, bulk = (folder / f"compaction-{name}" for name in ("grown", "copy", "bulk"))
    rows = _grow(grown)

    def fresh() -> None:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.rmtree(bulk, ignore_errors=True)
        shutil.copytree(grown, copy)

    def compact() -> None:
        colonnade.open(copy).optimize().executeCompaction()

    def load() -> None:
        colonnade.create(bulk, SCHEMA).append(rows)

    def compact_in_spark() -> None:
        colonnade.Table.forPath(spark, str(copy)).optimize().executeCompaction()

    same = ("id", "concat('name ', id % 997) AS name", "id / 3 AS amount")
    frame = spark.range(0, APPENDS * ROWS, 1, 1).selectExpr(*same).cache()
    frame.count()

    def load_in_spark() -> None:
        frame.write.format("colonnade").mode("append").save(str(bulk))

    works = [compact, load, compact_in_spark, load_in_spark]
    times = in_turn(works, runs, before=fresh)
    medians = [float(np.median(each)) for each in times]
    fresh()
    compact()
    load()
    scans = interleave(
        lambda: colonnade.open(copy).scan().to_arrow(),
        lambda: colonnade.open(bulk).scan().to_arrow(),
        4 * runs,
    )
    what = f"compaction of {APPENDS:,} appends of {ROWS:,} rows x 3 columns beside one bulk write"
    return [
        Figure(f"{what}, through Spark", "s", medians[2], medians[3],
               median_ratio(times[2], times[3]), target=1),
        Figure(f"{what}, without Spark", "s", medians[0], medians[1],
               median_ratio(times[0], times[1])),
        Figure("scan after 1,000 appends and a compaction beside the bulk-loaded table", "s",
               *scans, target=1.2),
    ]  # fmt: skip


def full_rowsets(spark: SparkSession, folder: Path, scale: float, runs: int) -> Figure:
    """Merge lineitem from 16 RowSets into as few as its size allows, without decoding a block."""
    frame = spark.read.parquet(str(lineitem(folder, scale)))
    parts, copy, written = (folder / f"compaction-{n}" for n in ("parts", "full", "written"))
    shutil.rmtree(parts, ignore_errors=True)
    frame.repartition(ROWSETS).write.format("colonnade").mode("append").save(str(parts))

    def fresh() -> None:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.rmtree(written, ignore_errors=True)
        shutil.copytree(parts, copy)

    def compact() -> None:
        optimize = colonnade.Table.forPath(spark, str(copy)).optimize().option("min-rowsets", 2)
        [done] = optimize.executeCompaction().collect()
        assert done["metrics"]["numFilesRemoved"] == ROWSETS

    def write() -> None:
        frame.write.format("colonnade").mode("append").save(str(written))

    ours, theirs = in_turn([compact, write], runs, before=fresh)
    return Figure(
        f"copy-compaction of lineitem SF{scale:g} in {ROWSETS} RowSets beside Spark's write of it",
        "s",
        float(np.median(ours)),
        float(np.median(theirs)),
        median_ratio(ours, theirs),
        target=0.3,
    )


def _grow(path: Path) -> pa.Table:
    """Make the table of many appends unless it exists; return all its rows."""
    numbers = np.arange(APPENDS * ROWS)
    names = pa.array([f"name {n % 997}" for n in numbers.tolist()])
    rows = pa.table({"id": numbers, "name": names, "amount": numbers / 3}, SCHEMA)
    if not path.exists():
        table = colonnade.create(path, SCHEMA)
        unsynced = colonnade.WriteSettings(sync=False)
        for start in range(0, len(rows), ROWS):
            table.append(rows.slice(start, ROWS), settings=unsynced)
    return rows


def session() -> SparkSession:
    """Start local Spark on all processors with Colonnade's jar."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[*]").appName("colonnade-benchmarks")
    builder = builder.config("spark.driver.memory", "4g").config("spark.ui.enabled", "false")
    return colonnade.configure(builder.config("spark.driver.host", "127.0.0.1")).getOrCreate()
