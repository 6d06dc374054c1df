"""A job that needs a whole session, for test_whole_sessions.py: `whole.py FOLDER WAY...`.

For each WAY it starts a session, walks through what only the extension, the catalogs, the planner
or the workers can do, and stops the session. COLONNADE_TEST_REMOTE in the environment is the
address of a Spark Connect session.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import colonnade


def configured(builder: SparkSession.Builder) -> SparkSession:
    return colonnade.configure(builder).getOrCreate()


def found(builder: SparkSession.Builder) -> SparkSession:
    """A session that somebody else has started, as in a notebook."""
    builder.getOrCreate()
    return colonnade.session()


def enabled(builder: SparkSession.Builder) -> SparkSession:
    spark = builder.getOrCreate()
    spark.range(3).count()  # its analyzer is made
    return colonnade.enable(spark)


def configured_late(builder: SparkSession.Builder) -> SparkSession:
    builder.getOrCreate().range(3).count()
    return colonnade.configure(SparkSession.builder).getOrCreate()


def begun(builder: SparkSession.Builder) -> SparkSession:
    del builder
    return colonnade.session()


WAYS: dict[str, Callable[[SparkSession.Builder], SparkSession]] = {
    "configure": configured,
    "configure a running session": configured_late,
    "session": begun,
    "session that runs": found,
    "enable": enabled,
}


def walk(spark: SparkSession, folder: Path, workers: str = sys.executable) -> None:
    """Do what fails without one of the parts of a session; `workers` is the name of their Python.

    It names the Python of this process.
    """
    spark.conf.set("spark.sql.catalog.colonnade.warehouse", str(folder / "warehouse"))
    report = colonnade.doctor(spark)
    assert (report.source, report.problem, report.missing) == ("Java", None, ()), str(report)
    assert report.workers_python == workers, str(report)

    path = str(folder / "trips")
    rows = spark.range(4).repartition(2)
    rows.write.format("colonnade").save(path)
    wider = rows.withColumn("miles", F.lit(1.5))
    writer = wider.write.format("colonnade").mode("append")
    writer.option("mergeSchema", "true").save(path)
    assert spark.read.format("colonnade").load(path).columns == ["id", "miles"]

    spark.sql("CREATE NAMESPACE colonnade.shop")
    columns = "id BIGINT, twice BIGINT GENERATED ALWAYS AS (id * 2)"
    spark.sql(f"CREATE TABLE colonnade.shop.orders ({columns})")
    spark.sql("INSERT INTO colonnade.shop.orders (id) VALUES (1), (2)")
    spark.sql("ALTER TABLE colonnade.shop.orders ALTER COLUMN id SET NOT NULL")
    spark.sql("UPDATE colonnade.shop.orders SET id = 5 WHERE twice = 4")
    got = spark.table("colonnade.shop.orders").orderBy("id").collect()
    assert [tuple(row) for row in got] == [(1, 2), (5, 10)], got

    python = F.udf(lambda _: sys.executable, "string")
    used = {row[0] for row in rows.select(python("id")).collect()}
    assert used == {sys.executable}, used


def main(folder: Path, *ways: str) -> None:
    """Walk each way in a folder of its own."""
    for number, way in enumerate(ways):
        place = folder / str(number)
        place.mkdir()
        os.chdir(place)
        builder = SparkSession.builder.config("spark.sql.shuffle.partitions", "2")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        if "COLONNADE_TEST_REMOTE" in os.environ:
            builder = builder.remote(os.environ["COLONNADE_TEST_REMOTE"])
        spark = WAYS[way](builder)
        try:
            walk(spark, place)
        finally:
            spark.stop()
        print(f"whole: {way}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
