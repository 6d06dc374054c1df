"""Requests about columns whose values Spark writes anew beside the rows that have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from colonnade.spark_ext.planner.messages.base import Message, OneTimeRequest, Question, Request
from colonnade.spark_ext.planner.messages.clauses import Tree
from colonnade.spark_ext.planner.messages.views import NamedView


class Update(Message):
    """An UPDATE or MERGE whose columns may be replaced.

    It has the `job` of the planned write, the `view` that it reads, whether its changed rows
    are `counted`, the names of the `columns` that it sets, the number of columns that it `reads`
    for a count, and the `filters` of its scan, or None. `least` is the text of a size that takes
    the place of those in `column_updates.py`, or None.
    """

    job: str
    view: NamedView
    counted: bool
    columns: tuple[str, ...]
    reads: int
    filters: tuple[Tree, ...] | None
    least: str | None = None


class UpdatedRowsets(Question):
    """Ask for the ids of the RowSets whose changed rows are to be counted."""

    update: Update


class RowSetIds(Message):
    """Ids of RowSets."""

    rowsets: tuple[int, ...]


class ChooseColumns(Question):
    """Choose the RowSets in which to replace columns.

    `counts` has the number of changed rows by RowSet id, among the RowSets that `UpdatedRowsets`
    returned; None means that all rows change.
    """

    update: Update
    counts: Mapping[int, int] | None


class AskedRowSet(Message):
    """A RowSet whose columns a task writes: its id, and what the task needs of it as JSON."""

    id: int
    task: str


class ChosenColumns(Message):
    """The `task` of each of Spark's tasks, and the RowSets in which they replace columns.

    `live_rowsets` is what the commit needs of these RowSets, and `others` are the ids of the other
    RowSets that have changed rows. There are none if the changed rows take few bytes.
    """

    task: str | None = None
    live_rowsets: tuple[str, ...] = ()
    rowsets: tuple[AskedRowSet, ...] = ()
    others: tuple[int, ...] = ()


class PlanFill(Request):
    """Plan to fill `column` of the table at `path`, from the columns `reads`.

    The values were resolved on the `view`. `added` is Spark's schema of a new column,
    and None for one that the table has; then `where` is the condition as text, or None.
    """

    path: str
    view: NamedView
    column: str
    reads: tuple[str, ...]
    added: str | None
    where: str | None = None


class FillRound(Message):
    """RowSets at an `epoch` that have no values yet.

    `live_rowsets` is what the commit needs of them.
    """

    epoch: int
    live_rowsets: tuple[str, ...]
    rowsets: tuple[AskedRowSet, ...]


class PlannedFill(Message):
    """The job of a fill, the `task` of each of Spark's tasks, and the first round."""

    fill: str
    task: str
    first: FillRound


class CommitFill(OneTimeRequest):
    """Commit the `reports` of tasks on the `live_rowsets`; or ask for further RowSets."""

    fill: str
    database: str
    live_rowsets: tuple[str, ...]
    reports: tuple[str, ...]


class Filled(Message):
    """The result `rows` of the procedure, or the next round, when nothing was committed."""

    rows: Any = None
    next: FillRound | None = None
