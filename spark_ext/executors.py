"""Run Colonnade's jobs on Spark's executors. No other module starts tasks.

The process that runs this code reads the log before the jobs, and commits their results.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

import pyarrow as pa
from pyspark.sql import SparkSession

from colonnade.manifests.store import StoreAddress
from colonnade.spark_ext.errors import one_sentence
from colonnade.tableformat.compaction.job import (
    CompactionJob,
    CompactionOutcome,
    CompactionRunner,
)
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.jobs import JobRunner, Stop
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.verify.job import VerifyJob, VerifyOutcome, VerifyRunner
from colonnade.tableformat.verify.rowset_check import check_job

_CONNECT_JOBS = 8
"""Jobs that run at the same time on Spark Connect, which does not report the number of cores."""


DRIVER_BYTES = 32 * MIB
"""The driver may compact a group of RowSets with at most this many stored bytes."""


def verify_on_executors(spark: SparkSession) -> VerifyRunner:
    """Return a runner that has executors check RowSets for `verify`."""

    def run(job: VerifyJob, stop: Stop) -> VerifyOutcome:
        outcome = run_in_task(spark, _check_job, job.model_dump_json(), stop, job.address)
        return VerifyOutcome.model_validate_json(outcome)

    return JobRunner(run, parallel_jobs(spark))


def compact_on_executors(spark: SparkSession) -> CompactionRunner:
    """Return a runner that compacts groups on executors, and one small group at a time here.

    Starting a task and its Python worker takes longer than compacting a small group.
    """
    driver = Lock()

    def run(job: CompactionJob, stop: Stop) -> CompactionOutcome:
        if job.group.bytes_in <= DRIVER_BYTES and driver.acquire(blocking=False):
            try:
                return run_job(job, stop=stop)
            finally:
                driver.release()
        outcome = run_in_task(spark, _compact, job.to_json(), stop, job.address)
        return CompactionOutcome.model_validate_json(outcome)

    return JobRunner(run, parallel_jobs(spark))


def _check_job(job: str) -> str:
    return check_job(VerifyJob.model_validate_json(job)).model_dump_json()


def _compact(job: str) -> str:
    """Compact one group in a task; a task that Spark repeats writes its own new RowSets."""
    return run_job(CompactionJob.model_validate_json(job)).model_dump_json()


def parallel_jobs(spark: SparkSession) -> int:
    """Return how many jobs to run at the same time: the number of cores, where Spark tells it."""
    if not hasattr(spark, "_jsc"):
        return _CONNECT_JOBS
    return max(1, spark.sparkContext.defaultParallelism)


def run_in_task(
    spark: SparkSession,
    work: Callable[[str], str],
    job: str,
    stop: Stop,
    address: StoreAddress | None = None,
) -> str:
    """Run `work(job)` on an executor and return its result; several threads may call this.

    `work` must be a function of a module, since Spark sends it by name. If Spark repeats the task,
    the work runs again. A stop cancels it. The executor learns the storage options of `address`,
    which the job names. Raises Spark's error, which contains the sentence of a
    ColonnadeError, and CancelledError if the stop was requested before.
    """
    rows = spark.range(0, 1, 1, 1)  # a task needs a row
    with _cancelled_by(stop, spark):
        done = rows.mapInArrow(_Task(work, job, address), "outcome string").collect()
    return str(done[0]["outcome"])


@contextmanager
def _cancelled_by(stop: Stop, spark: SparkSession) -> Iterator[None]:
    """Cancel the Spark jobs that this thread starts in the block once a stop is requested."""
    tag = f"colonnade-{secrets.token_hex(8)}"
    cancel: Callable[[str], object]
    if hasattr(spark, "_jsc"):
        # Only the thread that adds a session tag can cancel by it, so the context's tags are used.
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
    """Runs the work in a Python worker. The pickled address takes the storage options along."""

    def __init__(self, work: Callable[[str], str], job: str, address: StoreAddress | None) -> None:
        self._address = address
        self._work = work
        self._job = job

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        with one_sentence():
            outcome = self._work(self._job)
        yield pa.RecordBatch.from_pydict({"outcome": [outcome]})
