"""Run the tasks of an UPDATE whose new values another engine computes.

The engine passes each task the changed rows of whole RowSets, ordered by RowSet and row:

    RowSet long, row long, then the new values of the job's columns, in their order

For each RowSet the driver has decided (`in_place`) whether the task replaces columns or writes the
rows again with all columns. The task reads the other columns itself. No reader sees anything before
the commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap

from colonnade.manifests.arrays.origins import origins_of
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.model.entries import (
    ColumnNumber,
    Count,
    RowCount,
    RowSetNumber,
)
from colonnade.manifests.model.operations import ReplaceColumn
from colonnade.manifests.model.schema import Model, TableSchema
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore, open_store
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.task_writer import RowSources
from colonnade.tableformat.scan.plan import cut_rows
from colonnade.tableformat.scan.selection import read_numbered
from colonnade.tableformat.statements.reported import TaskReport
from colonnade.tableformat.statements.update import replacement_options
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.types.storage_form import to_storage
from colonnade.tableformat.write.constraints import bind_constraints, check_rows, decided_by
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.pipeline import moved_rows
from colonnade.tableformat.write.replaced_columns import WritePlace, with_values, write_replacement
from colonnade.tableformat.write.run import write_through


class ChangedRowSet(Model):
    """A RowSet by its id, with `count` rows to change; `in_place`, its columns are replaced."""

    rowset: RowSetNumber
    count: RowCount
    in_place: bool


class UpdateJob(Model):
    """One UPDATE statement, the same for every task.

    `view` has the RowSets with rows to change. `columns` are the ids of the set columns, and
    `inline_bytes` is that of the log's limits.
    """

    write: WriteJob
    view: View
    columns: tuple[ColumnNumber, ...]
    rowsets: tuple[ChangedRowSet, ...]
    inline_bytes: Count = LIMITS.inline_bytes

    @property
    def targets(self) -> TableSchema:
        """The columns that are set."""
        schema = self.write.target.table_schema
        return TableSchema(fields=tuple(schema.by_id(column) for column in self.columns))


class UpdateReport(Model):
    """What a task did: a report of rows that moved, and replaced columns."""

    moved: TaskReport
    replaced: tuple[ReplaceColumn, ...]


def run_update(
    job: UpdateJob, batches: Iterable[pa.RecordBatch], store: ObjectStore | None = None
) -> UpdateReport:
    """Run one task's share. Holds about a block of all columns, and the new values of one RowSet.

    Raises InvalidInputError that names the column for a value that it cannot hold, and for a
    constraint that does not hold or that only Spark can evaluate. Raises
    ConflictError when the engine passes other rows than were counted. Raises CorruptionError,
    StoreError. After any error the written RowSets are removed.
    """
    task = _Task(job, _Feed(batches), store or open_store(job.write.address))
    sources = task.sources
    write, steps = job.write, moved_rows(job.write.target)
    rowsets = write_through(
        steps, task.run(), task.store, write.job_id, write.settings, sources=sources
    )
    moved = TaskReport.of(rowsets, sources.found)
    return UpdateReport(moved=moved, replaced=tuple(task.replaced))


class _Feed:
    """The rows that a task receives, taken RowSet by RowSet."""

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self._batches = iter(batches)
        self._batch: pa.RecordBatch | None = None

    def next_rowset(self) -> int | None:
        """Return the RowSet of the next row; None at the end."""
        while self._batch is None or not self._batch.num_rows:
            self._batch = next(self._batches, None)
            if self._batch is None:
                return None
        return int(self._batch.column(0)[0].as_py())

    def take(self, rowset: int, end: int) -> tuple[NDArray[np.int64], list[pa.RecordBatch]]:
        """Remove the next rows of a RowSet before row `end`; return their numbers and batches."""
        numbers: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        taken: list[pa.RecordBatch] = []
        while self.next_rowset() == rowset:
            assert self._batch is not None
            ids, rows = (np.asarray(self._batch.column(at), np.int64) for at in (0, 1))
            fits = (ids == rowset) & (rows < end)
            count = len(fits) if fits.all() else int(fits.argmin())
            numbers.append(rows[:count])
            taken.append(self._batch.slice(0, count))
            self._batch = self._batch.slice(count)
            if count < len(fits):
                break
        return np.concatenate(numbers), taken


class _Task:
    """One task's share of a statement. `replaced` and `sources` grow while it runs."""

    def __init__(self, job: UpdateJob, feed: _Feed, store: ObjectStore) -> None:
        self.store = store
        self.replaced: list[ReplaceColumn] = []
        self.sources = RowSources()
        self._job = job
        self._feed = feed
        self._changed = {each.rowset: each for each in job.rowsets}
        self._rowsets = {each.id: each for each in job.view.rowsets}
        write = job.write
        target, job_id = write.target, write.job_id
        self._place = WritePlace(store, target.table, target.prefix, job_id, job.inline_bytes)
        rules = bind_constraints(target.name, target.constraints, target.table_schema)
        self._decided = decided_by(rules, job.columns)
        count = sum(each.in_place for each in job.rowsets)
        self._options = replacement_options(write.target, count, write.settings)

    def run(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that move, with all columns of the table."""
        while (number := self._feed.next_rowset()) is not None:
            changed = self._changed.get(number)
            if changed is None:
                raise other_rows_error(self._job, number)
            if changed.in_place:
                self._replace(changed)
            else:
                yield from self._move(changed)

    def _replace(self, changed: ChangedRowSet) -> None:
        rows = BitMap()
        stretches = self._stretches(changed, rows)
        fields, rowset = self._job.targets.fields, self._rowsets[changed.rowset]
        done = write_replacement(self._place, rowset, fields, stretches, rows, self._options)
        self.replaced.append(done)

    def _stretches(self, changed: ChangedRowSet, met: BitMap) -> Iterator[Sequence[pa.Array]]:
        """Yield the set columns stretch by stretch. `met` collects the changed rows."""
        number = changed.rowset
        for first, end, old in self._old(changed):
            numbers, rows = self._feed.take(number, end)
            met.update(numbers)
            if len(numbers) == end - first:
                yield self._values(rows)
            elif old is None:
                raise other_rows_error(self._job, number)
            else:
                yield with_values(old, self._values(rows), numbers - first) if rows else old
        if len(met) != changed.count:
            raise other_rows_error(self._job, number)

    def _old(self, changed: ChangedRowSet) -> Iterator[tuple[int, int, list[pa.Array] | None]]:
        """Yield every stretch between two cuts, with its old values unless all rows change."""
        rowset = self._rowsets[changed.rowset]
        if changed.count == rowset.entry.rows:
            cuts = cut_rows(rowset.entry)
            yield from ((first, end, None) for first, end in pairwise(cuts))
            return
        targets = self._job.targets
        reader = RowSetReader(self.store, self._job.view, rowset)
        for first, batch in reader.read(targets.fields):
            yield first, first + batch.num_rows, to_storage(batch, targets)

    def _values(self, rows: Sequence[pa.RecordBatch]) -> list[pa.Array]:
        """Return the new values as storage arrays."""
        values = self._conformed(rows)
        check_rows(values, self._decided)
        return to_storage(values, self._job.targets)

    def _conformed(self, rows: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        targets = self._job.targets
        table = pa.Table.from_batches(rows)
        names = table.column_names[2:]
        given = table.select(names).rename_columns(list(targets.names))
        return conform(given, targets, self._job.write.target.invalid_text)

    def _move(self, changed: ChangedRowSet) -> Iterator[pa.RecordBatch]:
        rowset = self._rowsets[changed.rowset]
        numbers, rows = self._feed.take(rowset.id, rowset.entry.rows)
        if len(numbers) != changed.count:
            raise other_rows_error(self._job, rowset.id)
        values = self._conformed(rows)
        schema = self._job.write.target.table_schema
        for chosen, batch in read_numbered(self.store, self._job.view, rowset, numbers, schema):
            low, high = np.searchsorted(numbers, (chosen[0], chosen[-1] + 1))
            new = dict(zip(values.schema.names, values.slice(low, high - low).columns, strict=True))
            columns = [new.get(name, batch.column(name)) for name in schema.names]
            self.sources.add(origins_of(rowset.id, chosen))
            yield pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def other_rows_error(job: UpdateJob, rowset: int) -> ConflictError:
    """Return the error of a statement whose condition selected other rows when evaluated again."""
    return ConflictError(
        f"The condition selected other rows of RowSet {rowset} of table"
        f" {job.write.target.name!r} than when they were counted: other data that it reads has"
        " changed; repeat the statement."
    )
