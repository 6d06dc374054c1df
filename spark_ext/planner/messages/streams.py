"""Requests of a stream that reads a table."""

from __future__ import annotations

from collections.abc import Mapping

from colonnade.spark_ext.planner.messages.base import Message, Question, Request
from colonnade.spark_ext.planner.messages.views import NamedView


class StreamLimits(Message):
    """The most RowSets (`files`), stored `bytes` and `rows` of a trigger. None: no limit."""

    files: int | None = None
    bytes: int | None = None
    rows: int | None = None


class AskedStream(Message):
    """What a user asks of a stream, and what it shows.

    The table had the name `name` when the stream was loaded, and the columns `shown`, the JSON of a
    `TableSchema`. Retention may remove that epoch while the stream runs.

    `start` is as in `AskedChanges`, or `latest`; None begins with the rows of the table. The other
    fields are those of `StreamRules`, and the `limits` of the options.
    """

    name: str
    shown: str
    start: str | None
    changes: bool
    updates: bool
    ignore_deletes: bool
    ignore_changes: bool
    skip_changes: bool
    fail_on_loss: bool
    fail_on_new_columns: bool
    limits: StreamLimits


class LoadStream(Question):
    """Describe the stream of the table at `path` that the `options` of `readStream` ask for."""

    path: str
    options: Mapping[str, str]
    query: int | None = None


class LoadedStream(Message):
    """A stream, and what later requests return: the `view`, and what was `asked` for.

    `columns` is the Spark schema. The rows have the columns of the table at the epoch of the view.
    """

    path: str
    view: NamedView
    columns: str
    asked: AskedStream


class LatestOffset(Question):
    """Say where a trigger ends that begins at `start` and takes what fits the `limits`.

    `start` is an offset in JSON; None: the stream begins. The trigger reads no epoch after `last`.
    """

    view: NamedView
    asked: AskedStream
    start: str | None
    limits: StreamLimits
    last: int | None


class FoundOffset(Message):
    """An `offset` in JSON, and the `newest` epoch."""

    offset: str
    newest: int


class PlanStream(Request):
    """Plan the tasks that read what lies between the offsets `start` and `end`.

    `start` is as in `LatestOffset`. About `parallelism` tasks run at once. The stream with the
    checkpoint at a place, `checkpoint`, keeps the epochs from `start` on.
    """

    view: NamedView
    asked: AskedStream
    start: str | None
    end: str
    parallelism: int
    checkpoint: str


class StreamBacklog(Question):
    """Say how far the newest epoch is ahead of an `offset`."""

    view: NamedView
    offset: str


class Backlog(Message):
    """How far a stream is behind: `epochs`, and `seconds` from the first of them to the last."""

    epochs: int
    seconds: int
