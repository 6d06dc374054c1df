"""Bronze, silver and gold as streams of Spark, in a driver that is killed all the time.

Files of events arrive in a folder: a customer moved to a city. Bronze has the events. Silver has
the history of each customer, one row for each stay (a slowly changing dimension of type 2). Gold
counts the customers of each city. Each layer is a stream that reads the layer before it, up to the
newest epoch, and ends. So a schedule runs all three again and again. A run may die at any point,
and each event counts once.

Run it with `.venv/bin/python examples/medallion_streams.py`. `medallion.py` does the same without
Spark.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as sf
from pyspark.sql.streaming.readwriter import DataStreamWriter

import colonnade
from colonnade import ArrowDatabase

EVENTS = pa.schema([("number", pa.int64()), ("customer", pa.int64()), ("city", pa.string())])
STAYS = pa.schema(
    [
        pa.field("customer", pa.int64(), nullable=False),
        pa.field("begin", pa.int64(), nullable=False),
        ("end", pa.int64()),
        ("city", pa.string()),
    ]
)
CITIES = pa.schema([pa.field("city", pa.string(), nullable=False), ("customers", pa.int64())])

ROWS, CUSTOMERS = 20, 30
PLACES = ("Bern", "Lyon", "Oslo", "Rome")


def create(lake: Path) -> ArrowDatabase:
    """Create the three tables, and the folder where files arrive."""
    database = colonnade.create_database(lake / "tables")
    database.create_table("bronze", EVENTS)
    database.create_table("silver", STAYS, primary_key=["customer", "begin"])
    counts = {"merge.customers": "add"}
    database.create_table("gold", CITIES, primary_key=["city"], properties=counts)
    (lake / "incoming").mkdir()
    return database


def run(lake: str) -> None:
    """Bring all layers up to the files that are there. Each batch of a layer lands once."""
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("Colonnade's medallion pipeline")
        .config("spark.driver.memory", "1g")
        .config("spark.log.level", "ERROR")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "1")
    )
    spark = colonnade.configure(builder).getOrCreate()
    tables = f"{lake}/tables"

    def end(stream: DataFrame, layer: str) -> DataStreamWriter:
        print(layer, flush=True)
        writer = stream.writeStream.format("colonnade").trigger(availableNow=True)
        return writer.option("checkpointLocation", f"{lake}/checkpoints/{layer}")

    incoming = spark.readStream.schema("number LONG, customer LONG, city STRING")
    events = incoming.parquet(f"{lake}/incoming")
    end(events, "bronze").start(f"{tables}/bronze").awaitTermination()

    bronze = spark.readStream.format("colonnade").load(f"{tables}/bronze")
    database = colonnade.Database.forPath(spark, tables)
    refine = partial(refined, database)
    end(bronze, "silver").foreachBatch(refine).start().awaitTermination()

    changes = spark.readStream.format("colonnade").option("readChangeFeed", "true")
    stays = changes.load(f"{tables}/silver").where("end IS NULL")
    here = sf.col("_change_type").isin("insert", "update_postimage")
    moved = stays.select("city", sf.when(here, 1).otherwise(-1).alias("customers"))
    writer = end(moved, "gold").outputMode("update")  # adds, as the table says: merge.customers
    writer.start(f"{tables}/gold").awaitTermination()
    spark.stop()


def refined(database: colonnade.Database, events: DataFrame, batch: int) -> None:
    """Add a batch of events to silver. Each event ends a stay of its customer and begins one."""
    with database.transaction(colonnade.CommitSettings(batch=("silver", batch))) as tx:
        silver = tx.table("silver")
        moves = events.groupBy("customer").agg(sf.min("number").alias("end"))
        ended = silver.toDF().where("end IS NULL").drop("end").join(moves, "customer")
        next_move = sf.lead("number").over(Window.partitionBy("customer").orderBy("number"))
        begun = events.withColumn("end", next_move).withColumnRenamed("number", "begin")
        silver.upsert(ended.unionByName(begun))


def arrive(lake: Path, file: int, order: random.Random, where: dict[int, str]) -> None:
    """Add a file of events, which a dictionary sees, too."""
    rows = []
    for number in range(file * ROWS, (file + 1) * ROWS):
        customer, city = order.randrange(CUSTOMERS), order.choice(PLACES)
        where[customer] = city
        rows.append({"number": number, "customer": customer, "city": city})
    half = lake / "half.parquet"
    pq.write_table(pa.Table.from_pylist(rows, EVENTS), half)
    half.rename(lake / "incoming" / f"{file}.parquet")


def main(kills: int) -> None:
    """Run the pipeline while files arrive, kill some runs, and compare gold with a dictionary."""
    order, where, files = random.Random(kills), dict[int, str](), 0
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder)
        database = create(lake)
        for left in range(kills, -1, -1):
            for _ in range(3):
                arrive(lake, files, order, where)
                files += 1
            command = [sys.executable, __file__, folder]
            driver = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
            assert driver.stdout is not None
            for _ in range(order.randint(1, 3) if left else 4):
                driver.stdout.readline()  # the name of the layer that begins
            if left:
                time.sleep(order.uniform(0, 2))
                os.killpg(driver.pid, signal.SIGKILL)
            assert left or driver.wait() == 0, "The last run has failed."
            driver.wait()
        found = {row["city"]: row["customers"] for row in database.refresh()["gold"].to_pylist()}
        expected = Counter(where.values())
        assert {city: each for city, each in found.items() if each} == expected, (found, expected)
        stays, events = database["silver"].count(), files * ROWS
        assert stays == events, f"{events} events made {stays} stays"
        print(f"{events} events, {kills} kills: each counts once. {dict(sorted(expected.items()))}")


if __name__ == "__main__":
    if len(sys.argv) == 2 and not sys.argv[1].isdigit():
        run(sys.argv[1])
    else:
        main(int(sys.argv[1]) if len(sys.argv) == 2 else 3)
