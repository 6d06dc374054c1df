"""Write to a table: the driver plans, tasks write RowSets, and the driver commits one epoch.

    writer()        driver      checks names and types, and fixes the base epoch
    write(rows)     each task   writes RowSets under ids of this attempt; returns their entries
    commit(...)     driver      commits the entries of successful attempts, in another process

No epoch names the RowSets of failed, repeated and speculative attempts. They are invisible, and
vacuum removes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.store import open_store
from colonnade.spark_ext.errors import one_sentence
from colonnade.spark_ext.options.write import SparkWriteOptions
from colonnade.spark_ext.pyspark_types import from_spark, refuse_uncarried
from colonnade.spark_ext.source.empty_arrays import with_sound_arrays
from colonnade.spark_ext.write_plan import plan_spark_write
from colonnade.tableformat.compaction.auto import compact_after
from colonnade.tableformat.location import locate, read_base
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.write.job import WriteJob, take_lease
from colonnade.tableformat.write.run import decode_entries, encode_entries, write_rows


def plan_python_write(
    options: SparkWriteOptions, schema: spark.StructType, overwrite: bool
) -> WriteJob:
    """Plan a write of rows with this schema; writes nothing except a lease, if one is asked for.

    Raises the errors of `plan_spark_write`, and InvalidInputError for a type that Spark's Python
    sources cannot carry.
    """
    given = from_spark(schema)
    refuse_uncarried(given, "cast it, or write it through Arrow with colonnade.open(path)")
    location = locate(options.address)
    log = Log(location.store)
    base = read_base(location, log)
    job = plan_spark_write(location, base, options, given, overwrite, named=given.names)
    _refuse_statics(given, None if base is None else location.find(base))
    take_lease(log, base, job.job_id, job.settings, job.commit)
    return job


def _refuse_statics(given: TableSchema, table: TableState | None) -> None:
    """Refuse rows with static columns: tasks of this source report rows of the table alone."""
    if table is None:
        return
    names = {name.casefold() for name in given.names}
    for column in static_fields(table.schema):
        if column.name.casefold() in names:
            raise InvalidInputError(
                f"Column {column.name!r} of table {table.name!r} is static, and the source without"
                " the jar cannot write it; leave it out, or call"
                " colonnade.enable(spark), or use colonnade.open(path).append in Python."
            )


@dataclass(frozen=True)
class TaskMessage(WriterCommitMessage):
    """The result of one task: the entries of its RowSets as JSON."""

    entries: bytes


class ColonnadeWriter(DataSourceArrowWriter):
    """One write. Spark sends it, as the job's JSON, to every task and to the commit's process.

    The address travels beside the JSON, because it takes the storage options along.
    """

    def __init__(self, job: WriteJob) -> None:
        self._address = job.address
        self._job = job.model_dump_json()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskMessage:
        """Write one task's rows. Fails at the first row that does not fit the table."""
        with one_sentence():
            entries = write_rows(self._planned(), map(with_sound_arrays, iterator))
            return TaskMessage(encode_entries(entries))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Commit all rows in one epoch; an append of no rows to an existing table has no epoch."""
        with one_sentence():
            job = self._planned()
            reports = [message for message in messages if isinstance(message, TaskMessage)]
            entries = [entry for each in reports for entry in decode_entries(each.entries)]
            log = Log(open_store(job.address))
            compact_after(log, commit_written(job, entries, log), job.target.table)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Delete nothing; vacuum removes the files that no epoch names.

        Spark also calls this after a commit that raised, although that commit may have happened.
        Moreover, tasks that Spark does not know of may still be running.
        """

    def _planned(self) -> WriteJob:
        return WriteJob.model_validate_json(self._job)
