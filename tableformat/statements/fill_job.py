"""Fill a column with values that another engine computes and writes.

Each task of the engine reports the RowSets whose column it has written, as JSON:

    [{"rowset": 7, "stored": ENTRY, "rows": 3, "changed": {"7": BITMAP}}]

ENTRY describes the column as a RowSet of its own. BITMAP has the rows that got a value, in the form
of `reported.py`. A RowSet without such rows is not reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import TypeAdapter

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.deletion_vector import DeletionVector, write_deletion_vector
from colonnade.manifests.model.entries import ColumnNumber, RowCount, RowSetEntry, RowSetNumber
from colonnade.manifests.model.operations import Operation, ReplaceColumn
from colonnade.manifests.model.schema import Model
from colonnade.manifests.state.replaced_columns import replacement_of
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot, TableState
from colonnade.tableformat.statements.fill import FilledRowSet, FillPlan, with_columns
from colonnade.tableformat.statements.reported import Rows
from colonnade.tableformat.write.job import WriteJob


class FillJob(Model):
    """A planned fill, as a value that travels with the work.

    `altered` are the operations that add the column. `target` is its id, and `reads` are the ids of
    the columns that decide its values. `parameters` are for the history.
    """

    write: WriteJob
    operation: Literal["add_column", "backfill"]
    altered: tuple[Operation, ...]
    target: ColumnNumber
    reads: tuple[ColumnNumber, ...]
    parameters: dict[str, str]

    def plan(self, before: TableState) -> FillPlan:
        """Return the plan of the fill. `before` is the table as of the job's base."""
        table = with_columns(before, self.altered)
        return FillPlan(
            self.operation,
            table,
            table.schema.by_id(self.target),
            self.operation == "add_column",
            tuple(table.schema.by_id(column) for column in self.reads),
            of_all_rows="where" not in self.parameters,
        )


class WrittenColumn(Model, arbitrary_types_allowed=True):
    """A task's report of one RowSet."""

    rowset: RowSetNumber
    stored: RowSetEntry
    rows: RowCount
    changed: dict[RowSetNumber, Rows]


_REPORT = TypeAdapter(tuple[WrittenColumn, ...])
_ROWSETS = TypeAdapter(tuple[LiveRowSet, ...])


class UnfilledError(Exception):
    """RowSets of a state have no values yet, and only the engine can compute them."""

    def __init__(self, head: Snapshot, rowsets: Sequence[LiveRowSet]) -> None:
        super().__init__(head.epoch)
        self.head = head
        self.rowsets = rowsets


def leave_to_engine(head: Snapshot, rowsets: Sequence[LiveRowSet]) -> Iterable[FilledRowSet]:
    """Raise UnfilledError: this is the `Write` of a fill by another engine."""
    raise UnfilledError(head, rowsets)


def encode_rowsets(rowsets: Sequence[LiveRowSet]) -> str:
    """Return RowSets as text, with all that `decode_filled` needs of them."""
    return _ROWSETS.dump_json(tuple(rowsets), exclude_none=True).decode()


def task_rowsets(rowsets: Sequence[LiveRowSet]) -> list[dict[str, Any]]:
    """Return what tasks need of RowSets: the id, the stored and live rows, and the cuts."""
    return [
        {
            "id": each.id,
            "rows": each.entry.rows,
            "live": each.row_count,
            "cuts": each.entry.cuts,
        }
        for each in rowsets
    ]


def decode_filled(
    log: Log, job: FillJob, plan: FillPlan, asked: Iterable[str], reports: Iterable[str]
) -> list[FilledRowSet]:
    """Return what the tasks have written of the RowSets that the engine was asked for.

    Stores the numbers of changed rows that are too many for the log. Raises InvalidInputError for
    a RowSet that was not asked for or has other rows, and StoreError.
    """
    written = [each for report in reports for each in _REPORT.validate_json(report)]
    rowsets = {each.id: each for text in asked for each in _ROWSETS.validate_json(text)}
    for each in written:
        if each.rowset not in rowsets or each.stored.rows != rowsets[each.rowset].entry.rows:
            raise InvalidInputError(
                f"A task reported column {plan.target.name!r} of RowSet {each.rowset} of table"
                f" {plan.table.name!r} with other rows than the RowSet has."
            )
    found = {each.rowset: each for each in written}
    return [
        FilledRowSet(rowset, None, 0)
        if (done := found.get(number)) is None
        else FilledRowSet(rowset, _operation(log, job, plan, rowset, done), done.rows)
        for number, rowset in rowsets.items()
    ]


def _operation(
    log: Log, job: FillJob, plan: FillPlan, rowset: LiveRowSet, done: WrittenColumn
) -> ReplaceColumn:
    changed, ids = done.changed[rowset.id], plan.target.ids
    vector = None
    if done.rows < rowset.row_count:
        vector = write_deletion_vector(
            log.store,
            plan.table.prefix,
            job.write.job_id,
            DeletionVector(changed),
            sync=job.write.settings.sync,
            inline_bytes=log.limits.inline_bytes,
        )
    return ReplaceColumn(
        table=plan.table.id,
        rowset=rowset.id,
        replacement=replacement_of(done.stored, ids),
        statistics=done.stored.statistics,
        changed=vector,
        predecessors=rowset.amendments.holders(ids) or None,
    )
