"""Tags and pins, which keep an epoch for good or until a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from colonnade.manifests.clock import moment
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import Operation, Pin, Tag, Unpin, Untag
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import Snapshot


@public
@dataclass(frozen=True, slots=True)
class PinnedEpoch:
    """An epoch that is kept until a time."""

    epoch: int
    until: datetime


_LONGEST_SECONDS = 100 * 366 * 86_400
"""A hundred years; to keep an epoch for good, tag it."""


_NUMBER = re.compile(r"\s*[+-]?\d+\s*")


def is_tag(version: str) -> bool:
    """Return whether a text that names a state is a tag. A whole number is an epoch instead."""
    return not _NUMBER.fullmatch(version)


def commit_tag(log: Log, base: Snapshot, name: str, epoch: int) -> Snapshot:
    """Tag an epoch.

    Raises AlreadyExistsError, NotFoundError for an epoch that was removed, and InvalidInputError
    for a name that would be read as an epoch number.
    """
    if not is_tag(checked_name(name, "tag")):
        raise InvalidInputError(
            f"A tag cannot be named {name!r}, because a text like this means the epoch of that"
            " number; add a letter."
        )
    return _commit(log, base, Tag(name=name, epoch=_stored_number(log, epoch)))


def commit_untag(log: Log, base: Snapshot, name: str) -> Snapshot:
    """Remove a tag. Raises NotFoundError."""
    return _commit(log, base, Untag(name=checked_name(name, "tag")))


def commit_pin(log: Log, base: Snapshot, name: str, epoch: int, seconds: float) -> Snapshot:
    """Keep an epoch for some seconds from now, or extend the pin of the same name.

    Raises AlreadyExistsError for a pin of another epoch, and NotFoundError for a removed epoch.
    """
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not number or not 0 < seconds <= _LONGEST_SECONDS:
        raise InvalidInputError(
            f"A pin lasts a number of seconds above 0 and at most 100 years, not {seconds!r}; use"
            " a tag to keep an epoch for good."
        )
    until = log.agreement.time(base).present_ms + int(seconds * 1000)
    kept = _stored_number(log, epoch)
    return _commit(log, base, Pin(name=checked_name(name, "pin"), epoch=kept, until_ms=until))


def commit_unpin(log: Log, base: Snapshot, name: str) -> Snapshot:
    """Remove a pin. Raises NotFoundError."""
    return _commit(log, base, Unpin(name=checked_name(name, "pin")))


def pinned(snapshot: Snapshot) -> dict[str, PinnedEpoch]:
    """Return the pins by name, including those whose time is over."""
    return {
        name: PinnedEpoch(pin.epoch, moment(pin.until_ms)) for name, pin in snapshot.pins.items()
    }


def tagged_epoch(snapshot: Snapshot, name: str) -> int:
    """Return the epoch of a tag.

    Raises NotFoundError that lists the existing tags, and InvalidInputError for an invalid name.
    """
    if checked_name(name, "tag") in snapshot.tags:
        return snapshot.tags[name]
    known = ", ".join(sorted(snapshot.tags)) or "none yet"
    raise NotFoundError(f"Tag {name!r} does not exist; the tags are: {known}.")


def checked_name(name: str, what: str) -> str:
    """Return a name that a user gave a tag, pin or consumer. Raises InvalidInputError."""
    if not isinstance(name, str) or not 1 <= len(name) <= 255 or not name.isprintable():
        raise InvalidInputError(
            f"The name of a {what} must be a text of 1 to 255 printable characters, not {name!r}."
        )
    return name


def _stored_number(log: Log, epoch: int) -> int:
    if not 0 <= epoch < 2**53:
        raise NotFoundError(f"Epoch {epoch} of {log.store.url} does not exist.")
    return epoch


def _commit(log: Log, base: Snapshot, operation: Operation) -> Snapshot:
    change = Change(new_transaction_id(), operation.op, (operation,), fresh=True)
    return log.commit(change, base)
