"""Run `Table.update` by replacing columns: Spark computes the new values, its tasks write them.

Spark's own UPDATE gives a source whole new rows. This module instead queries only the new values
with the positions of their rows, and gives the values of each RowSet to one task. Spark's
UPDATE runs instead if this cannot be done, or if it would not be cheaper.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import types as spark

from colonnade.manifests.arrays.hidden_rows import view_of
from colonnade.manifests.commit.change import TableRead
from colonnade.manifests.errors import ConflictError, NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.columns.check import ROW_HANDLER
from colonnade.manifests.model.columns.generated import generated_fields
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.replaced_columns import replaceable
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.state.view import View
from colonnade.spark_ext.executors import parallel_jobs, run_on_rows
from colonnade.spark_ext.pyspark_types import to_spark
from colonnade.spark_ext.table.statements import conflict_of, refresh_cached
from colonnade.tableformat.statements.columns.fill import FilledRowSet
from colonnade.tableformat.statements.reported import reported_statement
from colonnade.tableformat.statements.statement import (
    RowCounts,
    Statement,
)
from colonnade.tableformat.statements.update import in_place
from colonnade.tableformat.statements.update_job import (
    ChangedRowSet,
    UpdateJob,
    UpdateReport,
    other_rows_error,
    run_update,
)
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write.constraints import can_evaluate
from colonnade.tableformat.write.job import plan_write

_NUMBERS = (
    *(spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType),
    *(spark.FloatType, spark.DoubleType, spark.DecimalType),
)
_CARRIED = (
    *_NUMBERS,
    *(spark.BooleanType, spark.BinaryType, spark.DateType),
    *(spark.TimestampType, spark.TimestampNTZType),
)
"""Types whose values reach a Python task unchanged; so do strings without a collation."""

_ROWSET = f"shiftrightunsigned({ROW_HANDLER}, 32)"
_ROW = f"{ROW_HANDLER} & {2**32 - 1}"
"""The RowSet and position of a row; a user's table may have columns named `_rowset` and `_row`."""

_COUNTS = 3
"""The most times that the rows to change are counted.

They are counted again if another table in the condition has changed meanwhile.
"""

_SETTINGS = {"spark.sql.ansi.enabled": "TRUE", "spark.sql.storeAssignmentPolicy": "ANSI"}
"""Spark's defaults; CAST converts a value as UPDATE does only with these settings."""


@dataclass(frozen=True, slots=True)
class Update:
    """One UPDATE in SQL: the name of the table, the values by column, and the condition."""

    table: str
    alias: str | None
    values: Mapping[str, str]
    condition: str | None
    arguments: Mapping[str, Column]

    @property
    def text(self) -> str:
        """The statement as text for Spark's UPDATE."""
        name = self.table if self.alias is None else f"{self.table} AS {self.alias}"
        values = ", ".join(f"{column} = {value}" for column, value in self.values.items())
        return f"UPDATE {name} SET {values}{self._where}"

    def select(self, columns: str, epoch: int) -> str:
        """Return a query of the rows that the update changes, at an epoch."""
        name = self.alias or "colonnade_updated"
        return f"SELECT {columns} FROM {self.table} VERSION AS OF {epoch} AS {name}{self._where}"

    @property
    def parameters(self) -> dict[str, str]:
        """What the history shows of the statement, with the values of its markers."""
        values = ", ".join(f"{column} = {value.strip()}" for column, value in self.values.items())
        texts = {"set": values}
        if self.condition is not None:
            texts["where"] = self.condition.strip()
        for name, value in self.arguments.items():
            known = str(value).removeprefix("Column<'").removesuffix("'>").replace("\\", r"\\")
            for key, text in texts.items():
                texts[key] = re.sub(rf":{name}\b", known, text)
        return texts

    @property
    def _where(self) -> str:
        return "" if self.condition is None else f" WHERE {self.condition}"


def update_columns(session: SparkSession, table: ArrowTable, update: Update) -> RowCounts | None:
    """Run an update by replacing columns if that is cheaper; else return None and do nothing.

    After None the caller runs Spark's UPDATE. The update runs again after a conflict, at most ten
    times. Raises ConflictError after the last try, InvalidInputError for a value that a column
    cannot hold, and Spark's errors.
    """
    table.refresh()
    if _targets(table._state, update) is None or not _could_pay(table, session):
        return None
    work = _Work(session, table, update)
    try:
        work.resolve(table._snapshot)
        if not _is_sound(session, update) or not work.plan(table._snapshot):
            return None
        counts = table._run_at(work.evaluate)
    except _LeftToSparkError:
        return None
    refresh_cached(session)
    return counts


