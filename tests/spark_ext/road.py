"""The whole road once, for test_clusters.py: `python road.py MASTER FOLDER`.

A process of its own, because one process has one Spark. MASTER is that of a cluster, or `connect`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession

import colonnade


def session(master: str) -> SparkSession:
    """A session on `master`, small enough for two cores."""
    builder = SparkSession.builder.config("spark.sql.shuffle.partitions", "2")
    if master == "connect":
        return builder.remote("local[2]").getOrCreate()
    builder = builder.config("spark.ui.enabled", "false").config("spark.cores.max", "2")
    builder = builder.config("spark.executor.memory", "512m")
    return builder.master(master).getOrCreate()


def walk(spark: SparkSession, path: str) -> None:
    """Create, write, read at epochs, fail: every part of the source, on the table at `path`."""
    database = colonnade.Database.create(spark, "shop")
    orders = database.createTable("orders").addColumn("id", "long", nullable=False)
    table = orders.addColumn("name", "string").execute()

    def load(**options: str) -> DataFrame:
        return spark.read.format("colonnade").options(**options).load(path)

    rows = spark.range(1000).repartition(2).selectExpr("id", "cast(id AS string) AS name")
    append(rows, path)
    before = table.toDF()
    total = before.selectExpr("sum(id)", "count(name)").first()
    assert total == (499_500, 1000), total
    rows.where("id < 10").write.format("colonnade").mode("overwrite").save(path)
    assert load().count() == 10
    assert before.count() == load(epoch="2").count() == 1000
    assert load(where="id = 7").collect() == [(7, "7")]
    assert before.join(load(where="id > 5"), "id").count() == 4
    assert before.union(table.toDF()).count() == 1010

    fails(lambda: load(epoch="99").collect(), "NOT_FOUND")
    fails(lambda: append(spark.range(1), path), "INVALID_INPUT")
    null = spark.sql("SELECT CAST(NULL AS BIGINT) AS id, 'a' AS name")
    fails(lambda: append(null, path), "INVALID_INPUT")
    assert [row.version for row in table.history().collect()] == [3, 2, 1]
    assert table.detail().first()["numRows"] == 10  # type: ignore[index]
    assert table.toDF().count() == 10
    database.dropTable("orders")
    assert database.tables() == []


def append(frame: DataFrame, path: str) -> None:
    """Add rows to the table at `path`."""
    frame.write.format("colonnade").mode("append").save(path)


def fails(action: Callable[[], object], kind: str) -> None:
    """Requires an error of ours, as one sentence."""
    try:
        action()
    except Exception as error:
        if f"[COLONNADE_{kind}] " not in str(error) or "Traceback (most" in str(error):
            raise
    else:
        raise AssertionError("what cannot work was accepted")


def main(master: str, folder: str) -> None:
    """Walk by a relative path, except where there is nothing that it could be relative to."""
    os.chdir(folder)
    spark = session(master)
    try:
        if master == "connect":
            fails(lambda: append(spark.range(1), "lost"), "INVALID_INPUT")
            walk(spark, os.path.abspath("shop/orders"))
        else:
            walk(spark, "shop/orders")
        print("the whole road: ok")
    finally:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
