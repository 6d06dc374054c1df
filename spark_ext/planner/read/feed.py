"""Answer the requests for a read of changes: describe them, and plan its tasks.

The planner decides which rows changed, from the log and from deletion vectors. The tasks read these
rows, and compare the values of updated ones.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from colonnade.manifests.clock import moment
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import open_store
from colonnade.spark_ext.options.changes import ChangeOptions, parse_change_options
from colonnade.spark_ext.planner.clauses.filters import predicate_of
from colonnade.spark_ext.planner.messages.base import Done, operation
from colonnade.spark_ext.planner.messages.feed import (
    AskedChanges,
    LoadChanges,
    LoadedChanges,
    MoveConsumer,
    PlannedChanges,
    ScanChanges,
)
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.spark_ext.planner.read.feed_tasks import Change, planned_changes
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import place_of
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS, is_state
from colonnade.spark_ext.types import declared_json
from colonnade.tableformat.feed.changes import FEED_COLUMNS, known_columns
from colonnade.tableformat.feed.tasks import tasks_of
from colonnade.tableformat.table.change_plan import ChangeQuery, plan_changes, stated_changes
from colonnade.tableformat.table.consumers import first_unread
from colonnade.tableformat.table.epochs.epoch_range import Bound
from colonnade.tableformat.table.epochs.tags_and_pins import is_tag, tagged_epoch

_TIME = "@"
"""Stands before a time in the text of a bound; any other text is an epoch."""


@operation
def load_changes(request: LoadChanges) -> LoadedChanges:
    """Raise InvalidInputError for wrong options, and as `stated_changes` and `first_unread`."""
    read = parse_change_options({**request.options, "path": request.path})
    found = SNAPSHOTS.find(read.address, query=request.query)
    log = SNAPSHOTS.log(found.location.store)
    state, table = _committed(log, found.state, found.table)
    asked = _asked(read, state)
    if read.consumer is not None:
        if not is_state(found.state.epoch):
            raise InvalidInputError(
                f"Consumer {read.consumer!r} is moved by the commit of a transaction; begin one on"
                f" database {found.location.store.url} first."
            )
        first = first_unread(state, table, read.consumer)
        asked = asked.model_copy(update={"start": str(first), "allow_future": True})
    stated = stated_changes(log, state, table, _query(asked, read.schema_epoch))
    return LoadedChanges(
        path=found.location.url,
        name=table.name,
        view=NamedView(
            url=found.location.store.url,
            options=found.location.store.address.options or "",
            database=state.database,
            table=table.id,
            epoch=state.epoch,
            schema_epoch=stated.shown_epoch,
        ),
        columns=declared_json(TableSchema(fields=(*stated.shown.schema.fields, *FEED_COLUMNS))),
        changes=asked,
    )


def _committed(log: Log, state: Snapshot, table: TableState) -> tuple[Snapshot, TableState]:
    """Return the epoch that the state of a transaction is based on; any other state as it is."""
    if not is_state(state.epoch):
        return state, table
    base = log.reader.read_at(TRANSACTIONS.holding(state.epoch).base)
    if table.id not in base.tables:
        raise NotFoundError(
            f"Table {table.name!r} was created in this transaction, and has no changes before it is"
            " committed."
        )
    return base, base.tables[table.id]


def _asked(read: ChangeOptions, state: Snapshot) -> AskedChanges:
    return AskedChanges(
        start=bound_text(read.start, state),
        end=bound_text(read.end, state),
        inclusive=read.inclusive,
        net=read.net,
        updates=read.updates,
        also=read.also,
        allow_future=read.allow_future,
        consumer=read.consumer,
        transaction=TRANSACTIONS.id,
    )


def bound_text(bound: str | datetime | None, state: Snapshot) -> str | None:
    """Return a bound as text. A tag becomes its epoch; NotFoundError names the known tags."""
    if isinstance(bound, datetime):
        return f"{_TIME}{(bound - moment(0)) // timedelta(microseconds=1)}"
    return str(tagged_epoch(state, bound)) if bound is not None and is_tag(bound) else bound


def bound_of(text: str | None) -> Bound | None:
    if text is None:
        return None
    return moment(int(text[1:]) // 1000) if text.startswith(_TIME) else int(text)


def _query(asked: AskedChanges, schema_epoch: int | None, **more: Any) -> ChangeQuery:
    return ChangeQuery(
        bound_of(asked.start),
        bound_of(asked.end),
        net=asked.net,
        inclusive=asked.inclusive,  # type: ignore[arg-type]  # `epoch_range` refuses other words
        allow_future=asked.allow_future,
        also=asked.also,  # type: ignore[arg-type]  # the plan refuses other words
        schema_epoch=schema_epoch,
        updates=asked.updates,
        **more,
    )


@operation
def scan_changes(request: ScanChanges) -> PlannedChanges:
    """Raise as `ArrowTable.changes`.

    Raise InvalidInputError for types that tasks cannot show, and for changes that a consumer reads
    in another transaction.
    """
    named = request.view
    head, table = SNAPSHOTS.of_view(named)
    _, shown = SNAPSHOTS.of_view(named.model_copy(update={"epoch": named.schema_epoch}))
    where = predicate_of(request.filters, known_columns(shown))
    log = Log(open_store(place_of(named)))
    asked = _query(request.changes, named.schema_epoch, where=where)
    plan = plan_changes(log, head, table, asked)
    _check_transaction(request.changes)
    changes = [
        Change(task, each.last.number, each.last.epoch.time_ms)
        for each in plan.differences()
        for task in tasks_of(plan.feed, each, request.columns)
    ]
    return planned_changes(named, plan.feed, changes, request.parallelism)


@operation
def move_consumer(request: MoveConsumer) -> Done:
    """Raise InvalidInputError for changes that a consumer reads in another transaction."""
    _check_transaction(request.changes)
    transaction, consumer = TRANSACTIONS.current(), request.changes.consumer
    if transaction is not None and consumer is not None:
        transaction.move(consumer, SNAPSHOTS.of_view(request.view)[1])
    return Done()


def _check_transaction(asked: AskedChanges) -> None:
    """Refuse changes for a consumer that were loaded in a transaction which has ended."""
    if asked.consumer is not None and TRANSACTIONS.id != asked.transaction:
        raise InvalidInputError(
            f"The changes that consumer {asked.consumer!r} reads belong to a transaction that has"
            " ended; load them again in the present one."
        )
