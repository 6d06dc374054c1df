"""Writes whose first task Spark attempts twice, for test_clusters.py.

`python speculation.py MASTER PATH EVENTS`: appends ROWS rows each time; first the copy of the task
wins, then the original, then nothing is slow. Spark logs to the folder EVENTS what it did.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql.functions import rand

TASKS = 4
TASK_FILES = 5
FILE_ROWS = 20_000
ROWS = TASKS * TASK_FILES * FILE_ROWS
SURE_FILES = TASK_FILES - 1
"""What a task has written that sent all its rows but not their end: some are in buffers."""

SCHEMA = "id long, attempt int"

Batches = Iterator[pa.RecordBatch]


def session(master: str, events: str) -> SparkSession:
    """A session with speculation: Spark soon copies a task that is slower than the rest."""
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    builder = builder.config("spark.cores.max", "2").config("spark.executor.memory", "512m")
    builder = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
    builder = builder.config("spark.task.maxFailures", "1")
    builder = builder.config("spark.speculation", "true").config("spark.speculation.quantile", 0.75)
    builder = builder.config("spark.speculation.interval", "100ms")
    builder = builder.config("spark.speculation.efficiency.enabled", "false")
    builder = builder.config("spark.eventLog.enabled", "true").config("spark.eventLog.dir", events)
    builder = builder.config("spark.eventLog.rolling.enabled", "false")
    return builder.config("spark.eventLog.compress", "false").getOrCreate()


def race(path: str, winner: int) -> Callable[[Batches], Batches]:
    """Of the first task only attempt `winner` ends, and not before both have written files."""
    earlier = files_of(path)
    count = (TASKS - 1) * TASK_FILES + 2 * SURE_FILES

    def both_wrote() -> bool:
        return len(files_of(path) - earlier) >= count

    def run(batches: Batches) -> Batches:
        task = TaskContext.get()
        assert task is not None
        attempt = task.attemptNumber()
        yield from with_attempt(batches, attempt)
        deadline = time.monotonic() + 90
        while task.partitionId() == 0 and not (attempt == winner and both_wrote()):
            assert time.monotonic() < deadline, "the other attempt did not write, or did not end"
            time.sleep(0.05)

    return run


def files_of(path: str) -> set[Path]:
    """The RowSets that are there, visible or not."""
    return set(Path(path).glob("*/*.rowset"))


def with_attempt(batches: Batches, attempt: int = 0) -> Batches:
    """The rows, each with the attempt that made it."""
    for batch in batches:
        attempts = pa.repeat(pa.scalar(attempt, pa.int32()), batch.num_rows)
        yield pa.record_batch({"id": batch["id"], "attempt": attempts})


def append(spark: SparkSession, path: str, turn: int, run: Callable[[Batches], Batches]) -> None:
    """Add the rows of one turn, made by `run`."""
    rows = spark.range(turn * ROWS, (turn + 1) * ROWS, 1, TASKS).mapInArrow(run, SCHEMA)
    write = rows.withColumn("noise", rand()).write.format("colonnade")
    write.option("maxRecordsPerFile", FILE_ROWS).mode("append").save(path)


def main(master: str, path: str, events: str) -> None:
    """Make three appends; the first creates the table."""
    spark = session(master, events)
    try:
        append(spark, path, 0, race(path, winner=1))
        append(spark, path, 1, race(path, winner=0))
        append(spark, path, 2, with_attempt)
    finally:
        spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
