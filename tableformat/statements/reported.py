"""Statements that many tasks carried out, such as those of Spark's row-level plans.

Each task reports, as JSON, the rows that it took and the RowSets that it wrote:

    {"rowsets": [...], "deleted": {"7": BITMAP}, "moved": {"7": BITMAP}, "inserted": {"0": BITMAP}}

Rows are taken from RowSets by id. `moved` ones stand among the rows written with other values;
`inserted` says which of the rows written are new, counted from 0 through the RowSets as listed, by
the upper 32 bits of their numbers. BITMAP is a portable Roaring bitmap in base64.
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
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.statements.key_guard import guard_any, guard_keys
from colonnade.tableformat.statements.keys import KeySet, key_columns
from colonnade.tableformat.statements.row_numbers import first_numbers, numbers_between
from colonnade.tableformat.statements.statement import Statement, row_statement, rows_gone
from colonnade.tableformat.types.arrow_types import arrow_schema


def decode_rows(text: object) -> FrozenBitMap:
    """Row numbers that a task reported. Raises ValueError."""
    try:
        return FrozenBitMap.deserialize(base64.b64decode(str(text), validate=True))
    except (ValueError, IndexError, MemoryError) as error:
        raise ValueError("a task reported rows that are no bitmap") from error


Rows = Annotated[FrozenBitMap, BeforeValidator(decode_rows)]


def encode_rows(numbers: NDArray[np.int64]) -> str:
    """Row numbers as tasks report them."""
    rows = BitMap(numbers)
    rows.run_optimize()
    return base64.b64encode(rows.serialize()).decode("ascii")


class TaskReport(Model, arbitrary_types_allowed=True):
    """What one task did. Spec: above."""

    rowsets: tuple[RowSetEntry, ...]
    deleted: dict[RowSetNumber, Rows]
    moved: dict[RowSetNumber, Rows]
    inserted: dict[Count, Rows]

    @classmethod
    def inserting(cls, rowsets: Iterable[RowSetEntry]) -> TaskReport:
        """Of a task that only added rows."""
        entries = tuple(rowsets)
        rows = first_numbers(sum(entry.rows for entry in entries))
        return cls.model_construct(rowsets=entries, deleted={}, moved={}, inserted=rows)

    @property
    def inserted_count(self) -> int:
        """How many of the rows that it wrote are new."""
        return sum(len(rows) for rows in self.inserted.values())


def decode_report(message: bytes | str) -> TaskReport:
    """Read what a task reported, validated."""
    return TaskReport.model_validate_json(message)


def reported_statement(
    log: Log,
    table: TableState,
    kind: RowKind,
    reports: Sequence[TaskReport],
    read: TableRead,
    keys: Sequence[str] | None = None,
) -> Statement:
    """What tasks did to a table, which all of them read at one epoch, as one statement.

    `kind` says what it was, and `keys` the columns by which inserted rows were found missing: none
    where that was decided otherwise, None where it did not matter.
    Raises InvalidInputError where a row is not the table's.
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
        (*rows_gone(log, table, "delete", deleted), *rows_gone(log, table, kind, moved)),
        (entry for report in reports for entry in report.rowsets),
        reads=(read,),
        keys=guards,
        inserted=inserted,
    )


def found_replacement(
    log: Log,
    table: TableState,
    found: Sequence[TaskReport],
    added: Sequence[RowSetEntry],
    read: TableRead,
    parameters: Mapping[str, str],
) -> Statement:
    """RowSets that take the place of rows which tasks found where the condition was to `read`.

    Raises InvalidInputError where a row is not the table's.
    """
    return row_statement(
        "overwrite",
        table,
        rows_gone(log, table, "delete", _united(report.deleted for report in found)),
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
    return guard_keys(store, table, partial(_inserted_keys, store, table, reports, columns))


def _united(parts: Iterable[Mapping[int, FrozenBitMap]]) -> dict[int, FrozenBitMap]:
    rows: dict[int, BitMap] = {}
    for part in parts:
        for rowset, taken in part.items():
            rows.setdefault(rowset, BitMap()).update(taken)
    return {rowset: FrozenBitMap(taken) for rowset, taken in sorted(rows.items())}


def _inserted_keys(
    store: ObjectStore, table: TableState, reports: Sequence[TaskReport], columns: TableSchema
) -> KeySet:
    """The distinct keys of the new rows; what has NULL in it equals nothing, and is no key."""
    found = [batch for report in reports for batch in _inserted_rows(store, table, report, columns)]
    rows = pa.Table.from_batches(found, arrow_schema(columns)).drop_null()
    return KeySet.of(rows.group_by(columns.names).aggregate([]), columns)


def _inserted_rows(
    store: ObjectStore, table: TableState, report: TaskReport, columns: TableSchema
) -> Iterable[pa.RecordBatch]:
    before = 0
    for entry in report.rowsets:
        reader = RowSetReader(store, table.prefix, entry)
        for first_row, batch in reader.read(columns.fields):
            first = before + first_row
            numbers = numbers_between(report.inserted, first, first + batch.num_rows)
            yield batch.take(pa.array(numbers - first))
        before += entry.rows
