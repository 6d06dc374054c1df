"""Read a table: the driver plans one epoch as a few tasks, and each task yields record batches.

Each task of Spark's Python source costs tens of milliseconds, however little it reads. Tasks are
therefore divided by stored bytes: a thousand tiny RowSets become one task, a large RowSet several.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.datasource import DataSourceReader, InputPartition

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import SchemaField, TableSchema, type_text
from colonnade.manifests.store import StoreAddress, open_store
from colonnade.spark_ext.errors import one_sentence
from colonnade.spark_ext.options.read import ReadOptions
from colonnade.spark_ext.pyspark_types import from_spark, refuse_uncarried
from colonnade.spark_ext.types import same_type
from colonnade.tableformat.keys.static_filters import by_partitions
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.predicate import parse_predicate
from colonnade.tableformat.scan.other_columns import with_columns_of
from colonnade.tableformat.scan.plan import ScanPlan, plan_scan, rowset_filter, split_plan
from colonnade.tableformat.scan.run import read_plan
from colonnade.tableformat.table.epochs.tags_and_pins import tagged_epoch
from colonnade.tableformat.table.epochs.time_travel import seen_ms, timestamp_ms
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.storage_form import relabel

MAX_TASK_BYTES = 32 * 2**20
"""Most stored bytes that a task reads: about a second of work."""

MIN_TASK_BYTES = 2 * 2**20
"""Stored bytes below which starting another task costs more than it saves."""

SMALL_TABLE_TASKS = 8
"""Number of tasks for a table of medium size; the source cannot learn the number of cores."""


ADVICE = "leave it out with .schema(...), or read it through Arrow with colonnade.open(path)"
"""Advice in errors about columns that Spark's Python sources cannot read."""


@dataclass(frozen=True, slots=True)
class PinnedRead:
    """One read, resolved once on the driver: the table, the epoch and the predicate.

    A pickled value takes the storage options along to the tasks; its `repr` does not show them.
    """

    address: StoreAddress
    table: str
    table_schema: TableSchema
    epoch: int
    where: str | None
    now_ms: int


def pin_read(options: ReadOptions) -> PinnedRead:
    """Resolve the epoch that all tasks of a read will see.

    Raises NotFoundError for a path that is not a table, an epoch or tag that does not exist, or a
    time before the first epoch.
    """
    location = locate_existing(options.address)
    log = Log(location.store)
    at_ms = None if options.timestamp is None else timestamp_ms(options.timestamp)
    # An epoch before damage in the log can still be read, though the head cannot.
    head = log.reader.try_read_head(location.opening)
    epoch = options.epoch
    if options.tag is not None:
        epoch = tagged_epoch(head or log.reader.read_head(), options.tag)
    snapshot = log.reader.read_at(epoch=epoch, timestamp_ms=at_ms, head=head)
    table = location.require_at(snapshot, head)
    schema = table.schema
    if options.schema_epoch is not None:
        other = log.reader.read_at(epoch=options.schema_epoch, head=head)
        schema = with_columns_of(table, location.require_at(other, head)).schema
    pinned = (options.epoch, options.tag, options.timestamp) != (None, None, None)
    now = seen_ms(log.reader, snapshot, pinned=pinned, seen_at=options.seen_at)
    address, epoch = location.store.address, snapshot.epoch
    return PinnedRead(address, table.name, schema, epoch, options.where, now)


def plan_shares(read: PinnedRead, columns: tuple[str, ...]) -> list[ScanPlan]:
    """Plan a read of these columns, with one share for each task; reads only the log."""
    store = open_store(read.address)
    log = Log(store)
    snapshot = log.reader.read_at(epoch=read.epoch)
    table = snapshot.table(read.table)
    predicate = None if read.where is None else parse_predicate(read.where)
    shown = replace(table, schema=read.table_schema)
    predicate = by_partitions(log, shown, predicate)
    view = log.rowsets.view(table, rowset_filter(shown, predicate), read.now_ms)
    plan = plan_scan(replace(view, columns=shown.schema), snapshot.epoch, columns, predicate)
    return split_plan(plan, task_bytes(plan))


def task_bytes(plan: ScanPlan) -> int:
    """Return the stored bytes, over all columns, that one task should get.

    Columns that are not read cost nothing, so a task that reads few columns gets more rows.
    """
    read = max(len(plan.projection), 1) / len(plan.view.columns.fields)
    wanted = plan.byte_count * read / SMALL_TABLE_TASKS
    return int(min(max(wanted, MIN_TASK_BYTES), MAX_TASK_BYTES) / read)


def check_projection(requested: TableSchema, read: PinnedRead) -> tuple[str, ...]:
    """Return the table's names of the columns that Spark asks for.

    Raises NotFoundError for a column that does not exist. Raises InvalidInputError for a column of
    another type, for a nullable column declared NOT NULL, and for a type that Spark cannot carry.
    """
    names: list[str] = []
    for asked in requested.fields:
        column = read.table_schema.field(asked.name)
        where = f"Column {column.name!r} of table {read.table!r} at epoch {read.epoch}"
        if not same_type(asked.type, column.type):
            raise InvalidInputError(
                f"{where} has the type {type_text(column.type)}, not {type_text(asked.type)}; the"
                " types given to .schema(...) must be those of the table."
            )
        if not _wide_enough(asked, column):
            raise InvalidInputError(
                f"{where} may hold NULL; do not declare it or its fields NOT NULL in .schema(...)."
            )
        names.append(column.name)
    refuse_uncarried(read.table_schema.select(names), ADVICE)
    return tuple(names)


def _wide_enough(asked: SchemaField, column: SchemaField) -> bool:
    return (asked.nullable or not column.nullable) and all(
        map(_wide_enough, asked.children(), column.children())
    )


class ColonnadeReader(DataSourceReader):
    """Reads some columns of one epoch. Spark sends it to every task, so it holds no plan."""

    def __init__(self, read: PinnedRead, schema: spark.StructType) -> None:
        requested = from_spark(schema)
        self._read = read
        self._columns = check_projection(requested, read)
        self._output = arrow_schema(requested)

    def partitions(self) -> list[InputPartition]:
        """Return one partition for each task, which holds its share of the plan as JSON."""
        with one_sentence():
            shares = plan_shares(self._read, self._columns)
            return [InputPartition(share.to_json().encode()) for share in shares]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one share, in exactly the schema that Spark expects."""
        with one_sentence():
            plan = ScanPlan.from_json(partition.value)
            for batch in read_plan(open_store(self._read.address), plan):
                yield self._labelled(batch)

    def _labelled(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if batch.schema.equals(self._output):
            return batch
        arrays = [
            relabel(column, field.type)
            for column, field in zip(batch.columns, self._output, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self._output)
