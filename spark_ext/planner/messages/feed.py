"""Requests about the change feed of a table."""

from __future__ import annotations

from collections.abc import Mapping

from colonnade.spark_ext.planner.messages.base import Message, Question
from colonnade.spark_ext.planner.messages.clauses import Tree
from colonnade.spark_ext.planner.messages.views import NamedView


class AskedChanges(Message):
    """Which changes a user asks for.

    `start` and `end` are an epoch, or `@` and a time in microseconds since 1970 UTC. Without a
    `start`, conditions on the columns of the feed state the range. `inclusive` and `also` are those
    of `ArrowTable.changes`. Unless `updates`, an update is a deleted and an inserted row.

    The changes are read for the `consumer`, if there is one. The commit of the `transaction` moves
    it, which is that of the session.
    """

    start: str | None
    end: str | None
    inclusive: str
    net: bool
    updates: bool
    also: tuple[str, ...]
    allow_future: bool
    consumer: str | None
    transaction: str | None


class LoadChanges(Question):
    """Describe the changes of the table at `path` that the `options` of a read ask for.

    `query` is as in `Load`.
    """

    path: str
    options: Mapping[str, str]
    query: int | None = None


class LoadedChanges(Message):
    """The changes of a table, and what later requests return: the `view` and the `changes`.

    `columns` is the Spark schema: the columns of the table, and those of the feed.
    """

    path: str
    name: str
    view: NamedView
    columns: str
    changes: AskedChanges


class ScanChanges(Question):
    """Plan a read of some `columns` of the table, and of all columns of the feed.

    `filters` choose epochs and skip data; Spark applies them again. There are about `parallelism`
    tasks at once.
    """

    view: NamedView
    changes: AskedChanges
    columns: tuple[str, ...]
    filters: tuple[Tree, ...]
    parallelism: int


class MoveConsumer(Question):
    """Move the consumer that changes of the `view` are read for, because a query reads them."""

    view: NamedView
    changes: AskedChanges


class PlannedChanges(Message):
    """The `tasks` of a read as JSON, and the most `rows` and stored `bytes` that it reads."""

    tasks: tuple[str, ...]
    rows: int
    bytes: int
