"""Looking for damage by Spark's executors: each job is a Spark job of one task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from spark_ext.errors import one_sentence
from spark_ext.optimize import parallel_jobs
from tableformat.verify.job import VerifyJob, VerifyOutcome
from tableformat.verify.rowset_check import check_job
from tableformat.verify.run import Elsewhere


def on_executors(spark: SparkSession) -> Elsewhere:
    """Where `verify` looks at RowSets: in tasks of a session, as many at once as it has cores."""

    def run(job: VerifyJob) -> VerifyOutcome:
        task = _Task(job.model_dump_json())
        [row] = spark.range(0, 1, 1, 1).mapInArrow(task, "outcome string").collect()
        return VerifyOutcome.model_validate_json(row["outcome"])

    return Elsewhere(run, parallel_jobs(spark))


class _Task:
    """Does a job in a Python worker."""

    def __init__(self, job: str) -> None:
        self._job = job

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Any]:
        for _ in batches:
            with one_sentence():
                outcome = check_job(VerifyJob.model_validate_json(self._job))
            yield pa.RecordBatch.from_pydict({"outcome": [outcome.model_dump_json()]})