def _targets(table: TableState, update: Update) -> TableSchema | None:
    """Return the columns to set; None if one of them cannot be replaced or has another type."""
    if table.lifetimes is not None:
        return None  # a query of an earlier epoch sees the table at the time of that epoch
    if static_fields(table.schema):
        return None  # the values that are read may be static, and so may those that are set
    try:
        fields = [table.schema.named(name) for name in update.values]
    except NotFoundError:
        return None
    ids = [field.id for field in fields]
    if len(set(ids)) < len(ids) or not replaceable(table).issuperset(ids):
        return None
    if generated_fields(table.schema) or not can_evaluate(table.constraints, table.schema):
        return None  # only Spark can check them
    schema = TableSchema(fields=tuple(fields))
    return schema if all(_is_carried(f.dataType) for f in to_spark(schema).fields) else None


def _is_carried(kind: spark.DataType) -> bool:
    return isinstance(kind, _CARRIED) or kind.simpleString() == "string"


def _could_pay(table: ArrowTable, session: SparkSession) -> bool:
    if any(str(session.conf.get(name)).upper() != value for name, value in _SETTINGS.items()):
        return False
    sizes = table._log.rowsets.read_entries(table._state).byte_counts
    return bool(len(sizes)) and int(sizes.max()) > 2 * table._log.limits.in_place_bytes


def _typed_values(
    session: SparkSession, update: Update, targets: TableSchema, epoch: int
) -> str | None:
    """Write the new values, cast to the types of their columns, as the end of a SELECT list.

    Returns None if CAST would convert a value in another way than UPDATE.
    """
    plain = ", ".join(f"{value} AS v{at}" for at, value in enumerate(update.values.values()))
    try:
        given = session.sql(update.select(plain, epoch), args=_arguments(update)).schema.fields
    except PySparkException:
        return None  # such as DEFAULT, which only UPDATE understands
    wanted = to_spark(targets).fields
    typed = []
    for at, (value, has, wants) in enumerate(
        zip(update.values.values(), given, wanted, strict=True)
    ):
        same = has.dataType == wants.dataType
        numbers = isinstance(has.dataType, _NUMBERS) and isinstance(wants.dataType, _NUMBERS)
        if not (same or numbers or isinstance(has.dataType, spark.NullType)):
            return None
        typed.append(f"CAST({value} AS {wants.dataType.simpleString()}) AS v{at}")
    return ", ".join(typed)


def _arguments(update: Update) -> dict[str, Any] | None:
    return dict(update.arguments) or None


def _is_sound(session: SparkSession, update: Update) -> bool:
    """Whether Spark accepts the UPDATE; it refuses some whose queries could run here."""
    lines = session.sql(f"EXPLAIN {update.text}", args=_arguments(update)).collect()
    return not lines[0][0].startswith("Error occurred during query planning")


class _LeftToSparkError(Exception):
    """The update cannot be done here: Spark's UPDATE does it, or says why it cannot be done.

    The executors may have only the jar, and not Colonnade's Python package. Or a concurrent writer
    has changed a column that the update sets.
    """


