"""Executors of Spark as the place where jobs run: each is a Spark job of one task.

The log is read, and what jobs did is committed, where this code runs.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from colonnade.spark_ext.errors import one_sentence
from colonnade.tableformat.compaction.job import (
    CompactionJob,
    CompactionOutcome,
    CompactionPlace,
)
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.jobs import Stop, Workplace
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.verify.job import VerifyJob, VerifyOutcome, VerifyPlace
from colonnade.tableformat.verify.rowset_check import check_job

_CONNECT_JOBS = 8
"""Spark Connect does not tell how many cores there are."""


_DRIVER_BYTES = 32 * MIB
"""A group of RowSets with at most so many stored bytes is small."""


def verify_on_executors(spark: SparkSession) -> VerifyPlace:
    """Executors as the place where `verify` checks RowSets."""

    def run(job: VerifyJob, stop: Stop) -> VerifyOutcome:
        outcome = run_in_task(spark, _check_job, job.model_dump_json(), stop)
        return VerifyOutcome.model_validate_json(outcome)

    return Workplace(run, parallel_jobs(spark))


def compact_on_executors(spark: SparkSession) -> CompactionPlace:
    """Executors as the place of a compaction, and the driver for one small group at a time.

    Starting a task, and a Python worker for it, takes longer than a small group.
    """
    driver = Lock()

    def run(job: CompactionJob, stop: Stop) -> CompactionOutcome:
        if job.group.bytes_in <= _DRIVER_BYTES and driver.acquire(blocking=False):
            try:
                return run_job(job, stop=stop)
            finally:
                driver.release()
        outcome = run_in_task(spark, _compact, job.to_json(), stop)
        return CompactionOutcome.model_validate_json(outcome)

    return Workplace(run, parallel_jobs(spark))


def _check_job(job: str) -> str:
    return check_job(VerifyJob.model_validate_json(job)).model_dump_json()


def _compact(job: str) -> str:
    """Runs in a task. A task that Spark repeats writes RowSets of its own."""
    return run_job(CompactionJob.model_validate_json(job)).model_dump_json()


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
