"""Put stubs into the slots of epochs that a vacuum has removed.

Spec: docs/spec/vacuum.md#floor
"""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import partial

from colonnade.manifests.epochs.freed_slots import make_stub
from colonnade.manifests.epochs.slots import read_log_slot, read_slot
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.codec import encode_model
from colonnade.manifests.model.epoch import Epoch, Stub
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.base import ObjectStore
from colonnade.manifests.store.side_by_side import side_by_side
from colonnade.manifests.vacuum.floor import floor_anchor
from colonnade.manifests.vacuum.freeing import free_slots, mark_blocks


def has_floor_stub(store: ObjectStore, head: Snapshot) -> bool:
    """Return whether the slot of the floor has a sound stub, which is put last.

    Costs one GET, or two for an empty slot. Raises UnsupportedFormatError, StoreError.
    """
    return _is_stub(lambda: read_log_slot(store, head.floor, head.blocks))


def put_stubs(log: LogReader, head: Snapshot, threads: int, done: int = 0) -> None:
    """Put stubs into the slots of the epochs up to the floor, at most `threads` at once.

    Whole blocks of slots before the floor get no stubs: they are marked first and freed last. Stubs
    are put from the oldest epoch on, in groups, and the newest of a group last. A crash therefore
    leaves no stub at the floor, and the first missing stub is at most `Limits.stubs` slots before
    the place that bisection finds. Requires: `head` was committed with its floor and anchors, and
    the slots up to the earlier floor `done` have their stubs. Raises UnsupportedFormatError,
    StoreError.
    """
    store = log.store
    if not head.floor or has_floor_stub(store, head):
        return
    freed = mark_blocks(store, head, floor_anchor(head))
    _put_stubs(log, head, range(max(freed.stop, done + 1), head.floor + 1), threads)
    free_slots(store, freed)


def restore_stubs(store: ObjectStore, head: Snapshot, listed: Container[int], freed: range) -> None:
    """Put missing stubs again. `listed` are the slots that a listing shows as taken.

    A writer that slept could commit into a slot without its stub. Requires: `put_stubs` was called
    for `head` before the listing; `freed` are the freed slots as of after it; the database was
    not replaced since. Costs nothing if no stub is missing. Raises StoreError.
    """
    anchor = head.anchor(head.floor)
    if anchor is None:
        return
    for number in range(max(1, freed.stop), head.floor + 1):
        if number not in listed:
            stub = make_stub(number, anchor)
            store.put_if_absent(epoch_name(number), encode_model(stub))


def _has_stub(store: ObjectStore, number: int) -> bool:
    return _is_stub(lambda: read_slot(store, number))


def _is_stub(read: Callable[[], Epoch | Stub | None]) -> bool:
    """Return whether a slot up to the floor has a sound stub.

    The vacuum that set the floor has removed the epoch of that slot. So nothing is lost where a
    damaged epoch or stub is replaced by a stub.
    """
    try:
        return isinstance(read(), Stub)
    except CorruptionError:
        return False


def _put_stubs(log: LogReader, head: Snapshot, slots: range, threads: int) -> None:
    """Put stubs into slots that have none. Requires: all of these slots are taken."""
    store, at_once = log.store, log.limits.stubs
    first, anchor = _first_epoch(store, slots), floor_anchor(head)

    def put(number: int) -> None:
        if number < first and _has_stub(store, number):
            return
        stub = make_stub(number, anchor)
        store.put(epoch_name(number), encode_model(stub), sync=True)

    numbers = range(max(slots.start, first - at_once), slots.stop)
    for start in range(0, len(numbers), at_once):
        *most, last = numbers[start : start + at_once]
        side_by_side([partial(put, number) for number in most], threads)
        put(last)


def _first_epoch(store: ObjectStore, slots: range) -> int:
    """Return the first of these slots that has no sound stub, or the end of the range."""
    low, high = slots.start, slots.stop
    while low < high:
        middle = (low + high) // 2
        if _has_stub(store, middle):
            low = middle + 1
        else:
            high = middle
    return low
