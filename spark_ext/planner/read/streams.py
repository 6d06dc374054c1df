"""Answer the requests of a stream that reads a table: describe it, find offsets, plan tasks."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.spark_ext.options.streams import parse_stream_options
from colonnade.spark_ext.planner.messages.base import operation
from colonnade.spark_ext.planner.messages.feed import PlannedChanges
from colonnade.spark_ext.planner.messages.streams import (
    AskedStream,
    FoundBacklog,
    FoundOffset,
    LatestOffset,
    LoadedStream,
    LoadStream,
    PlanStream,
    StreamBacklog,
)
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.spark_ext.planner.read.feed import bound_of, bound_text
from colonnade.spark_ext.planner.read.feed_tasks import Change, planned_changes
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import place_of
from colonnade.spark_ext.types import declared_json
from colonnade.tableformat.feed.changes import FEED_COLUMNS
from colonnade.tableformat.scan.other_columns import table_with_nulls
from colonnade.tableformat.streams.backlog import Backlog, backlog
from colonnade.tableformat.streams.leases import lease_name, renew_lease
from colonnade.tableformat.streams.offsets import Offset, parse_offset
from colonnade.tableformat.streams.pieces import Piece, joined
from colonnade.tableformat.streams.source import TableStream, dropped_error
from colonnade.tableformat.streams.start import LATEST, first_offset
from colonnade.tableformat.table.change_plan import check_names

_log = logging.getLogger(__name__)

_MOST_FOUND = 8
_FOUND: OrderedDict[tuple[NamedView, AskedStream, str | None, str], tuple[Piece, ...]] = (
    OrderedDict()
)
"""The newest triggers that were found and are not planned yet. Spark asks for each of them twice.

Another planner, or one that was started again, finds the same pieces anew.
"""


@operation
def load_stream(request: LoadStream) -> LoadedStream:
    """Raise InvalidInputError for wrong options; NotFoundError without a table at the path."""
    read = parse_stream_options({**request.options, "path": request.path})
    location, head = SNAPSHOTS.newest(read.address, request.query)
    table = location.require_at(head, head)
    own = FEED_COLUMNS if read.rules.changes else ()
    if own:
        check_names(table)
    shown = table_with_nulls(table).schema
    return LoadedStream(
        path=location.url,
        view=NamedView(
            url=location.store.url,
            options=location.store.address.options or "",
            database=head.database,
            table=table.id,
            epoch=head.epoch,
        ),
        columns=declared_json(TableSchema(fields=(*shown.fields, *own))),
        stream=AskedStream(
            name=table.name,
            table_schema=shown.model_dump_json(),
            start=LATEST if read.start == LATEST else bound_text(read.start, head),
            rules=read.rules,
            limits=read.limits,
        ),
    )


class _Stream(NamedTuple):
    """A stream, the log that it reads, and the newest state of the database."""

    log: Log
    head: Snapshot
    source: TableStream

    def start(self, asked: AskedStream, offset: str | None, end: Offset | None = None) -> Offset:
        """Return the offset of a text. Without a text, return where the stream begins or began."""
        if offset is not None:
            return parse_offset(offset)
        if end is not None:
            return end.beginning()
        start = asked.start if asked.start == LATEST else bound_of(asked.start)
        return first_offset(self.log, self.head, self.source.shown, start)


def _stream(view: NamedView, asked: AskedStream, start: str | None) -> _Stream:
    location, head = SNAPSHOTS.newest(place_of(view))
    log = SNAPSHOTS.log(location.store)
    table = head.tables.get(TableId(view.table))
    if table is None:
        raise dropped_error(asked.name)
    columns = TableSchema.model_validate_json(asked.table_schema)
    shown = replace(table, schema=columns, changed_epoch=view.epoch)
    address, known = location.store.address, None
    if start is not None:
        offset = parse_offset(start)
        known = SNAPSHOTS.kept(address, head.database, offset.epoch - (not offset.in_snapshot))
    SNAPSHOTS.keep(address, head)  # The next trigger may begin after it.
    return _Stream(log, head, TableStream(log.reader, shown, asked.rules, known))


@operation
def latest_offset(request: LatestOffset) -> FoundOffset:
    """Raise as `first_offset` and `TableStream.latest`."""
    stream = _stream(request.view, request.stream, request.start)
    head = stream.head
    start = stream.start(request.stream, request.start)
    last = head.epoch if request.last is None else min(head.epoch, request.last)
    found = stream.source.trigger(head, start, request.limits, last)
    end = found.end.to_json()
    _FOUND[request.view, request.stream, request.start, end] = found.pieces
    while len(_FOUND) > _MOST_FOUND:
        _FOUND.popitem(last=False)
    return FoundOffset(offset=end, newest=head.epoch)


@operation
def plan_stream(request: PlanStream) -> PlannedChanges:
    """Raise as `TableStream.between`. A lease that cannot be taken is only logged."""
    stream = _stream(request.view, request.stream, request.start)
    end = parse_offset(request.end)
    start = stream.start(request.stream, request.start, end)
    _keep(stream, lease_name(request.checkpoint), start)
    found = _FOUND.pop((request.view, request.stream, request.start, request.end), None)
    pieces = stream.source.between(stream.head, start, end) if found is None else found
    changes = [
        Change(task, each.version, each.time_ms) for each in joined(pieces) for task in each.tasks
    ]
    return planned_changes(request.view, stream.source.feed(), changes, request.parallelism)


def _keep(stream: _Stream, name: str, start: Offset) -> None:
    """Keep the epochs that a stream has not read from vacuum, where this process may write."""
    table = stream.source.shown
    try:
        after = renew_lease(stream.log, stream.head, table, name, start)
    except ColonnadeError as error:
        _log.warning("A stream of table %s has no lease of its epochs: %s", table.name, error)
        return
    if after is not None:
        SNAPSHOTS.committed(stream.log.store.address, after)


@operation
def stream_backlog(request: StreamBacklog) -> FoundBacklog:
    """Raise InvalidInputError for an offset that cannot be read."""
    location, head = SNAPSHOTS.newest(place_of(request.view))
    offset = parse_offset(request.offset)
    table = head.tables.get(TableId(request.view.table))
    if table is None:  # The next batch says so.
        return FoundBacklog(backlog=Backlog())
    reader = SNAPSHOTS.log(location.store).reader
    return FoundBacklog(backlog=backlog(reader, head, table, offset))
