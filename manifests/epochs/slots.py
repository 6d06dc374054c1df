"""The slots of the log in a store: read one, take one.

A slot is taken by put-if-absent and settled by reading it back: no answer of a store alone says
who won, because every layer below may have sent the request twice.
Spec: docs/spec/epoch-log.md#commit
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from colonnade.manifests.epochs.freed_slots import find_freed
from colonnade.manifests.errors import (
    CommitUnknownError,
    CorruptionError,
    NotFoundError,
    StoreError,
)
from colonnade.manifests.model.codec import EPOCH_LIMIT, decode_model, decode_slot
from colonnade.manifests.model.operations import Epoch, EpochIdentity, Stub
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.object_names import FREED, HINT, epoch_name
from colonnade.manifests.store.base import ObjectStore, PutOutcome

TRIES = 8
"""How often one slot is tried before its outcome is given up as unknown."""

FIRST_PAUSE_S = 0.02
"""The pause before the second try of a slot, in seconds; each later one is twice as long."""


def read_slot(store: ObjectStore, number: int) -> Epoch | Stub | None:
    """Read one slot; None when it is free. Costs one GET.

    Says nothing of whether the slot was freed: then it is not the end of the log, and what lies in
    it is no epoch of that (`freed_slots.py`). Raises CorruptionError, UnsupportedFormatError,
    StoreError.
    """
    name = epoch_name(number)
    try:
        data = store.get(name, limit=EPOCH_LIMIT)
    except NotFoundError:
        return None
    return decode_slot(data, number, store.locate(name))


def read_log_slot(
    store: ObjectStore, number: int, blocks: SlotBlocks | None
) -> Epoch | Stub | None:
    """Read one slot, and where it is free look whether it was freed: then that is like a stub.

    Costs one GET, for a free slot two. Raises as `read_slot`.
    """
    return read_slot(store, number) or find_freed(store, blocks, number)


def check_slot(
    store: ObjectStore, number: int, transaction: str, blocks: SlotBlocks | None
) -> bool:
    """Check that epoch `number` of the log is still the one with this transaction, or removed.

    Returns whether it was removed by retention. A directory that was deleted, or deleted and made
    again, has free slots in the middle of the old log: what is put there is never read. Costs one
    GET. Raises NotFoundError when it is neither, CorruptionError, StoreError.
    """
    name = epoch_name(number)
    try:
        data = store.get(name, limit=EPOCH_LIMIT)
        found = decode_model(EpochIdentity, data, store.locate(name)).transaction
    except NotFoundError:
        found = ""
    if found not in (transaction, None) and find_freed(store, blocks, number):
        # What lies in a freed slot is no epoch: the one that was there was removed.
        found = None
    if found not in (transaction, None):
        raise NotFoundError(
            f"Epoch {number} of {store.url} is no longer the one that was read: the database was"
            " removed or replaced; open it again."
        )
    return found is None


NEXT = (1,)
"""Distances of the slots behind the end of the log that every reader looks at."""

FAR = (1, 2, 4, 8, 16, 32, 64)
"""Those for opening a log: no gap is overlooked that as many epochs follow as it is long."""


def check_end(
    store: ObjectStore,
    number: int,
    distances: Sequence[int] = NEXT,
    blocks: SlotBlocks | None = None,
) -> Stub | bool:
    """Whether slot `number`, which was free, is the end of the log: then those behind it are free.

    A stub where it was freed, False when it was taken meanwhile. Costs one GET for each distance,
    and one where slots are freed. Raises CorruptionError when an epoch is missing there.
    """
    behind = any(is_taken(store, number + distance) for distance in distances)
    if behind and is_taken(store, number):
        return False
    # After all other looks: only so it proves that what they have seen is the end, or a gap.
    freed = find_freed(store, blocks, number)
    if freed is not None or not behind:
        return freed or True
    raise CorruptionError(
        f"{store.locate(epoch_name(number))} is missing, although a later epoch is there."
    )


def dropped_error(store: ObjectStore, epoch: int) -> NotFoundError:
    """The error of a log that has ended by an epoch."""
    return NotFoundError(
        f"The database at {store.url} was dropped in epoch {epoch}, and what is left of its files"
        " is to be removed; create it again to use this place."
    )


def check_unused(store: ObjectStore) -> None:
    """Check that a store without epoch 0 holds no other part of a log.

    Costs eight GETs, and a listing of the folder of marks.

    Raises CorruptionError when it does, StoreError.
    """
    if not check_end(store, 0, FAR):
        return
    left = HINT if _exists(store, HINT) else next((i.name for i in store.list(FREED)), None)
    if left is not None and not is_taken(store, 0):
        raise CorruptionError(
            f"{store.locate(epoch_name(0))} is missing, although {left} is there."
        )


def is_taken(store: ObjectStore, number: int) -> bool:
    """Whether anything is in a slot. Costs one GET of one byte."""
    return _exists(store, epoch_name(number))


def _exists(store: ObjectStore, name: str) -> bool:
    try:
        store.get_range(name, 0, 1)
    except NotFoundError:
        return False
    return True


def take_slot(
    store: ObjectStore, epoch: Epoch, data: bytes, pause: Callable[[float], None]
) -> Epoch | Stub:
    """Put an epoch into its slot and return what is there: the epoch, or what came first.

    Raises StoreError, or NotFoundError where the log is not there any more, when the epoch is
    certainly not there and never will be, CommitUnknownError when nobody knows. Until then only
    this slot is tried: an earlier request may still arrive.
    """
    pending = False
    cause: Exception | None = None
    for attempt in range(TRIES):
        if attempt:
            pause(FIRST_PAUSE_S * 2**attempt)
        try:
            outcome = store.put_if_absent(epoch_name(epoch.epoch), data)
        except (StoreError, NotFoundError) as error:
            # Without the log nothing was written now; what an earlier try did, nobody knows.
            if not pending:
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
    raise unknown_error(store, epoch) from cause


def _doubtful(outcome: PutOutcome, found: Epoch | Stub, mine: Epoch) -> bool:
    """Whether an epoch is ours and visible, but the store never said that it is durable."""
    own = isinstance(found, Epoch) and found.transaction == mine.transaction
    return own and outcome is PutOutcome.UNKNOWN


def unknown_error(store: ObjectStore, epoch: Epoch) -> CommitUnknownError:
    """The error of a commit of which nobody can tell whether it is there."""
    return CommitUnknownError(
        f"It is not known whether transaction {epoch.transaction} was committed to {store.url} as"
        f" epoch {epoch.epoch}; look for it in the history once the store answers again, and"
        " delete no file of it."
    )
