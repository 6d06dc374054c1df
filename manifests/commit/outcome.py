"""What is known of a change after it was sent: a value, and the errors that are made of it.

Spec: docs/spec/epoch-log.md#commit
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ColonnadeError, CommitUnknownError, ConflictError
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.object_store import ObjectStore


class SlotFreed(Exception):
    """A commit has met a slot that was freed, so its epochs do not tell all that was committed."""


class SendState(enum.Enum):
    """What became of the epochs that a commit has put so far."""

    NOTHING = enum.auto()
    """Nothing was put."""

    LOST = enum.auto()
    """Each slot was seen to hold another epoch."""

    OPEN = enum.auto()
    """One of them may be in its slot, now or later."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The change is in the log, and durable.

    `state` is the state right after it, and `epoch` its epoch. `epoch` is None if only the batches
    of the change are there, or if an earlier send was found by its transaction. `epochs` are those
    that were read last: they end at the state and have no gaps.
    """

    state: Snapshot
    epoch: Epoch | None = None
    epochs: Sequence[Epoch] = ()


@dataclass(frozen=True, slots=True)
class NotCommitted:
    """Nothing of the change is in the log, and nothing ever will be.

    `error` is the conflict, or another error that ended the commit.
    """

    error: ColonnadeError


@dataclass(frozen=True, slots=True)
class Unknown:
    """The change may be in the log, or may still get there.

    It is certainly there if only the state after it cannot be read, which `error` then says.
    """

    error: CommitUnknownError


Outcome: TypeAlias = Committed | NotCommitted | Unknown


def removed_base(change: Change, base: Snapshot) -> str:
    """Return why the log does not tell any more what came after the base of a change."""
    return (
        f"Epochs after epoch {base.epoch}, on which {change.operation!r} was planned, were removed"
        " by retention;"
    )


def not_sent(reason: str) -> ConflictError:
    """Return the error for a change that was not committed; `reason` names the removed epoch."""
    return ConflictError(f"{reason} read the table again and repeat it.")


def perhaps_sent(reason: str, transaction: str) -> CommitUnknownError:
    """Return the error for a change that an earlier send may commit, or has committed.

    `reason` says why the log does not tell: that epoch was removed, or the send was given up.
    """
    return CommitUnknownError(
        f"{reason} look for transaction {transaction} in the history before you repeat it."
    )


def ended_with(store: ObjectStore, transaction: str, error: ColonnadeError) -> CommitUnknownError:
    """Return the error for a send that an error has ended, if an earlier one may be in the log."""
    unknown = CommitUnknownError(
        f"It is not known whether an earlier send of transaction {transaction} was committed to"
        f" {store.url}; look for it in the history before you repeat it. This send ended"
        f" with: {error.message}"
    )
    unknown.__cause__ = error
    return unknown


def outpaced(change: Change, lost: int, *, perhaps: bool) -> NotCommitted | Unknown:
    """Return the outcome of a change that has lost too many slots.

    With `perhaps`, an earlier send of it may still take a slot.
    """
    raced = f"{change.operation!r} lost {lost} commit races in a row;"
    if perhaps:
        # A late request of another send may take a slot from now on.
        return Unknown(perhaps_sent(raced, change.transaction))
    return NotCommitted(ConflictError(f"{raced} nothing was committed; run it again."))
