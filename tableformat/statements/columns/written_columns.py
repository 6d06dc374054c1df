"""Replaced columns that the tasks of another engine write.

Each task reports the RowSets whose columns it has written, as JSON:

    [{"rowset": 7, "stored": ENTRY, "rows": 3, "changed": {"7": BITMAP}}]

ENTRY describes the columns as a RowSet of their own. BITMAP has the rows that got new values, in
the form of `task_reports.py`. A RowSet without such rows is not reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import RowCount, RowSetEntry, RowSetNumber
from colonnade.manifests.model.schema import Model, SchemaField
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.deleted_rows import shown_count
from colonnade.tableformat.statements.columns.fill import FilledRowSet
from colonnade.tableformat.statements.task_reports import Rows
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.replaced_columns import WritePlace, as_operation


class _Written(Model, arbitrary_types_allowed=True):
    """A task's report of one RowSet."""

    rowset: RowSetNumber
    stored: RowSetEntry
    rows: RowCount
    changed: dict[RowSetNumber, Rows]


@cache
def _report() -> TypeAdapter[tuple[_Written, ...]]:
    return TypeAdapter(tuple[_Written, ...])


@cache
def _rowsets() -> TypeAdapter[tuple[LiveRowSet, ...]]:
    return TypeAdapter(tuple[LiveRowSet, ...])


def encode_rowsets(rowsets: Sequence[LiveRowSet]) -> str:
    """Return RowSets as text, with all that `decode_columns` needs of them."""
    return _rowsets().dump_json(tuple(rowsets), exclude_none=True).decode()


def task_rowsets(store: ObjectStore, view: View) -> list[dict[str, Any]]:
    """Return what tasks need of RowSets: the id, the stored and the shown rows, and the cuts.

    Raises the errors of `shown_count`.
    """
    return [
        {
            "id": each.id,
            "rows": each.entry.rows,
            "live": shown_count(store, view, each),
            "cuts": each.entry.cuts,
        }
        for each in view.rowsets
    ]


def decode_columns(
    log: Log,
    job: WriteJob,
    table: TableState,
    fields: Sequence[SchemaField],
    asked: Iterable[str],
    reports: Iterable[str],
) -> list[FilledRowSet]:
    """Return what tasks have written of the columns `fields` of the RowSets that they were given.

    `asked` has these RowSets, each text as `encode_rowsets` returns it. Stores the numbers of
    changed rows that are too many for the log. Raises InvalidInputError for a RowSet that no task
    was given or that has other rows, and StoreError.
    """
    written = [each for report in reports for each in _report().validate_json(report)]
    rowsets = {each.id: each for text in asked for each in _rowsets().validate_json(text)}
    names = ", ".join(repr(field.name) for field in fields)
    for each in written:
        if each.rowset not in rowsets or each.stored.rows != rowsets[each.rowset].entry.rows:
            raise InvalidInputError(
                f"A task reported column {names} of RowSet {each.rowset} of table"
                f" {table.name!r} with other rows than the RowSet has."
            )
    found = {each.rowset: each for each in written}
    place = WritePlace(log.store, table.id, table.prefix, job.job_id, log.limits.inline_bytes)
    ids, sync = [field.id for field in fields], job.settings.sync
    decoded = []
    for number, rowset in rowsets.items():
        operation, done = None, found.get(number)
        if done is not None:
            changed = done.changed[number] if done.rows < rowset.row_count else None
            operation = as_operation(place, rowset, ids, done.stored, changed, sync=sync)
        decoded.append(FilledRowSet(rowset, operation, 0 if done is None else done.rows))
    return decoded
