"""The times of epochs: their dates, corrected where a clock was ahead.

Dates in a log ascend, so one clock of the year 2099 dates all epochs that follow. Three other facts
then tell when an epoch was committed: the clock that its writer recorded, when its file was
written, and the epochs after it.

Spec: docs/spec/epoch-log.md#time
"""

from __future__ import annotations

from colonnade.manifests.clock import DAY_MS
from colonnade.manifests.epochs.freed_slots import is_freed
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.object_store import ObjectStore


def present_ms(store: ObjectStore, head: Snapshot, now_ms: int) -> int:
    """Return `now_ms`, or when the newest epoch was written if that is later.

    For readers, whose own clock may be far behind. Costs nothing if the clock is not behind.
    """
    if head.time_ms <= now_ms + DAY_MS:
        return now_ms
    return max(now_ms, _written_ms(store, head.epoch) or now_ms)


def last_epoch_by(
    store: ObjectStore,
    head: Snapshot,
    timestamp_ms: int,
    present_ms: int,
    floor: int,
    *,
    for_removal: bool = False,
) -> int:
    """Find the last epoch up to `head` that was committed at or before a time, by bisection.

    Returns the epoch before the `floor` if there is none, which is -1 for a floor of 0. A removed
    epoch counts as early enough. If the date and the recorded clock of an epoch differ,
    `for_removal` takes the later of both. Costs a GET for each bit of the number of epochs, and
    more only for epochs dated more than a day after the present. Raises CorruptionError for a
    missing epoch; StoreError.
    """
    if head.time_ms <= timestamp_ms:
        return head.epoch
    doubted = head.clock_ms is not None or head.time_ms > present_ms + DAY_MS
    high = head.epoch if doubted else head.epoch - 1
    low = floor - 1  # `low` is early enough or before all epochs; `high` is not tried yet
    while low < high:
        middle = (low + high + 1) // 2
        item = _read(store, middle, head)
        early = (
            item is None or _likely_ms(store, item, head, present_ms, for_removal) <= timestamp_ms
        )
        low, high = (middle, high) if early else (low, middle - 1)
    return low


def witness_ms(store: ObjectStore, head: Snapshot, timestamp_ms: int, present_ms: int) -> int:
    """Return when the last epoch was committed that came at or before a time.

    If there is none, returns when the oldest readable epoch was committed. Costs nothing if the
    newest epoch is old enough. Otherwise costs and raises as `last_epoch_by`.
    """
    if head.time_ms <= timestamp_ms:
        return head.time_ms
    low = last_epoch_by(store, head, timestamp_ms, present_ms, head.floor, for_removal=True)
    for number in range(max(low, head.floor), head.epoch):
        item = _read(store, number, head)
        if item is not None:
            return _likely_ms(store, item, head, present_ms, for_removal=True)
    return head.time_ms


def _likely_ms(
    store: ObjectStore, epoch: Epoch, head: Snapshot, present_ms: int, for_removal: bool
) -> int:
    """Return when an epoch was probably committed.

    This is its writer's recorded clock, or else its date (with `for_removal`, the later of both). A
    time in the future does not count. The next choice is when its file was written. The last one is
    the time of the next epoch with a known time.
    """
    for number in range(epoch.epoch, head.epoch + 1):
        each = epoch if number == epoch.epoch else _read(store, number, head)
        if each is None:
            break
        known = _told_ms(store, each, present_ms + DAY_MS, for_removal)
        if known is not None:
            return known
    return epoch.time_ms


def _told_ms(store: ObjectStore, epoch: Epoch, ceiling_ms: int, for_removal: bool) -> int | None:
    """Return the time of an epoch from itself and its file; None if that is above the ceiling."""
    # An epoch also records the clock of its writer if that clock was behind.
    told = (epoch.time_ms, epoch.clock_ms) if for_removal else (epoch.clock_ms, epoch.time_ms)
    for each in told:
        if each is not None and each <= ceiling_ms:
            return each
    written = _written_ms(store, epoch.epoch)
    return written if written is not None and written <= ceiling_ms else None


def _written_ms(store: ObjectStore, epoch: int) -> int | None:
    """Return when the file of an epoch was written; None if unknown, or if its slot was freed."""
    try:
        return store.modified_ms(epoch_name(epoch))
    except NotFoundError:
        return None


def _read(store: ObjectStore, number: int, head: Snapshot) -> Epoch | None:
    """Return an epoch, or None if its slot was freed. Raises CorruptionError if it is missing."""
    item = read_slot(store, number)
    if item is None and not is_freed(store, head.blocks, number):
        raise CorruptionError(f"{store.locate(epoch_name(number))} is missing.")
    return item
