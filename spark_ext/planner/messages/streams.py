"""Requests of a stream that reads a table."""

from __future__ import annotations

from collections.abc import Mapping

from colonnade.spark_ext.planner.messages.base import Message, Question, Request
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.tableformat.streams.admission import Limits
from colonnade.tableformat.streams.backlog import Backlog
from colonnade.tableformat.streams.source import StreamRules


class AskedStream(Message):
    """What a user asks of a stream, and what it shows.

    The table had the name `name` when the stream was loaded. The rows have its columns at that
    time: `table_schema` is the JSON of a `TableSchema`, because retention may remove that epoch
    while the stream runs.

    `start` is as in `AskedChanges`, or `latest`; None begins with the rows of the table.
    """

    name: str
    table_schema: str
    start: str | None
    rules: StreamRules
    limits: Limits


class LoadStream(Question):
    """Describe the stream of the table at `path` that the `options` of `readStream` ask for."""

    path: str
    options: Mapping[str, str]
    query: int | None = None


class LoadedStream(Message):
    """A stream, and what later requests return: the `view` and the `stream`.

    `columns` is the Spark schema. The rows have the columns of the table at the epoch of the view.
    """

    path: str
    view: NamedView
    columns: str
    stream: AskedStream


class LatestOffset(Question):
    """Say where a trigger ends that begins at `start` and takes what fits the `limits`.

    `start` is an offset in JSON; None: the stream begins. The trigger reads no epoch after `last`.
    """

    view: NamedView
    stream: AskedStream
    start: str | None
    limits: Limits
    last: int | None


class FoundOffset(Message):
    """An `offset` in JSON, and the `newest` epoch."""

    offset: str
    newest: int


class PlanStream(Request):
    """Plan the tasks that read the rows from the offset `start` up to the offset `end`.

    `start` is as in `LatestOffset`. About `parallelism` tasks run at once. The stream with the
    checkpoint at a place, `checkpoint`, keeps the epochs from `start` on.
    """

    view: NamedView
    stream: AskedStream
    start: str | None
    end: str
    parallelism: int
    checkpoint: str


class StreamBacklog(Question):
    """Say how far the newest epoch is ahead of an `offset`."""

    view: NamedView
    offset: str


class FoundBacklog(Message):
    """How far a stream is behind."""

    backlog: Backlog
