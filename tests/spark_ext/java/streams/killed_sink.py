"""A Spark driver that writes two streams: `python killed_sink.py FOLDER`.

Each file of FOLDER/in is a batch. One stream appends to the table FOLDER/rows by its path, and the
other one updates the table `sums` of the warehouse FOLDER/lake by its name.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import colonnade


def main() -> None:
    """Write all batches that the checkpoints do not know."""
    folder = sys.argv[1]
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder.config("spark.sql.shuffle.partitions", "1")
    builder.config("spark.sql.catalog.colonnade.warehouse", f"{folder}/lake")
    spark = colonnade.configure(builder).getOrCreate()
    reader = spark.readStream.schema("id BIGINT").option("maxFilesPerTrigger", 1)
    rows = reader.parquet(f"{folder}/in")
    sums = rows.groupBy((F.col("id") % 3).alias("k")).agg(F.sum("id").alias("n"))
    writer = rows.writeStream.format("colonnade").trigger(availableNow=True)
    first = writer.option("checkpointLocation", f"{folder}/one").start(f"{folder}/rows")
    writer = sums.writeStream.outputMode("update").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", f"{folder}/two")
    second = writer.toTable("colonnade.default.sums")
    first.awaitTermination()
    second.awaitTermination()


if __name__ == "__main__":
    main()
