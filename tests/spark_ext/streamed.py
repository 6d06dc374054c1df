"""A Spark driver that writes a stream into a bucket: `python streamed.py FOLDER URL ENDPOINT`.

Each file of FOLDER/incoming is a batch. The driver asks to be killed by making the file
FOLDER/kill-<batch>: for batches of DURING at some moment of the write, and for those of AFTER when
the batch is committed and Spark does not know that yet. It asks once for each batch.
"""

from __future__ import annotations

import random
import signal
import sys
import threading
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import colonnade
from tests.setup import hadoop_aws
from tests.setup.minio import KEY, SECRET

AFTER, DURING = (1, 4), (2, 5)


def main() -> None:
    """Write all batches that the checkpoint does not know."""
    folder, url, endpoint = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.jars": ",".join(hadoop_aws.jars()),
        "spark.hadoop.fs.s3a.endpoint": endpoint,
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.access.key": KEY,
        "spark.hadoop.fs.s3a.secret.key": SECRET,
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder.config(name, value)
    spark = colonnade.configure(builder).getOrCreate()

    def write(batch: DataFrame, number: int) -> None:
        kill = folder / f"kill-{number}"
        asks = not kill.exists()
        if asks and number in DURING:
            threading.Timer(random.uniform(0, 1.5), kill.touch).start()
        saved = batch.write.format("colonnade").mode("append").option("txnAppId", "stream")
        saved.option("txnVersion", number).save(url)
        if asks and number in AFTER:
            kill.touch()
            while True:
                signal.pause()

    rows = spark.readStream.schema("id BIGINT, text STRING").option("maxFilesPerTrigger", 1)
    query = rows.parquet(str(folder / "incoming")).writeStream.foreachBatch(write)
    query = query.option("checkpointLocation", str(folder / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main()
