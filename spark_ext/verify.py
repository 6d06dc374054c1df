"""Looking for damage by Spark's executors: each job is a Spark job of one task."""

from __future__ import annotations

from pyspark.sql import SparkSession

from colonnade.spark_ext.tasks import parallel_jobs, run_in_task
from colonnade.tableformat.stop import Stop
from colonnade.tableformat.verify.job import VerifyJob, VerifyOutcome
from colonnade.tableformat.verify.rowset_check import check_job
from colonnade.tableformat.verify.run import Elsewhere


def on_executors(spark: SparkSession) -> Elsewhere:
    """Where `verify` looks at RowSets: in tasks of a session, as many at once as it has cores."""

    def run(job: VerifyJob, stop: Stop) -> VerifyOutcome:
        outcome = run_in_task(spark, _check_job, job.model_dump_json(), stop)
        return VerifyOutcome.model_validate_json(outcome)

    return Elsewhere(run, parallel_jobs(spark))


def _check_job(job: str) -> str:
    return check_job(VerifyJob.model_validate_json(job)).model_dump_json()
