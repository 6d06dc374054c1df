"""The whole road once, for test_clusters.py: `python road.py MASTER FOLDER`.

A process of its own, because one process has one Spark. MASTER is that of a cluster, or `connect`.
"""

from __future__ import annotations

import os
import sys

from pyspark.sql import DataFrame, SparkSession

import colonnade


def session(master: str) -> SparkSession:
    """A session on `master`, small enough for two cores."""
    builder = SparkSession.builder.config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2")
    if master == "connect":
        return builder.remote("local[2]").getOrCreate()
    builder = builder.config("spark.executor.memory", "512m").config("spark.cores.max", "2")
    return builder.master(master).getOrCreate()


def walk(spark: SparkSession) -> None:
    """Create, write, read at epochs, fail: every part of the source, from a relative path."""
    database = colonnade.Database.create(spark, "shop")
    orders = database.createTable("orders").addColumn("id", "long", nullable=False)
    table = orders.addColumn("name", "string").execute()

    def load(**options: str) -> DataFrame:
        return spark.read.format("colonnade").options(**options).load("shop/orders")

    rows = spark.range(1000).repartition(4).selectExpr("id", "cast(id AS string) AS name")
    rows.write.format("colonnade").mode("append").save("shop/orders")
    before = load()
    assert before.selectExpr("sum(id)", "count(name)").first() == (499_500, 1000)
    rows.where("id < 10").write.format("colonnade").mode("overwrite").save("shop/orders")
    assert load().count() == 10
    assert before.count() == load(epoch="2").count() == 1000
    assert load(where="id = 7").collect() == [(7, "7")]
    assert before.join(load(where="id > 5"), "id").count() == 4

    for fails in (
        lambda: load(epoch="99").collect(),
        lambda: spark.range(1).write.format("colonnade").mode("append").save("shop/orders"),
        lambda: (
            spark.sql("SELECT CAST(NULL AS BIGINT) AS id, 'a' AS name")
            .write.format("colonnade")
            .mode("append")
            .save("shop/orders")
        ),
    ):
        try:
            fails()
        except Exception as error:
            assert "[COLONNADE_" in str(error), error
            assert "Traceback (most recent call last)" not in str(error), error
        else:
            raise AssertionError("what cannot work was accepted")
    assert [row.version for row in table.history().collect()] == [3, 2, 1]
    assert table.detail().first()["numRows"] == 10  # type: ignore[index]
    assert table.toDF().count() == 10
    database.dropTable("orders")
    assert database.tables() == []


if __name__ == "__main__":
    os.chdir(sys.argv[2])
    spark_session = session(sys.argv[1])
    try:
        walk(spark_session)
        print("the whole road: ok")
    finally:
        spark_session.stop()
