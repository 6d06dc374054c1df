"""`Table.optimize()`: compact a table on Spark's executors.

Each group of RowSets is a job on an executor (`executors.py`). The process that runs this code
reads the log, and commits each group as soon as its job is done.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from colonnade.manifests.public import public
from colonnade.spark_ext.answer_rows import OPTIMIZE_SCHEMA, optimize_row
from colonnade.spark_ext.executors import compact_on_executors
from colonnade.tableformat.compaction.execute import CompactionReport
from colonnade.tableformat.compaction.optimize import Optimize
from colonnade.tableformat.predicate import Where


@public
class OptimizeBuilder:
    """Describes a compaction; nothing is written before `execute…`. Methods can be chained."""

    def __init__(self, spark: SparkSession, path: str, optimize: Optimize) -> None:
        """Run `optimize`, a compaction of the table at `path`, on the executors of a session."""
        self._spark = spark
        self._path = path
        self._optimize = optimize._elsewhere(compact_on_executors(spark))

    def where(self, partitionFilter: Where) -> OptimizeBuilder:
        """Compact only RowSets that may hold rows where the condition is true.

        Several conditions must all hold. A condition may use any column; RowSets are chosen by
        their statistics.
        """
        return OptimizeBuilder(self._spark, self._path, self._optimize.where(partitionFilter))

    def option(self, name: str, value: str | float) -> OptimizeBuilder:
        """Set a property of the policy, such as `deleted-share`, for this run only."""
        return OptimizeBuilder(self._spark, self._path, self._optimize.option(name, value))

    def executeCompaction(self) -> DataFrame:
        """Merge small and overlapping RowSets and drop deleted rows, by the table's policy.

        Returns one row of metrics. Never makes a concurrent writer fail. Raises the errors of
        `ArrowTable.optimize`, and Spark's error if a task fails.
        """
        return self._frame(self._optimize.executeCompaction())

    def executeZOrderBy(self, *cols: str | list[str] | tuple[str, ...]) -> DataFrame:
        """Rewrite all RowSets in z-order, so that rows with similar values are stored together.

        Raises the errors of `executeCompaction`, and InvalidInputError for a table with a sort key.
        """
        return self._frame(self._optimize.executeZOrderBy(*cols))

    def _frame(self, report: CompactionReport) -> DataFrame:
        return self._spark.createDataFrame([optimize_row(self._path, report)], OPTIMIZE_SCHEMA)
