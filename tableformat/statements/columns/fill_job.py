"""Fill a column with values that another engine computes and writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import ColumnNumber
from colonnade.manifests.model.operations import Operation
from colonnade.manifests.model.schema import Model
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.state.view import View
from colonnade.tableformat.statements.columns.fill import FilledRowSet, FillPlan, with_columns
from colonnade.tableformat.statements.columns.written_columns import decode_columns
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


class UnfilledError(Exception):
    """RowSets of a state have no values yet, and only the engine can compute them."""

    def __init__(self, head: Snapshot, view: View) -> None:
        super().__init__(head.epoch)
        self.head = head
        self.view = view


def leave_to_engine(head: Snapshot, view: View) -> Iterable[FilledRowSet]:
    """Raise UnfilledError: this is the `Write` of a fill by another engine."""
    raise UnfilledError(head, view)


def decode_filled(
    log: Log, job: FillJob, plan: FillPlan, asked: Iterable[str], reports: Iterable[str]
) -> list[FilledRowSet]:
    """Return what the tasks have written of the RowSets that the engine was asked for.

    Raises the errors of `decode_columns`.
    """
    return decode_columns(log, job.write, plan.table, (plan.target,), asked, reports)
