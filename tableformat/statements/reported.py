"""Statements that many tasks carried out, such as those of Spark's row-level plans.

Each task reports as JSON which rows it deleted or moved, and the RowSets that it wrote:

    {"rowsets": [...], "deleted": {"7": BITMAP}, "moved": {"7": BITMAP}, "inserted": {"0": BITMAP}}

`deleted` and `moved` name rows by RowSet id. Moved rows are among the rows written, with other
values. `inserted` names the written rows that are new. It counts rows from 0 through the RowSets as
listed, and its keys are the upper 32 bits of these numbers. BITMAP is a portable Roaring bitmap in
base64.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import BeforeValidator
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.commit.change import KeyGuard, TableRead
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import Count, RowSetEntry, RowSetNumber
from colonnade.manifests.model.operations import RowKind
from colonnade.manifests.model.schema import Model, TableSchema
from colonnade.manifests.state.snapshot import TableState, as_written
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.key_set import KeySet, key_columns
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.statements.fill import FilledRowSet
from colonnade.tableformat.statements.key_guard import guard_any, guard_keys
from colonnade.tableformat.statements.row_numbers import first_numbers, numbers_between
from colonnade.tableformat.statements.statement import Statement, find_deleted_rows, row_statement
from colonnade.tableformat.types.arrow_types import arrow_schema


def decode_rows(text: object) -> FrozenBitMap:
    """Decode the row numbers that a task reported. Raises ValueError."""
    try:
        return FrozenBitMap.deserialize(base64.b64decode(str(text), validate=True))
    except (ValueError, IndexError, MemoryError) as error:
        raise ValueError("a task reported rows that are not a bitmap") from error


Rows = Annotated[FrozenBitMap, BeforeValidator(decode_rows)]


def encode_rows(numbers: NDArray[np.int64]) -> str:
    """Encode row numbers in the form of task reports."""
    rows = BitMap(numbers)
    rows.run_optimize()
    return base64.b64encode(rows.serialize()).decode("ascii")


class TaskReport(Model, arbitrary_types_allowed=True):
    """What one task did, in the form that this module's docstring specifies."""

    rowsets: tuple[RowSetEntry, ...]
    deleted: dict[RowSetNumber, Rows]
    moved: dict[RowSetNumber, Rows]
    inserted: dict[Count, Rows]

    @classmethod
    def inserting(cls, rowsets: Iterable[RowSetEntry]) -> TaskReport:
        """Return the report of a task that only added rows."""
        entries = tuple(rowsets)
        rows = first_numbers(sum(entry.rows for entry in entries))
        return cls.model_construct(rowsets=entries, deleted={}, moved={}, inserted=rows)

    @property
    def inserted_count(self) -> int:
        """How many of the written rows are new."""
        return sum(len(rows) for rows in self.inserted.values())


def decode_report(message: bytes | str) -> TaskReport:
    """Decode and validate what a task reported."""
    return TaskReport.model_validate_json(message)


def reported_statement(
    log: Log,
    table: TableState,
    kind: RowKind,
    reports: Sequence[TaskReport],
    read: TableRead,
    keys: Sequence[str] | None = None,
    replaced: Sequence[FilledRowSet] = (),
) -> Statement:
    """Return what tasks did to a table, which all of them read at one epoch, as one statement.

    `kind` is the kind of statement. `keys` are the columns that told the tasks which rows were
    missing, so that they inserted them. It is empty when something else decided that, and None when
    it did not matter. `replaced` are RowSets whose columns tasks have written. Raises
    InvalidInputError for a row that the table does not have.
    """
    deleted = _united(report.deleted for report in reports)
    moved = _united(report.moved for report in reports)
    inserted = sum(report.inserted_count for report in reports)
    guards: tuple[KeyGuard, ...] = ()
    if keys is not None and inserted:
        guards = (_guard(log.store, table, reports, keys),)
    return row_statement(
        kind,
        table,
        (
            *find_deleted_rows(log, table, "delete", deleted),
            *find_deleted_rows(log, table, kind, moved),
        ),
        (entry for report in reports for entry in report.rowsets),
        replaced=[each.operation for each in replaced if each.operation is not None],
        replaced_rows=sum(each.rows or 0 for each in replaced),
        reads=(read,),
        keys=guards,
        inserted=inserted,
    )


def found_overwrite(
    log: Log,
    table: TableState,
    found: Sequence[TaskReport],
    added: Sequence[RowSetEntry],
    read: TableRead,
    parameters: Mapping[str, str],
) -> Statement:
    """Return a statement that overwrites the rows that tasks found by `added` RowSets.

    `read` says what the tasks read to evaluate the condition. Raises InvalidInputError for a row
    that the table does not have.
    """
    return row_statement(
        "overwrite",
        table,
        find_deleted_rows(log, table, "delete", _united(report.deleted for report in found)),
        added,
        reads=(read,),
        inserted=sum(entry.rows for entry in added),
        parameters=parameters,
    )


def _guard(
    store: ObjectStore, table: TableState, reports: Sequence[TaskReport], keys: Sequence[str]
) -> KeyGuard:
    if not keys:
        return guard_any(table)
    columns = key_columns(keys, table.schema)
    inserted = partial(_inserted_keys, store, table, reports, columns)
    return guard_keys(store, table, columns, inserted)


def _united(parts: Iterable[Mapping[int, FrozenBitMap]]) -> dict[int, FrozenBitMap]:
    rows: dict[int, BitMap] = {}
    for part in parts:
        for rowset, taken in part.items():
            rows.setdefault(rowset, BitMap()).update(taken)
    return {rowset: FrozenBitMap(taken) for rowset, taken in sorted(rows.items())}


def _inserted_keys(
    store: ObjectStore, table: TableState, reports: Sequence[TaskReport], columns: TableSchema
) -> KeySet:
    """Return the distinct keys of the new rows. Omits keys with NULL, which never match."""
    found = [batch for report in reports for batch in _inserted_rows(store, table, report, columns)]
    rows = pa.Table.from_batches(found, arrow_schema(columns)).drop_null()
    return KeySet.of(rows.group_by(columns.names).aggregate([]), columns)


def _inserted_rows(
    store: ObjectStore, table: TableState, report: TaskReport, columns: TableSchema
) -> Iterable[pa.RecordBatch]:
    before = 0
    for entry in report.rowsets:
        reader = RowSetReader(store, table.prefix, as_written(entry))
        for first_row, batch in reader.read(columns.fields):
            first = before + first_row
            numbers = numbers_between(report.inserted, first, first + batch.num_rows)
            yield batch.take(pa.array(numbers - first))
        before += entry.rows
