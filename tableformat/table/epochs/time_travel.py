"""Resolve which earlier state is meant, by an epoch, a time, or a tag, and when it is seen."""

from __future__ import annotations

import operator
import re
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from colonnade.manifests.clock import EPOCH_START, MILLISECOND
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.later import later
from colonnade.manifests.log.log import Log
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot

if TYPE_CHECKING:
    from colonnade.tableformat.table.epochs import tags_and_pins
else:
    tags_and_pins = later("colonnade.tableformat.table.epochs.tags_and_pins")

NOW = "now"
"""The time that a query sees a state at, if it asks for the present."""


def snapshot_at(
    log: Log,
    head: Snapshot,
    epoch: int | None = None,
    timestamp: datetime | str | None = None,
    tag: str | None = None,
) -> Snapshot:
    """Return the state at an epoch, at the last epoch not after a time, or at a tag.

    Exactly one of them must be given. Text without an offset is in UTC. Raises InvalidInputError
    otherwise, for a datetime without a time zone, and for an invalid number or time. Raises
    NotFoundError for a state that was removed or never existed.
    """
    if sum(each is not None for each in (epoch, timestamp, tag)) != 1:
        raise InvalidInputError("Give exactly one of epoch, timestamp and tag.")
    if tag is not None:
        epoch = tags_and_pins.tagged_epoch(head, tag)
    if epoch is not None:
        return log.reader.read_at(epoch=epoch_number(epoch), head=head)
    assert timestamp is not None
    return log.reader.read_at(timestamp_ms=timestamp_ms(timestamp), head=head)


def seen_ms(
    log: LogReader, state: Snapshot, *, pinned: bool, seen_at: datetime | str | None = None
) -> int:
    """Return the time that a query sees a state at, in ms since 1970 UTC: it says what has expired.

    The newest state is seen at this moment. A `pinned` state, which the query names, is seen as it
    was then. `seen_at` is another time, or "now". Raises InvalidInputError for any other text.
    """
    if isinstance(seen_at, str) and seen_at.strip().casefold() == NOW:
        return log.query_ms(state)
    if seen_at is not None:
        return timestamp_ms(seen_at)
    return state.committed_ms if pinned else log.query_ms(state)


def epoch_number(epoch: int) -> int:
    """Return the number of an epoch. Raises InvalidInputError unless it is a whole number."""
    if isinstance(epoch, bool) or not hasattr(epoch, "__index__"):
        raise InvalidInputError(f"An epoch must be a whole number, not {epoch!r}.")
    number = operator.index(epoch)
    if abs(number) >= 10**100:  # Python does not print a number of 5,000 digits.
        raise InvalidInputError("An epoch must be a whole number of at most 100 digits.")
    return number


def timestamp_ms(timestamp: datetime | str) -> int:
    """Return the milliseconds since 1970 UTC. Text without an offset is in UTC.

    Raises InvalidInputError for a datetime without a time zone, for text that is not an ISO 8601
    date or time, and for other types.
    """
    if isinstance(timestamp, str):
        # Spark prints .12 for .120. Python 3.10 accepts only three or six digits, and no Z.
        text = _FRACTION.sub(lambda digits: digits[0][:7].ljust(7, "0"), timestamp.strip())
        try:
            moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError as error:
            raise InvalidInputError(
                f"{timestamp!r} is not a time; write it like '2026-01-31 12:30:00' (UTC) or"
                " with an offset such as +02:00."
            ) from error
    # pandas' NaT is a datetime that does not equal itself.
    elif isinstance(timestamp, datetime) and timestamp == timestamp:
        moment = timestamp
        if moment.tzinfo is None:
            raise InvalidInputError(
                f"The time {moment} has no time zone; give it one, such as"
                " datetime.now().astimezone() for the zone of this machine."
            )
    else:
        raise InvalidInputError(
            f"A timestamp must be a datetime or ISO 8601 text, not {timestamp!r}."
        )
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return (moment - EPOCH_START) // MILLISECOND


_FRACTION = re.compile(r"\.[0-9]+")
