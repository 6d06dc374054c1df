"""The whole road once, for test_clusters.py: `python road.py MASTER FOLDER`.

First with the source in Python, then, in the same session, with the jar. A process of its own,
because one process has one Spark. MASTER is that of a cluster, or `connect`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession

import colonnade
from tests.spark_ext.statements import REFUSAL, REFUSED, ROAD, line


def session(master: str) -> SparkSession:
    """A session on `master`, small enough for two cores."""
    builder = SparkSession.builder.config("spark.sql.shuffle.partitions", "2")
    for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(name, "false")
    builder = builder.config(
        "spark.sql.ui.explainMode", "simple"
    )  # takes time, and nobody reads it
    if master == "connect":
        # On a cluster, workers import the source themselves; here that would be most of the time.
        builder = builder.config("spark.python.daemon.module", "tests.spark_ext.preloaded_daemon")
        return builder.remote("local[2]").getOrCreate()
    builder = builder.config("spark.cores.max", "2")
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

    fails(lambda: load(epoch="99").collect(), "[COLONNADE_NOT_FOUND] ")
    fails(lambda: append(spark.range(1).toDF("unknown"), path), "[COLONNADE_INVALID_INPUT] ")
    null = spark.sql("SELECT CAST(NULL AS BIGINT) AS id, 'a' AS name")
    fails(lambda: append(null, path), "[COLONNADE_INVALID_INPUT] ")
    assert [row.version for row in table.history().collect()] == [3, 2, 1]
    assert table.detail().first()["numRows"] == 10  # type: ignore[index]
    assert table.toDF().count() == 10
    database.dropTable("orders")
    assert database.tables() == []


def walk_with_the_jar(spark: SparkSession, folder: str) -> None:
    """Run the Spark source in `folder`: statements, then every way to save a frame."""
    colonnade.enable(spark)
    spark.conf.set("spark.sql.catalog.colonnade.warehouse", f"{folder}/warehouse")
    for statement, expected in ROAD:
        found = tuple(map(line, spark.sql(statement).collect()))
        assert found == expected, (statement, found)
    fails(lambda: spark.sql(REFUSED).collect(), REFUSAL)

    path = f"{folder}/frames"
    rows = spark.range(100).repartition(2).selectExpr("id", "CAST(id AS STRING) AS name")
    rows.write.format("colonnade").save(path)
    fails(lambda: rows.write.format("colonnade").save(path), "ALREADY_EXISTS")
    append(rows.where("id < 10"), path)
    first = rows.limit(2).write.format("colonnade").mode("append").partitionBy("name")
    for _ in range(2):
        first.save(f"{folder}/first")
    assert colonnade.open(f"{folder}/first").partitioning == ("name",)
    assert spark.read.format("colonnade").load(f"{folder}/first").count() == 4
    rows.limit(3).write.format("colonnade").mode("overwrite").save(path)
    read = spark.read.format("colonnade")
    assert [read.load(path).count(), read.option("epoch", 2).load(path).count()] == [3, 110]
    null = spark.sql("SELECT CAST(unhex('fffe') AS STRING) AS name, 1L AS id")
    fails(lambda: append(null, path), "[COLONNADE_INVALID_INPUT] Column 'name' has an invalid")
    rows.writeTo("colonnade.shop.frames").create()
    rows.writeTo("colonnade.shop.frames").append()
    assert spark.table("colonnade.shop.frames").groupBy("id").count().count() == 100
    rows.write.saveAsTable("colonnade.shop.saved")
    rows.write.format("colonnade").saveAsTable("named")
    assert spark.table("named").count() == 100
    with colonnade.Database.forPath(spark, f"{folder}/warehouse/shop").transaction() as tx:
        tx.table("saved").delete("id < 50")
        rows.writeTo("colonnade.shop.frames").append()
    identity = "id BIGINT GENERATED ALWAYS AS IDENTITY"
    spark.sql(f"CREATE TABLE colonnade.shop.numbered ({identity}, name STRING)")
    for _ in range(2):
        rows.select("name").writeTo("colonnade.shop.numbered").append()
    numbered = spark.table("colonnade.shop.numbered")
    assert numbered.select("id").distinct().count() == numbered.count() == 200
    names = ("colonnade.shop.saved", "colonnade.shop.frames")
    assert [spark.table(name).count() for name in names] == [50, 300]
    ids = rows.select("id")
    overwrite = ids.write.mode("overwrite")
    fails(lambda: overwrite.saveAsTable("colonnade.shop.saved"), "overwriteSchema")
    ids.writeTo("colonnade.shop.saved").createOrReplace()
    assert spark.table("colonnade.shop.saved").columns == ["id"]
    orc = "CREATE TABLE colonnade.shop.other USING orc AS SELECT 1 AS a"
    fails(lambda: spark.sql(orc).collect(), "only Colonnade tables")


def append(frame: DataFrame, path: str) -> None:
    """Add rows to the table at `path`."""
    frame.write.format("colonnade").mode("append").save(path)


def fails(action: Callable[[], object], part: str) -> None:
    """Requires an error with `part` in what it says, and without a traceback of Python's."""
    try:
        action()
    except Exception as error:
        if part not in str(error) or "Traceback (most" in str(error):
            raise
    else:
        raise AssertionError("what cannot work was accepted")


def main(master: str, folder: str) -> None:
    """Walk by a relative path, except where there is nothing that it could be relative to."""
    os.chdir(folder)
    spark = session(master)
    try:
        if master == "connect":
            fails(lambda: append(spark.range(1), "lost"), "[COLONNADE_INVALID_INPUT] ")
            walk(spark, os.path.abspath("shop/orders"))
        else:
            walk(spark, "shop/orders")
        walk_with_the_jar(spark, folder)
        print("the whole road: ok")
    finally:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
