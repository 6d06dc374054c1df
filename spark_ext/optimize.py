"""`Table.optimize()`: groups of RowSets rewritten by Spark's executors.

Each group is a job on an executor (`executors.py`). The log is read where this code runs. This code
also commits each group as soon as its job is done.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from colonnade.spark_ext.executors import compact_on_executors
from colonnade.tableformat.compaction.execute import CompactionReport
from colonnade.tableformat.compaction.optimize import Optimize
from colonnade.tableformat.predicate import Where
from colonnade.tableformat.table.table import ArrowTable

REPORT_SCHEMA = (
    "path string, metrics struct<numFilesAdded: long, numFilesRemoved: long, numGroups: long,"
    " numGroupsWaiting: long, numDroppedRows: long, numBytesRead: long, numBytesCopied: long,"
    " numBytesAdded: long, conflicts: array<string>, seconds: double, epoch: long>"
)
"""What `execute…` returns: one row, by the names that Delta's OPTIMIZE has where it has one."""


class OptimizeBuilder:
    """A compaction that is being described; nothing is written before `execute…`."""

    def __init__(self, spark: SparkSession, path: str, optimize: Optimize) -> None:
        self._spark = spark
        self._path = path
        self._optimize = optimize

    @classmethod
    def begin(cls, spark: SparkSession, table: ArrowTable) -> OptimizeBuilder:
        """Describe a compaction of a table, as its properties ask for it."""
        return cls(spark, table.path, table.optimize().elsewhere(compact_on_executors(spark)))

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
