"""When epochs came: by their dates, but for those of clocks that were ahead.

A log is dated in ascending order, so one clock of the year 2099 dates all epochs that follow. What
else is known of these tells when they came: what their writers noted, when their files were
written, and the epochs after them.

Spec: docs/spec/epoch-log.md#time
"""

from __future__ import annotations

from colonnade.manifests.clock import DAY_MS
from colonnade.manifests.epochs.dating import OWN_CLOCK
from colonnade.manifests.epochs.slots import read_log_slot
from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.model.operations import Epoch, Stub
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.base import ObjectStore


def present_ms(store: ObjectStore, head: Snapshot, now_ms: int) -> int:
    """The time by a clock, and at least that at which the newest epoch was written.

    For readers, whose own clock may be far behind. Costs nothing where the clock is not behind.
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
    """The last epoch up to `head` that came not after a time, by bisection.

    That before the `floor` where none did since; so -1 for a floor of 0. A removed epoch counts as
    one that came before. `for_removal`: where its date and what its
    writer noted differ, an epoch came at the later of both. Costs a GET for each bit of the
    number of epochs; more only for those that are dated more than a day after the present.
    Raises CorruptionError for an epoch that is missing, StoreError.
    """
    if head.time_ms <= timestamp_ms:
        return head.epoch
    high = head.epoch if head.time_ms > present_ms + DAY_MS else head.epoch - 1
    low = floor - 1  # early enough or before all; `high` is yet to try
    while low < high:
        middle = (low + high + 1) // 2
        item = _read(store, middle, head)
        early = (
            not isinstance(item, Epoch)
            or _likely_ms(store, item, head, present_ms, for_removal) <= timestamp_ms
        )
        low, high = (middle, high) if early else (low, middle - 1)
    return low


def _likely_ms(
    store: ObjectStore, epoch: Epoch, head: Snapshot, present_ms: int, for_removal: bool
) -> int:
    """When an epoch came: what its writer noted, else its date where that is not in the future.

    `for_removal` the later of both. Else when its file was written; where that is in the future
    too, it came before the next epoch of which something is known.
    """
    each: Epoch | Stub = epoch
    for number in range(epoch.epoch, head.epoch + 1):
        each = epoch if number == epoch.epoch else _read(store, number, head)
        if isinstance(each, Stub):
            break
        known = _told_ms(store, each, present_ms + DAY_MS, for_removal)
        if known is not None:
            return known
    return epoch.time_ms


def _told_ms(store: ObjectStore, epoch: Epoch, ceiling_ms: int, for_removal: bool) -> int | None:
    """When an epoch came as far as it tells itself; None where that is after the ceiling."""
    told = (_noted_ms(epoch), epoch.time_ms)
    known = [each for each in told if each is not None and each <= ceiling_ms]
    if known:
        # A note differs from the date also where the clock of its writer was behind.
        return max(known) if for_removal else known[0]
    written = _written_ms(store, epoch.epoch)
    return written if written is not None and written <= ceiling_ms else None


def _written_ms(store: ObjectStore, epoch: int) -> int | None:
    """When the file of an epoch was written; None where nobody knows, or its slot was freed."""
    try:
        return store.modified_ms(epoch_name(epoch))
    except NotFoundError:
        return None


def _noted_ms(epoch: Epoch) -> int | None:
    """What the clock of an epoch's writer said, where that has noted it."""
    text = epoch.parameters.get(OWN_CLOCK, "")
    return int(text) if text.isascii() and text.isdecimal() else None


def _read(store: ObjectStore, number: int, head: Snapshot) -> Epoch | Stub:
    item = read_log_slot(store, number, head.blocks)
    if item is None:
        raise CorruptionError(f"{store.locate(epoch_name(number))} is missing.")
    return item
