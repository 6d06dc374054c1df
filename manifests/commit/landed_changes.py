"""Find changes that are already in the log, by their transactions or by the RowSets they add."""

from __future__ import annotations

from collections.abc import Callable

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.outcome import Committed, Unknown, ended_with
from colonnade.manifests.epochs.slots import landed_error, take_slot
from colonnade.manifests.errors import (
    ColonnadeError,
    CommitUnknownError,
    CorruptionError,
    NotFoundError,
    StoreError,
    UnsupportedFormatError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot

UNTELLING = (CorruptionError, StoreError)
"""Errors of one send that do not tell the outcome of earlier sends of the same change."""

UNREADABLE = (*UNTELLING, NotFoundError, UnsupportedFormatError)
"""Errors of a read of the log, beside which a vacuum may run."""


_MOST_READ = 2**16
"""The most RowSets that are read to find those of a change."""


def find_landed(
    log: LogReader, transaction: str, head: Snapshot, pause: Callable[[float], None]
) -> Snapshot | None:
    """Return the state right after a transaction, or None if the log does not show it any more.

    Makes its epoch durable. Cost: a GET for each epoch since the floor, and a PUT. `pause` waits
    (seconds) between tries of the PUT. Raises CommitUnknownError if the state cannot be read, else
    as `LogReader`.
    """
    for epoch in log.read_kept_epochs(head):
        if transaction == epoch.transaction:
            # Its writer may have died before it was durable.
            take_slot(log.store, epoch, encode_epoch(epoch), pause)
            return read_landed(log, epoch, head)
    return None


def find_added(log: LogReader, change: Change, before: Snapshot, head: Snapshot) -> int | None:
    """Return the epoch after `before`, up to `head`, that committed a change which adds RowSets.

    Requires: both are states of one log. Returns 0 if no epoch between them committed the change,
    and None if the log does not tell. Retention may have removed some of these epochs, because the
    ids of RowSets tell what was added. Costs a GET for each segment that may hold one of the
    RowSets. Raises as `LogReader`.
    """
    operation = next((op for op in change.ops if isinstance(op, AddRowSet)), None)
    if operation is None or head.database != before.database:
        return None
    table = TableId(operation.table)
    then, now = before.tables.get(table), head.tables.get(table)
    if then is None or now is None or then.created_epoch != now.created_epoch:
        return None
    if now.changed_epoch <= before.epoch:
        return 0
    first, end = then.next_rowset_id, now.next_rowset_id
    if end - first > _MOST_READ:
        return None
    live = log.rowsets.find(now, range(first, end))
    if any(number not in live for number in range(first, end)):
        return None
    added = (live[number] for number in range(first, end))
    mine = operation.rowset.object
    return next((each.epoch for each in added if each.entry.object == mine), 0)


def read_landed(log: LogReader, epoch: Epoch, head: Snapshot | None = None) -> Snapshot:
    """Return the state after an epoch of the log. Cost: as `LogReader.read_at`.

    Raises CommitUnknownError if the state cannot be read. The caller must then delete no file that
    the epoch names.
    """
    try:
        return log.read_at(epoch.epoch, head=head)
    except UNREADABLE as error:
        raise landed_error(log.store, epoch.transaction, epoch.epoch, error.message) from error


def find_sent(
    log: LogReader, transaction: str, error: ColonnadeError, pause: Callable[[float], None]
) -> Committed | Unknown:
    """Return the outcome of a change that an earlier send may have committed. Never raises.

    `error` ended the last send, and does not tell the outcome of the earlier ones. Costs a GET for
    each epoch since the floor, and a PUT that makes the epoch durable. The outcome is unknown if
    the change is not found, because a request of an earlier send may still arrive.
    """
    return search(log, transaction, ended_with(log.store, transaction, error), pause)


def search(
    log: LogReader, transaction: str, unknown: CommitUnknownError, pause: Callable[[float], None]
) -> Committed | Unknown:
    """Return the outcome of a change: `unknown` if it is not found. Costs as `find_sent`."""
    try:
        landed = find_landed(log, transaction, log.read_head(), pause)
    except CommitUnknownError as error:
        return Unknown(error)
    except ColonnadeError:
        landed = None
    return Unknown(unknown) if landed is None else Committed(landed)