class _Work:
    """The work of an update, which runs again on a newer state after a conflict."""

    _targets: TableSchema
    _values: str

    def __init__(self, session: SparkSession, table: ArrowTable, update: Update) -> None:
        self._session = session
        self._table = table
        self._update = update
        self._resolved: TableSchema | None = None
        self._planned: tuple[int, View, list[ChangedRowSet]] | None = None

    def resolve(self, base: Snapshot) -> None:
        """Find the columns to set in a state, and write their values in the types that they have.

        Raises _LeftToSparkError if a column cannot be replaced, or if CAST would convert a value in
        another way than UPDATE.
        """
        state = self._table._location.require(base)
        if self._resolved == state.schema:
            return
        if (targets := _targets(state, self._update)) is None:
            raise _LeftToSparkError
        values = _typed_values(self._session, self._update, targets, base.epoch)
        if values is None:
            raise _LeftToSparkError
        self._resolved, self._targets, self._values = state.schema, targets, values

    def plan(self, base: Snapshot) -> bool:
        """Count the rows to change in a state; return whether replacing columns is cheaper.

        Raises _LeftToSparkError as `resolve` does.
        """
        self.resolve(base)
        log, state = self._table._log, self._table._location.require(base)
        view, counts = self._count(log, state, base.epoch)
        counted = [(each, counts[each.id]) for each in view.rowsets]
        chosen = in_place(log, state, counted, self._targets)
        rowsets = [
            ChangedRowSet(rowset=each.id, count=count, in_place=each.id in chosen)
            for each, count in counted
        ]
        self._planned = base.epoch, view, rowsets
        return bool(chosen)

    def evaluate(
        self, log: StatementLog, base: Snapshot, state: TableState, job_id: str
    ) -> Statement:
        """Have tasks write the changes of the statement to a state."""
        write = plan_write(self._table._location, base, "append", limits=log.limits)
        for left in reversed(range(_COUNTS)):
            if self._planned is None or self._planned[0] != base.epoch:
                self.plan(base)
            assert self._planned is not None
            update = UpdateJob(
                write=write.model_copy(update={"job_id": job_id}),
                columns=tuple(field.id for field in self._targets.fields),
                view=self._planned[1],
                rowsets=tuple(self._planned[2]),
                inline_bytes=log.limits.inline_bytes,
            )
            try:
                reports = self._run(update, base.epoch)
                break
            except ConflictError:
                self._planned = None  # the condition now selects other rows
                if not left:
                    raise
        replaced = {op.rowset: op for each in reports for op in each.replaced}
        rowsets = {each.id: each for each in update.view.rowsets}
        return reported_statement(
            log,
            state,
            "update",
            [each.moved for each in reports],
            TableRead(state.id),
            replaced=[
                FilledRowSet(rowsets[each.rowset], replaced[each.rowset], each.count)
                for each in update.rowsets
                if each.in_place
            ],
            parameters=self._update.parameters,
        )

    def _count(self, log: Log, state: TableState, epoch: int) -> tuple[View, dict[int, int]]:
        """Return a view of the RowSets with rows to change, and the number of these rows by id."""
        every = (
            log.rowsets.view(state, None, None)
            if self._update.condition is None
            else View.stored(state)
        )
        if every.rowsets and not every.hidden:
            return every, {each.id: each.row_count for each in every.rowsets}
        text = self._update.select(f"{_ROWSET}, count(*)", epoch) + f" GROUP BY {_ROWSET}"
        found = dict(map(tuple, self._session.sql(text, args=_arguments(self._update)).collect()))
        rowsets = sorted(log.rowsets.find(state, found).values(), key=lambda rowset: rowset.id)
        # The view hides rows, so that tasks expect only the rows of the query.
        return log.rowsets.with_lookups(state, view_of(state, rowsets, None)), found

    def _run(self, job: UpdateJob, epoch: int) -> list[UpdateReport]:
        if not job.rowsets:
            return []
        places = f"{_ROWSET} AS rowset, {_ROW} AS row"
        text = self._update.select(f"{places}, {self._values}", epoch)
        rows: DataFrame = self._session.sql(text, args=_arguments(self._update))
        tasks = min(len(job.rowsets), 4 * parallel_jobs(self._session))
        grouped = rows.repartition(tasks, "rowset").sortWithinPartitions("rowset", "row")
        try:
            done = run_on_rows(grouped, _write_share, job.model_dump_json(), job.write.address)
        except PySparkException as error:
            if "ModuleNotFoundError" in str(error):
                raise _LeftToSparkError from error
            if (conflict := conflict_of(error)) is not None:
                raise conflict from error
            raise
        reports = [UpdateReport.model_validate_json(report) for report in done]
        met = {op.rowset for each in reports for op in each.replaced}.union(
            *(each.moved.moved_rows() for each in reports)
        )
        for each in job.rowsets:
            if each.rowset not in met:
                raise other_rows_error(job, each.rowset)
        return reports


def _write_share(job: str, batches: Iterator[pa.RecordBatch]) -> str:
    """Write the share of one task; a task that Spark repeats writes its own objects."""
    report = run_update(UpdateJob.model_validate_json(job), batches)
    return report.model_dump_json(exclude_none=True)
