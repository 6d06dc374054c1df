"""Writing: the driver checks and plans, tasks write RowSets, the driver commits one epoch.

    writer()        driver      names and types are checked, the base epoch is fixed
    write(rows)     each task   RowSets under ids of the attempt's own; reports its entries
    commit(...)     driver, another process: the entries of the successful attempts, one epoch

What failed, repeated and speculative attempts leave behind is named by no epoch: it is invisible,
and vacuum removes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from colonnade.manifests.log.log import Log
from colonnade.manifests.store import open_store
from colonnade.spark_ext.empty_arrays import with_sound_arrays
from colonnade.spark_ext.errors import one_sentence
from colonnade.spark_ext.options import SparkWriteOptions
from colonnade.spark_ext.pyspark_types import from_spark, refuse_uncarried
from colonnade.spark_ext.write_plan import plan_spark_write
from colonnade.tableformat.compaction.auto import compact_after
from colonnade.tableformat.location import locate
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.write.job import (
    WriteJob,
    decode_entries,
    encode_entries,
    take_lease,
    write_rows,
)


def plan_python_write(
    options: SparkWriteOptions, schema: spark.StructType, overwrite: bool
) -> WriteJob:
    """Plan a write of rows with this schema; nothing is written but a lease, if it has one.

    Raises what `plan_spark_write` raises, and InvalidInputError for a type that Spark's Python
    sources cannot carry.
    """
    given = from_spark(schema)
    refuse_uncarried(given, "cast it, or write it through Arrow with colonnade.open(path)")
    location = locate(options.path)
    base = Log(location.store).read_head() if location.exists else None
    job = plan_spark_write(location, base, options, given, overwrite)
    take_lease(job, Log(location.store), base)
    return job


@dataclass(frozen=True)
class TaskMessage(WriterCommitMessage):
    """What one task wrote: its RowSet entries as JSON."""

    entries: bytes


class ColonnadeWriter(DataSourceArrowWriter):
    """One write. Travels to every task and to the committing process as the job's JSON."""

    def __init__(self, job: WriteJob) -> None:
        self._job = job.model_dump_json()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskMessage:
        """Write one task's rows. Fails at the first row that does not fit the table."""
        with one_sentence():
            entries = write_rows(self._planned(), map(with_sound_arrays, iterator))
            return TaskMessage(encode_entries(entries))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Make all rows visible in one epoch; an append of no rows to a table makes none."""
        with one_sentence():
            job = self._planned()
            reports = [message for message in messages if isinstance(message, TaskMessage)]
            entries = [entry for each in reports for entry in decode_entries(each.entries)]
            if entries or job.has_more_than_rows:
                log = Log(open_store(job.url))
                compact_after(log, commit_written(job, entries, log), job.target.table)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Delete nothing.

        Spark calls this after a commit that raised, too, and that commit may have happened. Nor
        does it know of every task still running. Vacuum removes what no epoch names.
        """

    def _planned(self) -> WriteJob:
        return WriteJob.model_validate_json(self._job)
