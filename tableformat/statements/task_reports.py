"""Statements that many tasks carried out, such as those of Spark's row-level plans.

Each task reports as JSON which rows it deleted, the RowSets that it wrote, and where their rows
come from:

    {"rowsets": [...], "deleted": {"7": BITMAP}, "origins": [ORIGINS, ...], "statics": {...}}

`deleted` names rows by RowSet id. BITMAP is a portable Roaring bitmap in base64. There are ORIGINS
for each written RowSet, in the form of `manifests/arrays/origins.py` in base64. A row that is a new
version of a row has the number of that row there: its RowSet id * 2**32 + its number in the RowSet.
The other rows are new. ORIGINS are null if all rows of the RowSet are new; without `origins`, all
written rows are. A task has `statics` if its rows may bring static values: `ReportedStatics`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import BeforeValidator, model_validator
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.arrays.origins import NEW, RowOrigins
from colonnade.manifests.commit.change import KeyGuard, TableRead
from colonnade.manifests.errors import RepeatedMatchError
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.entries import RowSetEntry, RowSetNumber
from colonnade.manifests.model.operations import RowKind
from colonnade.manifests.model.schema import Model, TableSchema
from colonnade.manifests.state.snapshot import TableState, as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.key_set import KeySet, key_columns
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.statements.columns.fill import FilledRowSet
from colonnade.tableformat.statements.key_guard import guard_any, guard_keys
from colonnade.tableformat.statements.statement import Statement, find_deleted_rows, row_statement
from colonnade.tableformat.types.arrow_types import arrow_schema


def decode_rows(text: object) -> FrozenBitMap:
    """Decode the row numbers that a task reported. Raises ValueError."""
    try:
        return FrozenBitMap.deserialize(base64.b64decode(str(text), validate=True))
    except (ValueError, IndexError, MemoryError) as error:
        raise ValueError("a task reported rows that are not a bitmap") from error


Rows = Annotated[FrozenBitMap, BeforeValidator(decode_rows)]


def decode_origins_text(text: object) -> bytes:
    """Decode the origins of a RowSet that a task reported. Raises ValueError."""
    return base64.b64decode(str(text), validate=True)


EncodedOrigins = Annotated[bytes, BeforeValidator(decode_origins_text)]


class ReportedStatics(Model):
    """The static values that the rows of a task brought, in RowSets that no epoch names.

    The columns are those of the partition key, and then the static columns that the rows have.
    `updated` is the number of rows that got static values and were not written themselves, because
    only their static columns are set.
    """

    columns: tuple[int, ...] = ()
    entries: tuple[RowSetEntry, ...] = ()
    updated: int = 0


class TaskReport(Model, arbitrary_types_allowed=True):
    """What one task did, in the form that this module's docstring specifies."""

    rowsets: tuple[RowSetEntry, ...]
    deleted: dict[RowSetNumber, Rows] = {}
    origins: tuple[EncodedOrigins | None, ...] | None = None
    statics: ReportedStatics | None = None

    @model_validator(mode="after")
    def _fits(self) -> TaskReport:
        """Refuse origins that are not those of the RowSets."""
        if self.origins is not None and len(self.origins) != len(self.rowsets):
            raise ValueError("a task reported origins of other RowSets than it wrote")
        for each in self.row_origins():
            if each.data is not None:
                each.array()
        return self

    def row_origins(self) -> list[RowOrigins]:
        """Return where the rows of each RowSet come from."""
        known = self.origins or (None,) * len(self.rowsets)
        return [
            RowOrigins(entry.rows, data) for entry, data in zip(self.rowsets, known, strict=True)
        ]

    def moved_rows(self) -> dict[int, FrozenBitMap]:
        """Return the rows that have new versions, by RowSet id."""
        return _united(each.replaced() for each in self.row_origins())

    def inserted_count(self) -> int:
        """Return how many of the written rows are new."""
        return sum(each.new_count() for each in self.row_origins())

    def new_rows(self) -> Iterator[NDArray[np.int64] | None]:
        """Yield the new rows of each RowSet; None if all of its rows are."""
        for each in self.row_origins():
            yield None if each.data is None else np.flatnonzero(each.array() == NEW)


def entries_of(reports: Iterable[TaskReport]) -> tuple[RowSetEntry, ...]:
    """Return the RowSets that tasks wrote."""
    return tuple(entry for each in reports for entry in each.rowsets)


def decode_report(message: bytes | str) -> TaskReport:
    """Decode and validate what a task reported."""
    return TaskReport.model_validate_json(message)


def reported_statement(
    log: StatementLog,
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
    InvalidInputError for a row that the table does not have, and RepeatedMatchError if several rows
    replace one row.
    """
    deleted = _united(report.deleted for report in reports)
    moved = _united(report.moved_rows() for report in reports)
    inserted = sum(report.inserted_count() for report in reports)
    written = sum(entry.rows for report in reports for entry in report.rowsets)
    if written - inserted != sum(map(len, moved.values())):
        raise RepeatedMatchError(
            f"Several rows of the {kind} replace one row of table {table.name!r}; have at most one"
            " row of the source match each row of the table."
        )
    guards: tuple[KeyGuard, ...] = ()
    if keys is not None and inserted:
        guards = (_guard(log.store, table, reports, keys),)
    return row_statement(
        kind,
        table,
        (
            *find_deleted_rows(log.plain, table, "delete", deleted),
            *find_deleted_rows(log.plain, table, kind, moved),
        ),
        (entry for report in reports for entry in report.rowsets),
        replaced=[each.operation for each in replaced if each.operation is not None],
        replaced_rows=sum(each.rows or 0 for each in replaced),
        reads=(read,),
        keys=guards,
        origins={
            entry.object: origins
            for report in reports
            for entry, origins in zip(report.rowsets, report.row_origins(), strict=True)
        },
        inserted=inserted,
    )


def found_overwrite(
    log: StatementLog,
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
        find_deleted_rows(log.plain, table, "delete", _united(report.deleted for report in found)),
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
    view = View.stored(table)
    for entry, new in zip(report.rowsets, report.new_rows(), strict=True):
        reader = RowSetReader(store, view, as_written(entry))
        for first_row, batch in reader.read(columns.fields):
            if new is None:
                yield batch
                continue
            low, high = np.searchsorted(new, (first_row, first_row + batch.num_rows))
            yield batch.take(pa.array(new[low:high] - first_row))
