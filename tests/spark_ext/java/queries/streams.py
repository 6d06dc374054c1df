"""Streams of Spark that read a table, for a process that has Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyspark
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

HAS_CHANGES = pyspark.__version__ >= "4.2"
"""Whether this Spark has streams of `CHANGES`."""


def reader(spark: SparkSession, options: Mapping[str, str]) -> Any:
    return spark.readStream.format("colonnade").options(**options)


DOORS: dict[str, Callable[[SparkSession, str, Mapping[str, str]], DataFrame]] = {
    "path": lambda spark, path, options: reader(spark, options).load(path),
    "name": lambda spark, path, options: reader(spark, options).table(f"colonnade.`{path}`"),
    "SQL": lambda spark, path, options: spark.sql(
        f"SELECT * FROM STREAM colonnade.`{path}`{stated(options)}"
    ),
}
if HAS_CHANGES:
    DOORS["changes"] = lambda spark, path, options: (
        reader(spark, options).option("computeUpdates", True).changes(f"colonnade.`{path}`")
    )


def stated(options: Mapping[str, str]) -> str:
    texts = ", ".join(f"{name} = '{value}'" for name, value in options.items())
    return f" WITH ({texts})" if texts else ""


def rows_of(batch: DataFrame) -> list[list[Any]]:
    rows = (list(row) for row in batch.collect())
    return sorted(rows, key=lambda row: [(str(type(each)), each) for each in row[:1]])


def run(
    spark: SparkSession,
    path: str,
    checkpoint: str,
    options: Mapping[str, str] | None = None,
    door: str = "path",
    meanwhile: Callable[[int], Any] | None = None,
    **trigger: Any,
) -> list[list[Any]]:
    """Run a stream until it has read what is there. Return number and rows of each batch.

    `meanwhile` is called with the number of each batch, before the batch is done.
    """
    batches: list[list[Any]] = []

    def take(batch: DataFrame, number: int) -> None:
        batches.append([number, rows_of(batch)])
        if meanwhile is not None:
            meanwhile(number)

    frame = DOORS[door](spark, path, options or {})
    writer = frame.writeStream.foreachBatch(take).option("checkpointLocation", checkpoint)
    query = writer.trigger(**(trigger or {"availableNow": True})).start()
    query.awaitTermination()
    return batches


def failing(spark: SparkSession, path: str, checkpoint: str, **how: Any) -> list[list[Any]]:
    """Run a stream whose first batch fails after it was read. Return that batch."""
    batches: list[list[Any]] = []

    def fail(batch: DataFrame, number: int) -> None:
        batches.append([number, rows_of(batch)])
        raise RuntimeError("this batch fails")

    frame = DOORS["path"](spark, path, how)
    writer = frame.writeStream.foreachBatch(fail).option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).start()
    try:
        query.awaitTermination()
    except StreamingQueryException as error:
        if "this batch fails" not in str(error):
            raise
    return batches


def progress(spark: SparkSession, path: str, checkpoint: str, **how: Any) -> list[Any]:
    """Run a stream, and return what its progress says of its source after each batch."""
    frame = DOORS["path"](spark, path, how)
    writer = frame.writeStream.format("noop").option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return [
        [each.numInputRows, dict(each.sources[0].metrics), each.sources[0].description]
        for each in query.recentProgress
    ]
