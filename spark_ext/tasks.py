"""A job of ours as a Spark job of one task: text goes in, text comes out."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from colonnade.spark_ext.errors import one_sentence
from colonnade.tableformat.stop import Stop

_CONNECT_JOBS = 8
"""Spark Connect does not tell how many cores there are."""


def parallel_jobs(spark: SparkSession) -> int:
    """How many such jobs run beside each other: as many as there are cores."""
    if not hasattr(spark, "_jsc"):
        return _CONNECT_JOBS
    return max(1, spark.sparkContext.defaultParallelism)


def run_in_task(spark: SparkSession, work: Callable[[str], str], job: str, stop: Stop) -> str:
    """Do `work`, a function of a module, on one of the executors; may be called by several threads.

    A task that Spark repeats does it again; a stop cancels it. Raises Spark's error, with one
    sentence of ours, and CancelledError where the stop was before.
    """
    frame = spark.range(0, 1, 1, 1).mapInArrow(_Task(work, job), "outcome string")
    with _cancelled_by(stop, spark):
        outcome: str = frame.collect()[0]["outcome"]
    return outcome


@contextmanager
def _cancelled_by(stop: Stop, spark: SparkSession) -> Iterator[None]:
    """What this thread has Spark do in this block is cancelled once a stop is requested."""
    tag = f"colonnade-{secrets.token_hex(8)}"
    cancel: Callable[[str], object]
    if hasattr(spark, "_jsc"):
        # The session's own tags are known to the thread alone that adds them.
        context = spark.sparkContext
        add, remove, cancel = context.addJobTag, context.removeJobTag, context.cancelJobsWithTag
    else:
        add, remove, cancel = spark.addTag, spark.removeTag, spark.interruptTag
    add(tag)
    try:
        with stop.telling(lambda: cancel(tag)):
            yield
    finally:
        remove(tag)


class _Task:
    """Does the work in a Python worker."""

    def __init__(self, work: Callable[[str], str], job: str) -> None:
        self._work = work
        self._job = job

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Any]:
        for _ in batches:
            with one_sentence():
                outcome = self._work(self._job)
            yield pa.RecordBatch.from_pydict({"outcome": [outcome]})
