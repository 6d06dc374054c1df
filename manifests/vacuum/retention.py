"""Decide which epochs may be removed: by age and number, unless something keeps one.

Pure. Spec: docs/spec/vacuum.md#retention
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.columns.statics import with_own_statics
from colonnade.manifests.model.operations import Operation, SetConsumer, Unpin
from colonnade.manifests.state.snapshot import Snapshot

HOURS = "retention.hours"
EPOCHS = "retention.epochs"
"""Table properties: how many hours an epoch stays readable after the next one, and how many of the
newest epochs always stay.
"""

Properties: TypeAlias = Mapping[TableId, Mapping[str, str]]
"""The properties of all tables, by table id."""

_HOUR_MS = 3_600_000
_LONGEST_HOURS = 1e6


_SAFE_HOURS = 168.0
"""A caller who asks for less has to say that it is meant: it removes the history of last week."""


def refuse_short(hours: float | None, *, force: bool, dry_run: bool) -> None:
    """Refuse a retention below 168 hours that a caller gives, unless `force` or a dry run.

    The properties of tables may be lower. Somebody has chosen them beforehand. Raises
    InvalidInputError, also for a value of another type: the text "no" would force what it denies.
    """
    for name, given in (("force", force), ("a dry run", dry_run)):
        if not isinstance(given, bool):
            raise InvalidInputError(f"A vacuum takes True or False for {name}, not {given!r}.")
    check_numbers(hours)
    if hours is not None and hours < _SAFE_HOURS and not (force or dry_run):
        raise InvalidInputError(
            f"A retention of {hours:g} hours would remove epochs of the last {_SAFE_HOURS:g} hours"
            " for good; look at a dry run first. If you mean it, give force=True, or in SQL call"
            " colonnade.system.vacuum with force => true."
        )


@dataclass(frozen=True, slots=True)
class Retention:
    """How much history stays: the epochs of the last `hours`, and at least the newest `epochs`.

    Files that no epoch names stay as long, because a writer may be about to commit them.
    """

    hours: float = _SAFE_HOURS
    epochs: int = 1

    def cutoff_ms(self, now_ms: int) -> int:
        """Return the cutoff in ms since 1970 UTC: states that ended before it may be removed."""
        return now_ms - math.ceil(self.hours * _HOUR_MS)


@dataclass(frozen=True, slots=True)
class Floor:
    """The oldest epoch that stays readable, and what keeps it from rising, if anything."""

    epoch: int
    held_by: tuple[str, ...] = ()


def check_retention(properties: Mapping[str, str]) -> None:
    """Refuse retention properties that are not valid numbers or have an unknown name.

    Raises InvalidInputError that names the property.
    """
    for name in properties:
        if name.startswith("retention.") and name not in (HOURS, EPOCHS):
            raise InvalidInputError(
                f"There is no property {name!r}; the properties about retention are {HOURS} and"
                f" {EPOCHS}."
            )
    retention_of(properties)


def check_numbers(hours: float | None = None, epochs: int | None = None) -> None:
    """Refuse an invalid retention. Raises InvalidInputError."""
    number = isinstance(hours, int | float) and not isinstance(hours, bool)
    if hours is not None and not (number and 0 <= hours <= _LONGEST_HOURS):
        raise InvalidInputError(f"A retention is a number of hours from 0, not {hours!r}.")
    whole = isinstance(epochs, int) and not isinstance(epochs, bool)
    if epochs is not None and not (whole and epochs >= 1):
        raise InvalidInputError(f"A retention keeps a number of epochs from 1, not {epochs!r}.")


def effective(
    tables: Properties,
    hours: float | None = None,
    epochs: int | None = None,
    only: str | None = None,
) -> Retention:
    """Return the retention of a database: the longest that any of its tables requires.

    The number of epochs counts the epochs of the whole database. `hours` and `epochs` replace the
    properties of the table with the id `only` and its static values, or of all tables. Raises
    InvalidInputError for an invalid number.
    """
    check_numbers(hours, epochs)
    policies = [
        _asked(retention_of(properties), hours, epochs)
        if only is None or table in with_own_statics(only)
        else retention_of(properties)
        for table, properties in tables.items()
    ] or [_asked(Retention(), hours, epochs)]
    return Retention(max(p.hours for p in policies), max(p.epochs for p in policies))


def others_that_keep_more(
    tables: Properties,
    names: Mapping[TableId, str],
    alone: Retention,
    only: str,
) -> tuple[str, ...]:
    """Return the tables besides `only` whose retention exceeds `alone`, the retention of `only`.

    `names` has the names of all tables.
    """
    asked = {
        name: retention_of(tables[table])
        for table, name in names.items()
        if table not in with_own_statics(only)
    }
    return tuple(
        f"retention of table {name!r} ({each.hours:g} hours, {each.epochs} of the newest epochs)"
        for name, each in sorted(asked.items())
        if each.hours > alone.hours or each.epochs > alone.epochs
    )


def _asked(own: Retention, hours: float | None, epochs: int | None) -> Retention:
    return Retention(
        own.hours if hours is None else hours, own.epochs if epochs is None else epochs
    )


def plan_floor(head: Snapshot, retention: Retention, aged: int | None, now_ms: int) -> Floor:
    """Return how far the floor may rise. `aged` is the newest epoch at the cutoff, if known.

    Pins, leases and consumers keep the floor at their epoch until their time. Tags do not, because
    the state of a tagged epoch is stored. Pins of epochs below the floor do not, because only the
    stored states of these epochs remain. The floor never falls.
    """
    wanted = min(head.floor if aged is None else aged, head.epoch - retention.epochs + 1)
    holds = [
        (pin.epoch, f"pin {pin.name!r}")
        for pin in head.pins.values()
        if pin.until_ms > now_ms and pin.epoch >= head.floor
    ]
    holds += [
        (lease.epoch, f"lease of job {lease.job}")
        for lease in head.leases.values()
        if lease.until_ms > now_ms
    ]
    over = {each.name for each in ended_consumers(head, now_ms)}
    holds += [
        (each.seen, f"consumer {each.name!r}")
        for each in head.consumers.values()
        if each.until_ms and each.name not in over
    ]
    lowest = min((epoch for epoch, _ in holds), default=wanted)
    held_by = tuple(sorted(who for epoch, who in holds if epoch < wanted))
    return Floor(max(head.floor, min(wanted, lowest)), held_by)


def ended_consumers(head: Snapshot, now_ms: int) -> list[SetConsumer]:
    """Return the consumers that a vacuum ends, because their time or their table is gone."""
    return [
        each
        for each in head.consumers.values()
        if each.until_ms and (each.until_ms <= now_ms or TableId(each.source) not in head.tables)
    ]


def kept_below(head: Snapshot, floor: int, now_ms: int) -> tuple[int, ...]:
    """Return the epochs below the floor that a tag or a current pin keeps, ascending."""
    pinned = {pin.epoch for pin in head.pins.values() if pin.until_ms > now_ms}
    return tuple(sorted(e for e in pinned.union(head.tags.values()) if e < floor))


def ends_of_expired(head: Snapshot, now_ms: int) -> tuple[Operation, ...]:
    """Return the operations that end the pins, leases and consumers whose time is over.

    The consumers of a dropped table end with it.
    """
    pins = (Unpin(name=pin.name) for pin in head.pins.values() if pin.until_ms <= now_ms)
    over = (lease for lease in head.leases.values() if lease.until_ms <= now_ms)
    leases = (lease.model_copy(update={"until_ms": 0}) for lease in over)
    return (*pins, *leases, *(each.ended() for each in ended_consumers(head, now_ms)))


def retention_of(properties: Mapping[str, str]) -> Retention:
    """Return what the properties of a table ask for. Raises InvalidInputError."""
    default = Retention()
    try:
        hours = float(properties.get(HOURS, default.hours))
        epochs = int(properties.get(EPOCHS, default.epochs))
        check_numbers(hours, epochs)
    except ValueError as error:
        given = {name: properties[name] for name in (HOURS, EPOCHS) if name in properties}
        raise InvalidInputError(
            f"Properties {given} are not a retention: {HOURS!r} must be a number from 0, and"
            f" {EPOCHS!r} a whole number from 1."
        ) from error
    return Retention(hours, epochs)
