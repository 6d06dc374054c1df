"""Errors for a change that retention or a lost slot kept from being committed, or may have.

Spec: docs/spec/epoch-log.md#commit
"""

from __future__ import annotations

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import CommitUnknownError, ConflictError
from colonnade.manifests.state.snapshot import Snapshot


def outdated_error(
    change: Change, base: Snapshot, *, sent: bool
) -> ConflictError | CommitUnknownError:
    """Return the error for a change whose base, or an epoch after it, retention has removed.

    `sent` means that a removed epoch may have been the change itself.
    """
    removed = (
        f"Epochs after epoch {base.epoch}, on which {change.operation!r} was planned, were removed"
        " by retention;"
    )
    return perhaps_sent(removed, change.transaction) if sent else not_sent(removed)


def not_sent(removed: str) -> ConflictError:
    """Return the error for a change that was not committed; `removed` names the removed epoch."""
    return ConflictError(f"{removed} read the table again and repeat it.")


def perhaps_sent(reason: str, transaction: str) -> CommitUnknownError:
    """Return the error for a change that an earlier send may commit, or has committed.

    `reason` says why the log does not tell: that epoch was removed, or the send was given up.
    """
    return CommitUnknownError(
        f"{reason} look for transaction {transaction} in the history before you repeat it."
    )
