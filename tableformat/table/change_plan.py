"""Which changes of a table a user asks for, and the plan that reads them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.feed.steps import read_steps
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.feed.changes import FEED_COLUMNS, Feed, known_columns
from colonnade.tableformat.feed.difference import Difference
from colonnade.tableformat.predicate import Where, bind, parse_predicate
from colonnade.tableformat.rowset.column import asked_columns
from colonnade.tableformat.scan.other_columns import table_with_nulls
from colonnade.tableformat.table.epochs.epoch_range import (
    Bound,
    EpochRange,
    Inclusive,
    allowed_epochs,
    epoch_range,
    last_epoch,
)
from colonnade.tableformat.table.epochs.time_travel import epoch_number, seen_ms

AlsoChange: TypeAlias = Literal["expired", "fills", "statics"]
"""What counts as a change of a row only if a user asks for it: that a compaction removes an expired
row; a value that a backfill computed; other static values."""


_OWN_NAMES = frozenset(each.name for each in FEED_COLUMNS)


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """Which changes a user asks for, as `ArrowTable.changes` describes its arguments."""

    start: Bound | None = None
    end: Bound | None = None
    columns: Sequence[str] | None = None
    where: Where | None = None
    net: bool = False
    follow: bool = False
    inclusive: Inclusive = "both"
    allow_future: bool = False
    also: Collection[AlsoChange] = ()
    schema_epoch: int | None = None
    updates: bool = True


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """The changes that were asked for: a feed, and the epochs of `span`.

    `head` is a state at the end of the span or later. `net` means one change for all epochs.
    """

    feed: Feed
    head: Snapshot
    span: EpochRange
    net: bool = False

    def differences(self) -> Iterator[Difference]:
        """Yield which rows the epochs change. Raises as `Changes.to_batches`."""
        if not self.span.is_empty:
            yield from self.after(self.before(), self.span.last, self.feed.now_ms)

    def before(self) -> Snapshot:
        """Return the state before the span. Raises as `Changes.to_batches`."""
        epoch = min(self.span.first - 1, self.head.epoch)
        return self.feed.reader.read_at(epoch, head=self.head)

    def after(self, before: Snapshot, last: int, now_ms: int | None) -> Iterator[Difference]:
        """Yield which rows the epochs after a state change, up to `last`, as seen at a time.

        Raises as `Changes.to_batches`.
        """
        feed = replace(self.feed, now_ms=None if self.feed.now_ms is None else now_ms)
        with feed.reader.naming_removals(before.epoch):
            steps = read_steps(feed.reader, feed.shown.id, before, last, statics=feed.statics)
            yield from feed.differences(steps, net=self.net)


@dataclass(frozen=True, slots=True)
class StatedChanges:
    """What bounds say about changes: their epochs, a state at their end, the table that is shown.

    `span` is None without a start. `shown_epoch` is the epoch of the table whose columns they have.
    """

    span: EpochRange | None
    last: Snapshot
    shown: TableState
    shown_epoch: int


def stated_changes(
    log: Log, head: Snapshot, table: TableState, asked: ChangeQuery
) -> StatedChanges:
    """Return what the bounds of changes say. Raises as `ArrowTable.changes`."""
    for name, value in (("net", asked.net), ("follow", asked.follow)):
        if not isinstance(value, bool):
            raise InvalidInputError(f"Changes take True or False for {name}, not {value!r}.")
    if asked.follow and asked.end is not None:
        raise InvalidInputError("A feed that follows its table has no end; leave `end` out.")
    if asked.follow and asked.allow_future:
        raise InvalidInputError(
            "A feed that follows its table begins with the next epoch or an earlier one; leave"
            " `allow_future` out."
        )
    span = None
    if asked.start is not None:
        span = epoch_range(
            log,
            head,
            table,
            asked.start,
            asked.end,
            inclusive=asked.inclusive,
            allow_future=asked.allow_future,
            follow=asked.follow,
        )
        end = span.last
    else:
        end = last_epoch(
            log, head, table, asked.end, asked.inclusive, allow_future=asked.allow_future
        )
    end = min(max(end, table.created_epoch), head.epoch)
    last = log.reader.read_at(end, head=head)
    then = last
    if asked.schema_epoch is not None:
        then = log.reader.read_at(epoch_number(asked.schema_epoch), head=head)
    shown = then.tables.get(table.id)
    if shown is None:
        raise NotFoundError(
            f"Table {table.name!r} does not exist at epoch {then.epoch}, whose columns the changes"
            f" would have; name a `schema_epoch` at which it exists, such as {head.epoch}."
        )
    check_names(shown)
    return StatedChanges(span, last, table_with_nulls(shown), then.epoch)


def plan_changes(log: Log, head: Snapshot, table: TableState, asked: ChangeQuery) -> ChangePlan:
    """Return the changes that are asked for of a table at the newest state.

    Reads the states at the bounds, and no data. Raises as `ArrowTable.changes`.
    """
    stated = stated_changes(log, head, table, asked)
    shown, last = stated.shown, stated.last
    where = None if asked.where is None else parse_predicate(asked.where)
    if where is not None:
        bind(where, known_columns(shown))  # before a transaction moves a consumer
    allowed = allowed_epochs(log, head, shown, last.epoch, where)
    if stated.span is None and allowed is None:
        raise InvalidInputError(
            f"The changes of table {table.name!r} need a start: an epoch, a time or a tag, or a"
            " condition such as `_commit_version >= 0`. A start of 0 is the epoch that created the"
            " table."
        )
    span = _narrowed(stated.span, allowed, asked)
    also = _also(asked.also)
    columns = shown.schema
    if asked.columns is not None:
        for name in asked.columns:
            if name in _OWN_NAMES:
                raise InvalidInputError(
                    f"Column {name!r} comes with each change; name columns of table {shown.name!r}"
                    " only."
                )
        columns = asked_columns(columns, asked.columns)
    feed = Feed(
        log.reader,
        shown,
        columns,
        where,
        None if "expired" in also else seen_ms(log.reader, last, pinned=asked.end is not None),
        "fills" in also,
        "statics" in also,
        asked.updates,
    )
    return ChangePlan(feed, head, span, asked.net)


def _narrowed(
    stated: EpochRange | None, allowed: EpochRange | None, asked: ChangeQuery
) -> EpochRange:
    """Return the epochs to read: those of a stated range that a condition allows."""
    if stated is None:
        assert allowed is not None
        return allowed
    # The rows of net changes have the last epoch of the range, which a condition does not move.
    if allowed is None or asked.net or asked.follow:
        return stated
    return EpochRange(max(stated.first, allowed.first), min(stated.last, allowed.last))


def _also(given: Collection[AlsoChange] | AlsoChange) -> frozenset[str]:
    """Return the words for what else counts as a change, of one word or several.

    Raises InvalidInputError for an unknown word.
    """
    words = [given] if isinstance(given, str) else list(given)
    known = get_args(AlsoChange)
    for each in words:
        if each not in known:
            raise InvalidInputError(
                f"also takes the words {', '.join(map(repr, known))}, and not {each!r}."
            )
    return frozenset(words)


def check_names(table: TableState) -> None:
    """Raise InvalidInputError for a table with a column that is named like one of a feed."""
    for field in table.schema.fields:
        if field.name.casefold() in _OWN_NAMES:
            raise InvalidInputError(
                f"Table {table.name!r} has a column {field.name!r}, which is the name of a column"
                " of the change feed; rename it, and read the changes by `schema_epoch`."
            )
