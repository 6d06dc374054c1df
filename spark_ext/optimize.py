"""`Table.optimize()`: groups of RowSets rewritten by Spark's executors.

Each group is a Spark job of one task, several beside each other; the log is read and each group
committed where this code runs, as soon as its job is done. One small group at a time runs here,
too: starting a task, and a Python worker for it, would take longer.
"""

from __future__ import annotations

from threading import Lock

from pyspark.sql import DataFrame, SparkSession

from colonnade.spark_ext.tasks import parallel_jobs, run_in_task
from colonnade.tableformat.compaction.execute import CompactionReport, Run
from colonnade.tableformat.compaction.job import CompactionJob, CompactionOutcome
from colonnade.tableformat.compaction.optimize import Optimize
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.predicate import Where
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.stop import Stop
from colonnade.tableformat.table.table import ArrowTable

REPORT_SCHEMA = (
    "path string, metrics struct<numFilesAdded: long, numFilesRemoved: long, numGroups: long,"
    " numGroupsWaiting: long, numDroppedRows: long, numBytesRead: long, numBytesCopied: long,"
    " numBytesAdded: long, conflicts: array<string>, seconds: double, epoch: long>"
)
"""What `execute…` returns: one row, by the names that Delta's OPTIMIZE has where it has one."""

DRIVER_BYTES = 32 * MIB
"""A group with at most so many stored bytes is small."""


class OptimizeBuilder:
    """A compaction that is being described; nothing is written before `execute…`."""

    def __init__(self, spark: SparkSession, path: str, optimize: Optimize) -> None:
        self._spark = spark
        self._path = path
        self._optimize = optimize

    @classmethod
    def begin(cls, spark: SparkSession, table: ArrowTable) -> OptimizeBuilder:
        """Describe a compaction of a table, as its properties ask for it."""
        return cls(
            spark, table.path, table.optimize().elsewhere(job_runner(spark), parallel_jobs(spark))
        )

    def where(self, partitionFilter: Where) -> OptimizeBuilder:
        """Only RowSets that may hold rows for which a condition is true; several add up.

        The condition may be about any column; RowSets are chosen by their statistics.
        """
        return OptimizeBuilder(self._spark, self._path, self._optimize.where(partitionFilter))

    def option(self, name: str, value: str | float) -> OptimizeBuilder:
        """Set a property of the policy, such as `deleted-share`, for this run alone."""
        return OptimizeBuilder(self._spark, self._path, self._optimize.option(name, value))

    def executeCompaction(self) -> DataFrame:
        """Merge small RowSets and those that overlap, and leave out deleted rows, by the policy.

        Never makes another writer fail. Raises what `tableformat`'s `Optimize` does, and Spark's
        error for what went wrong in a task.
        """
        return self._frame(self._optimize.executeCompaction())

    def executeZOrderBy(self, *cols: str | list[str] | tuple[str, ...]) -> DataFrame:
        """Rewrite all RowSets so that rows that are near in several columns are near.

        Raises as `executeCompaction`; InvalidInputError for a table with a sort key.
        """
        return self._frame(self._optimize.executeZOrderBy(*cols))

    def _frame(self, report: CompactionReport) -> DataFrame:
        metrics = (
            report.rowsets_added,
            report.rowsets_removed,
            report.groups,
            report.groups_waiting,
            report.rows_dropped,
            report.bytes_read,
            report.bytes_copied,
            report.bytes_written,
            list(report.conflicts),
            report.seconds,
            report.epoch,
        )
        return self._spark.createDataFrame([(self._path, metrics)], REPORT_SCHEMA)


def job_runner(spark: SparkSession) -> Run:
    """Runs a group as a Spark job of one task, or here."""
    here = Lock()

    def run(job: CompactionJob, stop: Stop) -> CompactionOutcome:
        if job.group.bytes_in <= DRIVER_BYTES and here.acquire(blocking=False):
            try:
                return run_job(job, stop=stop)
            finally:
                here.release()
        outcome = run_in_task(spark, _run_job, job.to_json(), stop)
        return CompactionOutcome.model_validate_json(outcome)

    return run


def _run_job(job: str) -> str:
    """In a task; one that Spark repeats writes RowSets of its own."""
    return run_job(CompactionJob.model_validate_json(job)).model_dump_json()
