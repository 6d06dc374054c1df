"""The slots of the log in a store: read one, take one.

A writer takes a slot by put-if-absent and confirms it by reading it back. The answer of a store
alone does not tell who won, because every layer below may have sent the request twice.
Spec: docs/spec/epoch-log.md#commit
"""

from __future__ import annotations

import enum
import random
from collections.abc import Callable, Sequence
from functools import partial

from colonnade.manifests.clock import elapsed_s
from colonnade.manifests.epochs.freed_slots import is_freed
from colonnade.manifests.errors import (
    ColonnadeError,
    CommitUnknownError,
    CorruptionError,
    NotFoundError,
    StoreError,
    UnsupportedFormatError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.codec import EPOCH_LIMIT, decode_model, decode_slot, identity_bytes
from colonnade.manifests.model.epoch import Epoch, EpochIdentity
from colonnade.manifests.model.operations import CreateDatabase
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.object_names import MANIFEST, epoch_name, epoch_number, needs_log
from colonnade.manifests.store.base import PutOutcome
from colonnade.manifests.store.object_store import ObjectStore

TRIES = 19
"""The most tries of one slot before its outcome counts as unknown: half a minute to a minute."""

TRY_S = 60.0
"""After this time, in seconds, no further try of a slot begins."""

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 5.0


def slot_pause_s(attempt: int) -> float:
    """Return the pause before a further try of a slot (1: the second try), in seconds.

    Its length is random, so that writers that a busy store refused do not return together.
    """
    longest = min(_FIRST_PAUSE_S * 2.0**attempt, _LONGEST_PAUSE_S)
    return random.uniform(0.5, 1) * longest


def read_slot(store: ObjectStore, number: int) -> Epoch | None:
    """Read one slot; None if it is empty. Costs one GET.

    The result does not tell whether the slot was freed. A freed slot is not the end of the log, and
    an object in it is not an epoch of the log (`freed_slots.py`). Raises CorruptionError,
    UnsupportedFormatError, StoreError.
    """
    name = epoch_name(number)
    try:
        data = store.get(name, limit=EPOCH_LIMIT)
    except NotFoundError:
        return None
    return decode_slot(data, number, store.locate(name))


def has_epoch(store: ObjectStore, number: int, transaction: str) -> bool:
    """Return whether a slot has the epoch of a transaction. Costs one GET of its first bytes.

    The bytes are not compared with their checksum: a transaction id is random, and no damage makes
    one. Raises StoreError.
    """
    before, after = identity_bytes(number, transaction)
    try:
        first = store.get_range(epoch_name(number), 0, before + len(after))
    except (NotFoundError, CorruptionError):
        return False
    return first[before:] == after


def log_has_epoch(store: ObjectStore, number: int, transaction: str, database: TableId) -> bool:
    """Return whether a slot has the epoch of a transaction, in the log of a database.

    If the database was removed by other means than Colonnade, a writer may have put that epoch
    afterwards. Epoch 0 then tells. Costs as `has_epoch`, and a GET of epoch 0 beside it where the
    store does not look at epoch 0 before it puts an epoch (`keeps_logs`). Raises NotFoundError if
    epoch 0 is absent or of another database; StoreError.
    """
    known = partial(has_epoch, store, number, transaction)
    if not store.keeps_logs:
        return known()
    return store.both(known, partial(check_database, store, database))[0]


def check_database(store: ObjectStore, database: TableId) -> None:
    """Check that epoch 0 is there, and is not that of another database.

    Costs one GET. A damaged epoch 0 raises no error, because it names no database. Raises
    NotFoundError; StoreError.
    """
    try:
        first = read_slot(store, 0)
    except (CorruptionError, UnsupportedFormatError):
        return
    made = None if first is None else first.ops[0]
    if first is None or (isinstance(made, CreateDatabase) and made.database != database):
        raise NotFoundError(f"The database at {store.url} was removed or replaced; open it again.")


def check_slot(store: ObjectStore, number: int, transaction: str, blocks: SlotBlocks) -> bool:
    """Check that epoch `number` of the log still has this transaction, or was removed.

    Returns whether retention removed it. If the folder was deleted (and perhaps made again), slots
    in the middle of the old log are empty. Nothing would ever read an epoch that is put there.
    Costs one GET of the whole epoch, so damage of it is found, too (`has_epoch` costs less). Raises
    NotFoundError if neither holds; CorruptionError; StoreError.
    """
    name = epoch_name(number)
    try:
        data = store.get(name, limit=EPOCH_LIMIT)
        found = decode_model(EpochIdentity, data, store.locate(name)).transaction
    except NotFoundError:
        found = ""
    if found == transaction:
        return False
    if is_freed(store, blocks, number):
        return True  # An object in a freed slot is not an epoch.
    raise NotFoundError(
        f"Epoch {number} of {store.url} is no longer the one that was read: the database was"
        " removed or replaced; open it again."
    )


NEXT = (1,)
"""Distances of the slots behind the end of the log that every reader checks."""

FAR = (1, 2, 4, 8, 16, 32, 64)
"""Distances to check when a log is opened.

They find a gap if at least as many epochs follow it as are missing, up to 64.
"""


class SlotEnd(enum.Enum):
    """What a look at a free slot has found."""

    END = enum.auto()
    """The slot is the end of the log."""

    TAKEN = enum.auto()
    """The slot was taken meanwhile."""

    FREED = enum.auto()
    """The slot was freed: retention has removed its epoch."""


def check_end(
    store: ObjectStore, number: int, distances: Sequence[int], blocks: SlotBlocks
) -> SlotEnd:
    """Return whether slot `number`, which was empty, is the end of the log.

    It is if the slots behind it are empty, too. Costs one GET for each distance, and one more.
    Raises CorruptionError if an epoch is missing there.
    """
    behind = any_taken(store, [number + distance for distance in distances])
    return judge_end(store, number, blocks, behind=behind)


def judge_end(store: ObjectStore, number: int, blocks: SlotBlocks, *, behind: bool) -> SlotEnd:
    """Return what `check_end` returns, after the look behind the slot has ended.

    `behind` says whether that look found a taken slot. Costs two GETs at most. Raises as
    `check_end`.
    """
    if behind and is_taken(store, number):
        return SlotEnd.TAKEN
    # This look comes last. Only then does it prove that the looks before it saw the end, or a gap.
    if is_freed(store, blocks, number):
        return SlotEnd.FREED
    if behind:
        raise missing_error(store, number)
    return SlotEnd.END


def missing_error(store: ObjectStore, number: int) -> CorruptionError:
    """Return the error for an epoch that is missing before a later one."""
    return CorruptionError(
        f"{store.locate(epoch_name(number))} is missing, although a later epoch is there: `repair`"
        " helps if only the mark of removed epochs is lost; otherwise restore that epoch."
    )


def check_first(store: ObjectStore, blocks: SlotBlocks) -> SlotEnd:
    """Return whether slot 1, which was free, is the end of the log, by a listing.

    If the marks are lost, slot 1 was perhaps freed. Every other writer finds the epoch of its base
    gone then, but epoch 0 stays for ever. Costs a listing of the log, and two GETs. Raises
    CorruptionError if the log goes on behind a slot that was not freed; StoreError.
    """
    return judge_end(store, 1, blocks, behind=lists_later(store, blocks))


def lists_later(store: ObjectStore, blocks: SlotBlocks) -> bool:
    """Return whether a listing shows a later epoch of a log than epoch 0, or a mark of it.

    For a log that seems to have epoch 0 alone, because slot 1 is free: if the hint and all marks
    are lost, the freed slots can reach further than the distances `FAR`. Raises StoreError.
    """
    names = (info.name for info in store.list(f"{MANIFEST}/"))
    return any(epoch_number(name) or name.startswith(blocks.prefix) for name in names)


def dropped_error(store: ObjectStore, epoch: int) -> NotFoundError:
    """Return the error for a log that ended with an epoch."""
    then = "choose another place for a new one"
    if not store.keeps_logs:
        then = "create it again to use this place"
    return NotFoundError(
        f"The database at {store.url} was dropped in epoch {epoch}, and its remaining files are"
        f" to be removed; {then}."
    )


def check_unused(store: ObjectStore) -> None:
    """Check that a store without epoch 0 has no other part of a log.

    Costs a listing of the log, and a GET if it finds a part. Raises CorruptionError; StoreError.
    """
    names = (info.name for info in store.list(f"{MANIFEST}/"))
    left = next(filter(needs_log, names), None)
    if left is not None and not is_taken(store, 0):
        raise CorruptionError(
            f"{store.locate(epoch_name(0))} is missing, although {left} is there: restore it."
        )


def is_taken(store: ObjectStore, number: int) -> bool:
    """Return whether a slot has an object. Costs one GET of one byte."""
    return _exists(store, epoch_name(number))


def any_taken(store: ObjectStore, numbers: Sequence[int]) -> bool:
    """Return whether one of these slots has an object. Costs a GET of one byte for each."""
    if store.parallel == 1:
        return any(is_taken(store, number) for number in numbers)
    return any(store.together([partial(is_taken, store, number) for number in numbers]))


def _exists(store: ObjectStore, name: str) -> bool:
    try:
        store.get_range(name, 0, 1)
    except NotFoundError:
        return False
    return True


def take_slot(
    store: ObjectStore, epoch: Epoch, data: bytes, pause: Callable[[float], None]
) -> Epoch:
    """Put an epoch into its slot. Return the slot's content: this epoch, or an earlier one.

    Only this slot is tried, because an earlier request may still arrive. A store behind a network
    that is busy is tried again, too: at most `TRIES` times, and for about a minute in all. Raises
    StoreError, or NotFoundError if the log does not exist any more: the epoch is not in the slot
    and never will be. Raises CommitUnknownError if this is not certain.
    """
    pending, started = False, elapsed_s()
    cause: ColonnadeError | None = None
    for attempt in range(TRIES):
        if attempt:
            if elapsed_s() - started > TRY_S:
                break
            pause(slot_pause_s(attempt))
        try:
            outcome = store.put_if_absent(epoch_name(epoch.epoch), data)
        except (StoreError, NotFoundError) as error:
            # Without the log this try wrote nothing. The outcome of an earlier try is unknown.
            busy = isinstance(error, StoreError) and error.retryable and store.parallel > 1
            if not (pending or busy):
                raise
            cause = error
            continue
        if outcome is PutOutcome.CREATED:
            return epoch
        pending = True
        try:
            found = read_slot(store, epoch.epoch)
        except StoreError as error:
            cause = error
            continue
        except CorruptionError as error:
            raise unknown_error(store, epoch) from error
        if found is not None and not _doubtful(outcome, found, epoch):
            return found
    if cause is not None and not pending:
        raise cause
    raise unknown_error(store, epoch) from cause


def _doubtful(outcome: PutOutcome, found: Epoch, mine: Epoch) -> bool:
    """Return whether our epoch is visible, but the store never confirmed that it is durable."""
    return found.transaction == mine.transaction and outcome is PutOutcome.UNKNOWN


def unknown_error(store: ObjectStore, epoch: Epoch) -> CommitUnknownError:
    """Return the error for a commit whose outcome is unknown."""
    return CommitUnknownError(
        f"It is not known whether transaction {epoch.transaction} was committed to {store.url} as"
        f" epoch {epoch.epoch}; look for it in the history once the store answers again, and"
        " delete no file of it."
    )


def landed_error(
    store: ObjectStore, transaction: str, epoch: int, reason: str
) -> CommitUnknownError:
    """Return the error for a change that is in the log, but whose state cannot be read.

    `reason` is a sentence. The error has the type of an unknown outcome, so that callers keep files
    and do not repeat the change.
    """
    return CommitUnknownError(
        f"Transaction {transaction} was committed to {store.url} as epoch {epoch}; do not repeat"
        f" it. The state after it could not be read: {reason}"
    )
