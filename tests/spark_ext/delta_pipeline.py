"""A pipeline as people write it for Delta Lake: `spark-submit delta_pipeline.py FOLDER WAY`.

Only the name of the format differs. WAY is a way of `whole.py` to get the session.
"""

from __future__ import annotations

import os
import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import colonnade
from tests.spark_ext.whole import WAYS


def run(spark: SparkSession) -> None:
    """Load, lay out anew, and keep up to date by a stream."""
    rows = spark.range(8).withColumn("day", F.expr("date_add(DATE '2026-01-01', int(id % 4))"))
    rows = rows.withColumn("region", F.expr("IF(id % 2 = 0, 'east', 'west')"))
    path = os.path.abspath("trips")

    # The first write, into a path that does not exist.
    rows.write.format("colonnade").mode("append").partitionBy("day").save(path)
    rows.write.format("colonnade").mode("overwrite").partitionBy("day").saveAsTable("trips")
    assert layout(spark, "trips") == ["day"]

    # Another layout and another column, as Delta's best practices do it.
    wider = spark.table("trips").withColumn("miles", F.lit(1.5))
    writer = wider.write.format("colonnade").mode("overwrite").option("overwriteSchema", "true")
    writer.partitionBy("region").saveAsTable("trips")
    assert layout(spark, "trips") == ["region"]
    assert spark.table("trips").columns == ["id", "day", "region", "miles"]

    # A column more, then a stream that merges into a table that was opened outside.
    more = rows.withColumn("miles", F.lit(0.5))
    more.write.format("colonnade").mode("append").option("mergeSchema", "true").save(path)
    target = colonnade.Table.forName(spark, "trips")

    def merge(batch: DataFrame, _: int) -> None:
        changed = target.alias("t").merge(batch.alias("s"), "t.id = s.id")
        changed.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    news = spark.range(6, 10).withColumn("day", F.expr("DATE '2026-02-01'"))
    news = news.withColumn("region", F.lit("north")).withColumn("miles", F.lit(9.5))
    incoming = os.path.abspath("incoming")
    news.write.parquet(incoming)
    stream = spark.readStream.schema(news.schema).parquet(incoming).writeStream
    query = stream.foreachBatch(merge).option("checkpointLocation", os.path.abspath("checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()
    found = dict(map(tuple, spark.table("trips").select("id", "miles").collect()))
    assert found == {**{n: 1.5 for n in range(6)}, **{n: 9.5 for n in range(6, 10)}}, found
    assert spark.read.format("colonnade").load(path).count() == 16


def layout(spark: SparkSession, table: str) -> list[str]:
    """The columns that a table is partitioned by."""
    [detail] = colonnade.Table.forName(spark, table).detail().collect()
    return [str(name) for name in detail["partitionColumns"]]


def main(folder: str, way: str) -> None:
    os.chdir(folder)
    spark = WAYS[way](SparkSession.builder.config("spark.sql.shuffle.partitions", "2"))
    run(spark)
    spark.stop()
    print(f"whole: {way}")


if __name__ == "__main__":
    main(*sys.argv[1:])
