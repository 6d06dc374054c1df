"""The options of a read of changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from colonnade.manifests.clock import moment
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.column_names import split_list
from colonnade.spark_ext.options.names import CHANGES, FEED, RANGE
from colonnade.spark_ext.options.user_options import TableOptions, UserOptions
from colonnade.tableformat.table.epochs.time_travel import timestamp_ms

if TYPE_CHECKING:
    from colonnade.tableformat.table.epochs.epoch_range import Inclusive


@dataclass(frozen=True, slots=True)
class ChangeOptions(TableOptions):
    """The options of a read of changes.

    `startingVersion` and `endingVersion` are an epoch or a tag, `startingTimestamp` and
    `endingTimestamp` a time like `timestampAsOf`. `startingBoundInclusive` and
    `endingBoundInclusive` say whether a bound belongs to the range. With the `deduplicationMode`
    `netChanges`, the range is one change. `also` lists what else counts as a change. An update is
    a row before it and a row after it, or without `computeUpdates` a deleted and an inserted row.
    A `consumer` reads what it has not read, and has no other range.
    """

    start: str | datetime | None
    end: str | datetime | None
    inclusive: Inclusive
    net: bool
    updates: bool
    also: tuple[str, ...]
    allow_future: bool
    schema_epoch: int | None
    consumer: str | None = None


_INCLUSIVE: dict[tuple[bool, bool], Inclusive] = {
    (True, True): "both",
    (True, False): "start",
    (False, True): "end",
    (False, False): "neither",
}


def parse_change_options(options: Mapping[str, str]) -> ChangeOptions:
    """Parse the options of a read of changes. Raises InvalidInputError that names a wrong one."""
    stated = UserOptions.among(options, CHANGES, "reading changes")
    if not stated.truth(FEED, True):
        raise InvalidInputError(f"Option {FEED} must be true for a read of changes.")
    for name in RANGE:
        if "consumer" in stated and name in stated:
            raise InvalidInputError(
                f"Options consumer and {name} exclude each other: a consumer reads all that it has"
                " not read."
            )
    inclusive = (
        stated.truth("startingBoundInclusive", True),
        stated.truth("endingBoundInclusive", True),
    )
    return ChangeOptions(
        stated.path,
        bound(stated, "starting"),
        bound(stated, "ending"),
        _INCLUSIVE[inclusive],
        _net(stated.text("deduplicationMode")),
        stated.truth("computeUpdates", True),
        split_list(stated.text("also") or ""),
        stated.truth("allowFuture", False),
        stated.integer("schemaEpoch", 0),
        stated.text("consumer"),
        storage=stated.storage,
    )


def _net(mode: str | None) -> bool:
    """Return whether a mode asks for net changes. No row of a feed is one that did not change."""
    if mode is None:
        return False
    words = {"none": False, "dropcarryovers": False, "netchanges": True}
    if mode.strip().lower() not in words:
        raise InvalidInputError(
            f"Option deduplicationMode must be none, dropCarryovers or netChanges, not {mode!r}."
        )
    return words[mode.strip().lower()]


def bound(stated: UserOptions, which: str) -> str | datetime | None:
    """Return one bound of a range of epochs, `starting` or `ending`.

    A time is in UTC unless it has an offset. Raises InvalidInputError for both an epoch and a time.
    """
    version, time = stated.text(f"{which}Version"), stated.text(f"{which}Timestamp")
    if version is not None and time is not None:
        raise InvalidInputError(
            f"Options {which}Version and {which}Timestamp exclude each other; give only one."
        )
    if time is None:
        return None if version is None else version.strip()
    return moment(timestamp_ms(time))
