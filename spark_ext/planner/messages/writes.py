"""Requests of a write: a plan before the rows, a commit after them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from colonnade.spark_ext.planner.messages.base import Message, Question, Request
from colonnade.spark_ext.planner.messages.clauses import (
    Design,
    HistoryText,
    Layout,
    LayoutField,
    OrderField,
    Tree,
    UserColumns,
)
from colonnade.spark_ext.planner.messages.views import NamedView


class CheckWriteOptions(Question):
    """Check the options of a write, before anything else."""

    options: Mapping[str, str]


class RefuseTableOptions(Question):
    """Refuse `options` of a statement that creates a table without rows."""

    options: Mapping[str, str]


class StreamTarget(Message):
    """The table that a stream writes to. Without one, the first batch creates it.

    `landed` says whether the batch of the request was committed before.
    """

    database: str | None = None
    table: str | None = None
    landed: bool = False


class CheckStream(Question):
    """Check the `options` of a stream that writes to `path` in an output `mode` of Spark.

    `known` is the table that the stream has written to. `number` is that of the batch which is
    about to be written, and `query` the id of the stream; both are None before the first batch.
    """

    path: str
    options: Mapping[str, str]
    mode: Literal["append", "complete", "update"]
    known: StreamTarget | None = None
    query: str | None = None
    number: int | None = None


class PlanWrite(Question):
    """Plan a write to the table at `path` of rows with the Spark schema `columns`.

    `overwrite` deletes all rows. With `where`, it deletes the rows that these filters select; with
    `dynamic`, the partitions that get new rows.

    `filled` names the generated columns that Spark computes in the rows, or is None if the
    statement writes no rows. `view` is what the statement has read, or None for the newest state.
    The epoch of the write first gives the table what it lacks for `view.evolving`. `design`
    describes a table to create. `transaction` is an id to commit under, if any. `query` is as in
    `Load`. `layout` is that of a table without a design: one that is new, or whose columns the
    option overwriteSchema replaces. Without `user_columns`, the user gave all columns.
    """

    path: str
    columns: str
    options: Mapping[str, str]
    view: NamedView | None = None
    design: Design | None = None
    overwrite: bool = False
    where: tuple[Tree, ...] | None = None
    dynamic: bool = False
    transaction: str | None = None
    filled: tuple[str, ...] | None = ()
    user_columns: UserColumns | None = None
    layout: Layout | None = None
    query: int | None = None


class PlannedJob(Message):
    """A planned write: its `job` for the commit, and the `task` of each of Spark's tasks, as JSON.

    If `exact` is false, only Spark can find the rows that `where` selects; the caller then uses
    `CommitOverwrite`. `identified` says whether the table has identity columns. `database` is None
    if the write creates it.
    """

    job: str
    task: str
    exact: bool
    identified: bool
    ordering: tuple[OrderField, ...]
    partitioning: tuple[LayoutField, ...]
    path: str
    database: str | None


class Commit(Request):
    """Base of what commits a `job`, whose plan named the `database`."""

    job: str
    database: str | None


class Committed(Message):
    """The epoch after a commit: the job's base if nothing was changed.

    If the statement is refused in a way that the caller mends or words itself, there is none, and
    `refused` says why.
    """

    epoch: int | None = None
    refused: str | None = None


class CommitWrite(Commit):
    """Commit the RowSets that the tasks of a `job` wrote in one epoch; `messages` list them.

    For a MERGE that only inserts rows, `merged` has the `keys` of `CommitRows`. If several rows of
    a MERGE by the primary key match one row, the reply is a refusal.
    """

    messages: tuple[str, ...]
    merged: tuple[str, ...] | None = None
    history: HistoryText = HistoryText()


class ReplacedColumns(Message):
    """The names of replaced columns, the `live_rowsets` of the tasks, and their `reports`."""

    names: tuple[str, ...]
    live_rowsets: tuple[str, ...]
    reports: tuple[str, ...]


class CommitRows(Commit):
    """Commit the reports of a `job`'s tasks, in `messages`, as one statement of a `kind`.

    `filters` are the filters of the statement's scan, or None if they are not known. `keys` are
    the columns whose equal values decided that a row to insert was missing. `keys` is empty if
    another condition decided that, and None if no row was inserted because it was missing.
    `columns`, if given, are columns that tasks replaced. If only these are in conflict with a
    concurrent writer, the reply is a refusal. The caller may then move the rows instead, by the
    same job.
    """

    kind: Literal["delete", "update", "merge"]
    messages: tuple[str, ...]
    filters: tuple[Tree, ...] | None
    keys: tuple[str, ...] | None
    columns: ReplacedColumns | None = None
    history: HistoryText = HistoryText()


class CommitOverwrite(Commit):
    """Commit RowSets that the tasks of a `job` wrote in place of rows that the caller found.

    The caller found the rows at the job's base. `messages` are the entries of the new RowSets,
    `overwritten` the reports of the overwritten rows, and `filters` the parts of their condition
    that are filters.
    """

    messages: tuple[str, ...]
    overwritten: tuple[str, ...]
    filters: tuple[Tree, ...]


class CanDelete(Question):
    """Ask whether the rows that `filters` select can be deleted without being read.

    `count_rows` is the text of the setting that says whether the deleted rows are to be counted.
    """

    view: NamedView
    filters: tuple[Tree, ...]
    count_rows: str


class DeleteWhere(Request):
    """Delete the rows of the table at `path` that `filters` select in a `view` of it.

    `options` are those of the statement. The epoch is committed under the id `transaction`, which
    the jar makes for this request.
    """

    path: str
    view: NamedView
    filters: tuple[Tree, ...]
    options: Mapping[str, str]
    history: HistoryText = HistoryText()
    transaction: str


class ColumnsOfAppend(Question):
    """Ask how Spark analyzes an append of rows for which the user gave the columns `names`.

    `path`, `view` and `options` are those of `PlanWrite`.
    """

    path: str
    view: NamedView
    names: tuple[str, ...]
    options: Mapping[str, str]


class MergeByKey(Question):
    """Ask how Spark analyzes a MERGE that finds its rows by the primary key, without a join.

    `path`, `view` and `options` are those of `PlanWrite`. The MERGE compares the columns `keys`,
    and sets the columns `names`, which include them. What its source reads takes `bytes`, and
    `most` is the setting of the most bytes, or None.
    """

    path: str
    view: NamedView
    keys: tuple[str, ...]
    names: tuple[str, ...]
    bytes: int
    most: str | None
    options: Mapping[str, str]


class AnalyzedRows(Message):
    """`user_columns` of `PlanWrite`, and the Spark schema in which other columns are nullable.

    Both are None if rows do not merge by their keys, or if a MERGE has to join.
    """

    user_columns: UserColumns | None = None
    columns: str | None = None


class ExpiringRows(Question):
    """Ask which column says when new rows expire, and the time to store in other rows.

    The fields are those of `PlanWrite`, and `options` has a time to live.
    """

    path: str
    view: NamedView
    options: Mapping[str, str]


class Expiring(Message):
    """A column, and the time to store in it, in its unit."""

    column: str
    stored: int


class DrawIdentity(Request):
    """Take values of the identity column with the id `column`, for one task of a `job`.

    The task gets at least one value and at most `count`. `beyond`, if given, is the farthest value
    that the task's own rows have: all values lie beyond it. Values are texts, because they have 64
    bits.
    """

    job: str
    column: int
    count: int
    beyond: str | None = None


class Drawn(Message):
    """The `first` value and the `count`; each later value is one step of the column further."""

    first: str
    count: int


class RecordIdentity(Request):
    """Remember the farthest value that the rows of a task of a `job` have in an identity column."""

    job: str
    column: int
    farthest: str
