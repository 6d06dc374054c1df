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

from manifests.errors import InvalidInputError
from manifests.log import Log
from manifests.schema import SchemaField, TableSchema
from spark_ext.empty_arrays import with_sound_arrays
from spark_ext.errors import one_sentence
from spark_ext.options import WriteOptions
from spark_ext.types import from_spark, refuse_uncarried, same_values, type_text
from tableformat.conversion import match_fields
from tableformat.location import locate
from tableformat.write_job import (
    WriteJob,
    commit_write,
    decode_entries,
    encode_entries,
    new_table,
    plan_write,
    write_rows,
)


def plan_spark_write(options: WriteOptions, schema: spark.StructType, overwrite: bool) -> WriteJob:
    """Plan a write of rows with this schema; nothing is written.

    A table that does not exist will be created by the same epoch, its columns nullable like those
    of any file that Spark writes: what a DataFrame happens to guarantee today is no promise for
    later appends. Raises InvalidInputError naming the column that does not fit the table.
    """
    location = locate(options.path)
    base = Log(location.store).read_head() if location.exists else None
    given = from_spark(schema)
    refuse_uncarried(given, "cast it, or write it through Arrow with colonnade.open(path)")
    table = None if base is None else location.find(base)
    create = None
    if table is None:
        create = new_table(location.new_table_name, nullable(given))
    else:
        check_columns(given, table.schema, location.url)
    parameters = {"mode": "Overwrite" if overwrite else "Append"}
    if options.user_metadata is not None:
        parameters["userMetadata"] = options.user_metadata
    return plan_write(
        location,
        base,
        "overwrite" if overwrite else "append",
        create=create,
        settings=options.settings,
        parameters=parameters,
    )


def check_columns(given: TableSchema, table: TableSchema, path: str) -> None:
    """Refuse rows whose columns are not those of the table, in whatever order.

    NULL is not looked at: that a DataFrame's column may be NULL does not mean that it is.
    Raises InvalidInputError that names the columns at fault.
    """
    order = match_fields(given.names, table.names, f"The DataFrame for table {path}")
    for index, column in zip(order, table.fields, strict=True):
        if not same_values(given.fields[index].type, column.type):
            raise InvalidInputError(
                f"Column {column.name!r} of table {path} has the type {type_text(column.type)},"
                f" but the DataFrame's has {type_text(given.fields[index].type)}; cast it."
            )


def nullable(schema: TableSchema) -> TableSchema:
    """The same columns, every one of them and of their fields nullable, but for map keys."""
    return TableSchema(fields=tuple(_nullable(field) for field in schema.fields))


def _nullable(field: SchemaField) -> SchemaField:
    children = [_nullable(child) for child in field.children()]
    if len(children) == 2 and children[0].name == "key" and not isinstance(field.type, str):
        children[0] = children[0].model_copy(update={"nullable": field.children()[0].nullable})
    return field.with_children(children).model_copy(update={"nullable": True})


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
            if entries or job.mode == "overwrite" or job.create is not None:
                commit_write(job, entries)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Delete nothing.

        Spark calls this after a commit that raised, too, and that commit may have happened. Nor
        does it know of every task still running. Vacuum removes what no epoch names.
        """

    def _planned(self) -> WriteJob:
        return WriteJob.model_validate_json(self._job)
