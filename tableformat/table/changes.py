"""The changes of a table between two epochs: what `ArrowTable.changes` returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias, get_args

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.feed.steps import read_steps
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.feed.changes import FEED_COLUMNS, Feed
from colonnade.tableformat.predicate import Where, parse_predicate
from colonnade.tableformat.rowset.column import asked_columns
from colonnade.tableformat.scan.arrow_rows import ArrowRows
from colonnade.tableformat.scan.other_columns import with_nulls
from colonnade.tableformat.table.epochs.tags_and_pins import tagged_epoch
from colonnade.tableformat.table.epochs.time_travel import epoch_number, seen_ms, timestamp_ms

Bound: TypeAlias = int | str | datetime
"""An epoch, a time, or the name of a tag. Text is a time if no tag has that name."""

Inclusive: TypeAlias = Literal["both", "start", "end", "neither"]
"""Which of two bounds belong to a range of epochs."""

AlsoChange: TypeAlias = Literal["expired", "fills", "statics"]
"""What counts as a change of a row only if a user asks for it: that a compaction removes an expired
row; a value that a backfill computed; other static values."""

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 5.0


@dataclass(frozen=True, slots=True)
class EpochRange:
    """The epochs from `first` to `last`, both included; none if `last` is before `first`."""

    first: int
    last: int

    @property
    def is_empty(self) -> bool:
        """Whether no epoch is in the range."""
        return self.last < self.first


def epoch_range(
    log: Log,
    head: Snapshot,
    table: TableState,
    start: Bound,
    end: Bound | None,
    *,
    inclusive: Inclusive = "both",
    allow_future: bool = False,
) -> EpochRange:
    """Return the epochs that two bounds mean. Without an `end`, the last one is the newest epoch.

    A time as the start means the first epoch at or after it, and as the end the last one at or
    before it. A start of 0 means the epoch that created the table. A bound that is not `inclusive`
    does not belong to the range. With `allow_future`, a range may reach beyond the newest epoch,
    and ends there.

    Raises InvalidInputError for bounds that leave no epoch, and for an invalid bound. Raises
    NotFoundError for an epoch of the future, for one before the table was created, and for one
    whose changes retention has removed.
    """
    if inclusive not in get_args(Inclusive):
        known = ", ".join(map(repr, get_args(Inclusive)))
        raise InvalidInputError(f"inclusive must be one of {known}, not {inclusive!r}.")
    name = f"table {table.name!r}"
    first = _epoch(log, head, start, inclusive in ("both", "start"), is_start=True)
    last = head.epoch
    if end is not None:
        last = _epoch(log, head, end, inclusive in ("both", "end"), is_start=False)
    if not allow_future and max(first, last) > head.epoch:
        raise NotFoundError(
            f"Epoch {max(first, last)} of {name} does not exist yet; the newest epoch is"
            f" {head.epoch}. With allow_future, a range may reach beyond it."
        )
    if last < first and first <= head.epoch:
        raise InvalidInputError(
            f"The changes of {name} from {start!r} to {end!r} have no epoch: the first would be"
            f" {first}, and the last {last}. Choose a later end."
        )
    if first == 0:
        first = table.created_epoch
    if first < table.created_epoch:
        raise NotFoundError(
            f"T{name[1:]} was created by epoch {table.created_epoch}, so its changes cannot start"
            f" with epoch {first}."
        )
    if first <= head.floor:
        raise NotFoundError(
            f"The changes of {name} in epoch {first} were removed by retention; those of epoch"
            f" {head.floor + 1} and later can be read."
        )
    return EpochRange(first, min(last, head.epoch))


def _epoch(log: Log, head: Snapshot, bound: Bound, included: bool, *, is_start: bool) -> int:
    """Return the first or the last epoch of a range by one of its bounds."""
    if isinstance(bound, str) and bound in head.tags:
        bound = head.tags[bound]
    if not isinstance(bound, str | datetime):
        number = epoch_number(bound)
        if number < 0:
            raise InvalidInputError(f"An epoch must be 0 or more, not {number}.")
        return number + (not included) * (1 if is_start else -1)
    try:
        limit = timestamp_ms(bound)
    except InvalidInputError:
        if isinstance(bound, str) and not bound[:1].isdigit():
            tagged_epoch(head, bound)  # refuses it and names the tags
        raise
    # A start that is included begins after all epochs before its time.
    limit -= is_start == included
    try:
        last = log.reader.read_at(timestamp_ms=limit, head=head).epoch
    except NotFoundError:
        if not is_start or head.floor:
            raise
        return 0
    return last + is_start


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


Newest: TypeAlias = Callable[[], tuple[Snapshot, TableState]]
"""Returns the newest state of a database, and a table in it."""


def table_changes(log: Log, newest: Newest, asked: ChangeQuery) -> Changes:
    """Return the changes that are asked for. Raises as `ArrowTable.changes`."""
    head, table = newest()
    if asked.start is None:
        raise InvalidInputError(
            f"The changes of table {table.name!r} need a start: an epoch, a time or a tag. A start"
            " of 0 is the epoch that created the table."
        )
    for name, value in (("net", asked.net), ("follow", asked.follow)):
        if not isinstance(value, bool):
            raise InvalidInputError(f"Changes take True or False for {name}, not {value!r}.")
    if asked.follow and asked.end is not None:
        raise InvalidInputError("A feed that follows its table has no end; leave `end` out.")
    span = epoch_range(
        log,
        head,
        table,
        asked.start,
        asked.end,
        inclusive=asked.inclusive,
        allow_future=asked.allow_future or asked.follow,
    )
    last = log.reader.read_at(max(span.last, table.created_epoch), head=head)
    then, pinned = last, asked.end is not None
    if asked.schema_epoch is not None:
        then = log.reader.read_at(epoch_number(asked.schema_epoch), head=head)
    shown = then.tables.get(table.id)
    if shown is None:
        raise NotFoundError(
            f"Table {table.name!r} does not exist at epoch {then.epoch}, whose columns the changes"
            f" would have; name a `schema_epoch` at which it exists, such as {head.epoch}."
        )
    _check_names(shown)
    # Rows of other epochs may have NULL where the schema has NOT NULL.
    fields = tuple(with_nulls(each) for each in shown.schema.fields)
    shown = replace(shown, schema=TableSchema(fields=fields))
    also = _also(asked.also)
    columns = shown.schema
    if asked.columns is not None:
        columns = asked_columns(columns, asked.columns)
    feed = Feed(
        log.reader,
        shown,
        columns,
        None if asked.where is None else parse_predicate(asked.where),
        None if "expired" in also else seen_ms(log.reader, last, pinned=pinned),
        "fills" in also,
        "statics" in also,
    )
    return Changes(feed, head, newest, span, net=asked.net, follow=asked.follow)


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


def _check_names(table: TableState) -> None:
    """Refuse a table with a column that is named like one of a feed."""
    own = {each.name for each in FEED_COLUMNS}
    for field in table.schema.fields:
        if field.name.casefold() in own:
            raise InvalidInputError(
                f"Table {table.name!r} has a column {field.name!r}, which is the name of a column"
                " of the change feed; rename it, and read the changes by `schema_epoch`."
            )


@public
class Changes(ArrowRows):
    """The changes of a table in a range of epochs, as rows. Reads nothing until rows are asked for.

    A row has the columns of the table, and

        _change_type        insert, delete, update_preimage or update_postimage
        _commit_version     the epoch
        _commit_timestamp   the date of the epoch
        _row_handler        where the row is stored: RowSet * 2**32 + row

    An update has two rows: the row before it and the row after it. Batches are in the order of the
    epochs. In one epoch, a batch of rows before updates precedes the batch of the same rows after
    them, in the same order.
    """

    def __init__(
        self,
        feed: Feed,
        head: Snapshot,
        newest: Newest,
        span: EpochRange,
        *,
        net: bool = False,
        follow: bool = False,
    ) -> None:
        """`feed` shows what the epochs of `span` did, and with `follow` also all later epochs.

        `head` is a state at the end of the span or later.
        """
        self._feed = feed
        self._head = head
        self._newest = newest
        self._span = span
        self._net = net
        self._follow = follow

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the rows."""
        return self._feed.schema

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self.schema.names)

    @property
    def start(self) -> int:
        """The first epoch of the range."""
        return self._span.first

    @property
    def end(self) -> int:
        """The last epoch of the range. A feed that follows its table also reads later ones."""
        return self._span.last

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the changes as record batches, holding about two blocks of every column.

        It also holds a bitmap for each RowSet that one epoch has touched; net changes hold one for
        each RowSet that the whole range has touched. A feed that follows its table waits for new
        epochs, with pauses from 50 ms to 5 s, and has no end. Raises NotFoundError if retention
        removes an epoch before it was read, and when the table is dropped, even if it is restored
        later; CorruptionError, StoreError.
        """
        reader, first, head = self._feed.reader, self._span.first, self._head
        before = reader.read_at(min(first - 1, head.epoch), head=head)
        yield from self._after(before, self._span.last, self._feed.now_ms)
        pause = _FIRST_PAUSE_S
        while self._follow:
            before, (head, table) = head, self._newest()
            if table.created_epoch > before.epoch:
                raise NotFoundError(
                    f"Table {table.name!r} was dropped, and restored by epoch"
                    f" {table.created_epoch}; read its changes from that epoch on."
                )
            if head.epoch > before.epoch:
                yield from self._after(before, head.epoch, reader.query_ms(head))
                pause = _FIRST_PAUSE_S
            else:
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _after(self, before: Snapshot, last: int, now_ms: int | None) -> Iterator[pa.RecordBatch]:
        """Yield the changes of the epochs after a state, up to `last`, as seen at a time."""
        feed = replace(self._feed, now_ms=None if self._feed.now_ms is None else now_ms)
        with feed.reader.removals_are_told(before.epoch):
            steps = read_steps(feed.reader, feed.shown.id, before, last, statics=feed.statics)
            yield from (feed.of_all if self._net else feed.of_each)(steps)

    def to_arrow(self) -> pa.Table:
        """Read all changes into memory. Raises InvalidInputError for a feed without an end."""
        if self._follow:
            raise InvalidInputError(
                "A feed that follows its table has no end; iterate over it, or over its to_batches."
            )
        return pa.Table.from_batches(self.to_batches(), self.schema)

    def __repr__(self) -> str:
        net = ", net=True" if self._net else ""
        follow = ", follow=True" if self._follow else ""
        return f"Changes(start={self.start}, end={self.end}, columns={self.columns}{net}{follow})"
