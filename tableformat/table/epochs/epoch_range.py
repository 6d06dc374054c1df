"""Which epochs the bounds of a change feed mean, and the conditions on its rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.feed.changes import TIMESTAMP, VERSION, known_columns
from colonnade.tableformat.feed.limits import limits_of
from colonnade.tableformat.predicate import Predicate
from colonnade.tableformat.table.epochs.tags_and_pins import tagged_epoch
from colonnade.tableformat.table.epochs.time_travel import epoch_number, timestamp_ms

Bound: TypeAlias = int | str | datetime
"""An epoch, a time, or the name of a tag. Text is a time if no tag has that name."""

Inclusive: TypeAlias = Literal["both", "start", "end", "neither"]
"""Which of two bounds belong to a range of epochs."""


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
    follow: bool = False,
) -> EpochRange:
    """Return the epochs that two bounds mean. Without an `end`, the last one is the newest epoch.

    A time as the start means the first epoch at or after it, and as the end the last one at or
    before it. A start of 0 means the epoch that created the table. A bound that is not `inclusive`
    does not belong to the range. With `allow_future`, a range may reach beyond the newest epoch,
    and ends there. With `follow`, it may begin with the epoch after the newest one.

    Raises InvalidInputError for bounds that leave no epoch, and for an invalid bound. Raises
    NotFoundError for an epoch or a time of the future, for an epoch before the table was created,
    and for one whose changes retention has removed.
    """
    if inclusive not in get_args(Inclusive):
        known = ", ".join(map(repr, get_args(Inclusive)))
        raise InvalidInputError(f"inclusive must be one of {known}, not {inclusive!r}.")
    name = f"table {table.name!r}"
    included = inclusive in ("both", "start")
    if not isinstance(start, str | datetime) and epoch_number(start) == 0:
        start = table.created_epoch
    first = _epoch(log, head, start, included, is_start=True, allow_future=allow_future)
    first = first or table.created_epoch
    _check_kept(head, table, first)
    last = last_epoch(log, head, table, end, inclusive, allow_future=allow_future)
    # The bound itself may be the newest epoch, and the first epoch after it.
    if end is not None and last < first <= head.epoch + (not included):
        raise InvalidInputError(
            f"The changes of {name} from {start!r} to {end!r} have no epoch: the first would be"
            f" {first}, and the last {last}. Choose a later end."
        )
    if not allow_future:
        _check_there(head, table, first - follow)
    if first < table.created_epoch:
        raise NotFoundError(
            f"T{name[1:]} was created by epoch {table.created_epoch}, so its changes cannot start"
            f" with epoch {first}."
        )
    return EpochRange(first, min(last, head.epoch))


def last_epoch(
    log: Log,
    head: Snapshot,
    table: TableState,
    end: Bound | None,
    inclusive: Inclusive,
    *,
    allow_future: bool,
) -> int:
    """Return the last epoch that the end of a range means: without an end, the newest one.

    It may be later than the newest one with `allow_future`. Raises as `epoch_range` for its end.
    """
    if end is None:
        return head.epoch
    included = inclusive in ("both", "end")
    last = _epoch(log, head, end, included, is_start=False, allow_future=allow_future)
    if not allow_future:
        _check_there(head, table, last)
    return last


def _check_there(head: Snapshot, table: TableState, epoch: int) -> None:
    if epoch > head.epoch:
        raise NotFoundError(
            f"Epoch {epoch} of table {table.name!r} does not exist yet; the newest epoch is"
            f" {head.epoch}."
        )


def _check_kept(head: Snapshot, table: TableState, first: int) -> None:
    if first <= head.floor:
        raise NotFoundError(
            f"The changes of table {table.name!r} in epoch {first} were removed by retention; those"
            f" of epoch {head.floor + 1} and later can be read."
        )


def _epoch(
    log: Log, head: Snapshot, bound: Bound, included: bool, *, is_start: bool, allow_future: bool
) -> int:
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
    if not allow_future and limit > log.reader.query_ms(head):
        raise NotFoundError(
            f"The time {bound} is in the future, and the newest epoch is {head.epoch}; choose an"
            " earlier time."
        )
    # A start that is included begins after all epochs before its time.
    limit -= is_start == included
    try:
        last = log.reader.read_at(timestamp_ms=limit, head=head).epoch
    except NotFoundError:
        if not is_start:
            raise
        return head.floor  # the first epoch that is left; 0 if none was removed
    return last + is_start


def allowed_epochs(
    log: Log, head: Snapshot, table: TableState, end: int, where: Predicate | None
) -> EpochRange | None:
    """Return the epochs up to `end` that a condition allows; None if it allows any before it.

    Raises NotFoundError if retention has removed the first of them.
    """
    if where is None:
        return None
    known = known_columns(table)
    epochs, times = (limits_of(where, known, column) for column in (VERSION, TIMESTAMP))
    if epochs.low is None and times.low is None:
        return None
    first, last = table.created_epoch, end
    if epochs.low is not None:
        first = max(first, epochs.low)
    if epochs.high is not None:
        last = min(last, epochs.high)
    if times.low is not None:
        first = max(first, _last_by(log, head, -(-times.low // 1000) - 1) + 1)
    if times.high is not None:
        last = min(last, _last_by(log, head, times.high // 1000))
    if first <= last:
        _check_kept(head, table, first)
    return EpochRange(first, last)


def _last_by(log: Log, head: Snapshot, time_ms: int) -> int:
    """Return the last epoch up to a time; the last one that was removed, or 0, if there is none."""
    if time_ms >= head.time_ms:
        return head.epoch
    try:
        return log.reader.read_at(timestamp_ms=time_ms, head=head).epoch
    except NotFoundError:
        return max(0, head.floor - 1)
