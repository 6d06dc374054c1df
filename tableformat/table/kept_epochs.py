"""Tags and pins: epochs that are kept, by a name or for a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import Operation, Pin, Tag, Unpin, Untag
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.table.history import moment


@dataclass(frozen=True, slots=True)
class PinnedEpoch:
    """An epoch that is kept until a time."""

    epoch: int
    until: datetime


_LONGEST_SECONDS = 100 * 366 * 86_400
"""A hundred years: whoever wants to keep an epoch for good gives it a tag."""


_NUMBER = re.compile(r"\s*[+-]?\d+\s*")


def is_tag(version: str) -> bool:
    """Whether a text that names a state is a tag: any is that is no whole number."""
    return not _NUMBER.fullmatch(version)


def commit_tag(log: Log, base: Snapshot, name: str, epoch: int) -> Snapshot:
    """Name an epoch.

    Raises AlreadyExistsError, NotFoundError for an epoch that is gone, InvalidInputError for a name
    that would be read as the number of one.
    """
    if not is_tag(_checked(name, "tag")):
        raise InvalidInputError(
            f"A tag cannot be {name!r}: that is the number of an epoch wherever a text names either"
            " of them; give it a letter."
        )
    return _commit(log, base, Tag(name=name, epoch=_stored_number(log, epoch)))


def commit_untag(log: Log, base: Snapshot, name: str) -> Snapshot:
    """Remove a tag. Raises NotFoundError."""
    return _commit(log, base, Untag(name=_checked(name, "tag")))


def commit_pin(log: Log, base: Snapshot, name: str, epoch: int, seconds: float) -> Snapshot:
    """Keep an epoch for some seconds from now, or longer than before under the same name.

    Raises AlreadyExistsError for a pin of another epoch, NotFoundError for an epoch that is gone.
    """
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not number or not 0 < seconds <= _LONGEST_SECONDS:
        raise InvalidInputError(
            f"A pin lasts a number of seconds above 0 and at most 100 years, not {seconds!r}; a tag"
            " has no end."
        )
    until, kept = log.agreed_ms() + int(seconds * 1000), _stored_number(log, epoch)
    return _commit(log, base, Pin(name=_checked(name, "pin"), epoch=kept, until_ms=until))


def commit_unpin(log: Log, base: Snapshot, name: str) -> Snapshot:
    """Give a pin up. Raises NotFoundError."""
    return _commit(log, base, Unpin(name=_checked(name, "pin")))


def pinned(snapshot: Snapshot) -> dict[str, PinnedEpoch]:
    """The pins by name, those whose time is over included."""
    return {
        name: PinnedEpoch(pin.epoch, moment(pin.until_ms)) for name, pin in snapshot.pins.items()
    }


def tagged_epoch(snapshot: Snapshot, name: str) -> int:
    """The epoch of a tag.

    Raises NotFoundError that lists the tags there are, InvalidInputError for what is no name.
    """
    if _checked(name, "tag") in snapshot.tags:
        return snapshot.tags[name]
    known = ", ".join(sorted(snapshot.tags)) or "none yet"
    raise NotFoundError(f"Tag {name!r} does not exist; the tags are: {known}.")


def _checked(name: str, what: str) -> str:
    if not isinstance(name, str) or not 1 <= len(name) <= 255 or not name.isprintable():
        raise InvalidInputError(
            f"The name of a {what} is a text of 1 to 255 printable characters, not {name!r}."
        )
    return name


def _stored_number(log: Log, epoch: int) -> int:
    if not 0 <= epoch < 2**53:
        raise NotFoundError(f"Epoch {epoch} of {log.store.url} does not exist.")
    return epoch


def _commit(log: Log, base: Snapshot, operation: Operation) -> Snapshot:
    change = Change(new_transaction_id(), operation.op, (operation,), fresh=True)
    return log.commit(change, base)
