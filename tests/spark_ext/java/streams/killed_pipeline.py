"""A Spark driver that carries three tables on: `python killed_pipeline.py FOLDER [end]`.

The streams read the tables `events` and `orders` of the database FOLDER/db. One appends the events
to `copied`, one updates their `counts` by key, and one merges the changes of `orders` into
`mirror`. They run until they are killed, or with `end` until they have everything.
"""

from __future__ import annotations

import sys
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import colonnade

VALUES = {"id": "s.id", "v": "s.v"}


def main(folder: str, *, ends: bool) -> None:
    """Start the streams, and wait for their end."""
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder.config("spark.driver.memory", "1g").config("spark.sql.shuffle.partitions", "1")
    builder.config("spark.sql.catalog.colonnade.warehouse", folder)
    spark = colonnade.configure(builder).getOrCreate()

    def started(stream: DataFrame, name: str) -> Any:
        writer = stream.writeStream.option("checkpointLocation", f"{folder}/checkpoints/{name}")
        return writer.trigger(availableNow=True) if ends else writer

    reader = spark.readStream.option("maxFilesPerTrigger", 10)
    events = reader.table("colonnade.db.events")
    copied = started(events, "copied").toTable("colonnade.db.copied")
    counts = events.groupBy("id").agg(F.count("*").alias("n"), F.sum("v").alias("v"))
    counted = started(counts, "counts").outputMode("update").toTable("colonnade.db.counts")

    reader = reader.option("readChangeFeed", "true")
    orders = reader.table("colonnade.db.orders")
    database = colonnade.Database.forPath(spark, f"{folder}/db")

    def merge(batch: DataFrame, number: int) -> None:
        merge_into(database, batch, number)

    merged = started(orders, "mirror").foreachBatch(merge).start()
    for query in (copied, counted, merged):
        query.awaitTermination()


def merge_into(database: colonnade.Database, batch: DataFrame, number: int) -> None:
    """Merge the last change of each order into `mirror`, once for each batch."""
    order = F.desc("_commit_version"), F.col("_change_type") == "delete"
    last = F.row_number().over(Window.partitionBy("id").orderBy(*order))
    changes = batch.where("_change_type <> 'update_preimage'").withColumn("place", last)
    settings = colonnade.CommitSettings(batch=("mirror", number))
    with database.transaction(settings) as tx:
        source = changes.where("place = 1").alias("s")
        merging = tx.table("mirror").alias("t").merge(source, "t.id = s.id")
        merging = merging.whenMatchedDelete("s._change_type = 'delete'")
        merging = merging.whenMatchedUpdate(set={"v": "s.v"})
        merging.whenNotMatchedInsert("s._change_type <> 'delete'", VALUES).execute()


if __name__ == "__main__":
    main(sys.argv[1], ends=sys.argv[2:] == ["end"])
