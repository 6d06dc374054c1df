"""Statements of several sessions' threads while a table is compacted; runs where Spark does."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from pyspark.sql import SparkSession

import colonnade

_THREADS = 4


def run_beside_compactions(spark: SparkSession, path: str, statements: Sequence[str]) -> list[str]:
    """Send statements, four at a time, while the table at `path` is compacted over and over.

    Returns what the statements that failed failed with. Raises whatever a compaction does.
    """
    with ThreadPoolExecutor(_THREADS + 1) as pool:
        sent = [pool.submit(_send, spark, text) for text in statements]
        compacted = pool.submit(_compact_until_done, spark, path, sent)
        wait(sent)
        compacted.result()
    return [str(each.exception()) for each in sent if each.exception() is not None]


def _send(spark: SparkSession, statement: str) -> None:
    spark.sql(statement).collect()


def _compact_until_done(spark: SparkSession, path: str, sent: Sequence[Future[None]]) -> None:
    optimize = colonnade.Table.forPath(spark, path).optimize()
    eager = optimize.option("min-rowsets", 2).option("deleted-share", 0)
    while not all(each.done() for each in sent):
        eager.executeCompaction()
