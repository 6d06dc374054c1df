"""States that outlive their epochs: stored, read back, and put in the place of these.

Spec: docs/spec/vacuum.md#floor
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from colonnade.manifests.checkpoint.reader import UNUSABLE, read_hint, read_state, state_of
from colonnade.manifests.checkpoint.stored_batches import are_stored, check_batches
from colonnade.manifests.checkpoint.writer import point_hint, store_snapshot
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.log.reader import LogReader
from colonnade.manifests.model.codec import encode_model
from colonnade.manifests.model.operations import Anchor, Stub
from colonnade.manifests.object_names import HINT, checkpoint_name, epoch_name
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.base import ObjectStore
from colonnade.manifests.vacuum.references import StateObjects, name_the_same, read_state_objects


def keep_states(
    log: LogReader, head: Snapshot, floor: int, kept: Iterable[int], *, store: bool
) -> tuple[tuple[Anchor, ...], StateObjects]:
    """The anchors of a floor and of the epochs kept below it, and what the states at these name.

    Where there is no anchor yet, stores the state, unless `store` says not to; a floor of 0 has
    none. Follows the log once from the old floor, however many states it stores, and lets each
    share the segments of the one before it. Raises StoreError, CorruptionError where the log or an
    anchor cannot be read.
    """
    there = {anchor.epoch: anchor for anchor in head.anchors}
    anchors: list[Anchor] = []
    objects = StateObjects(log.store)
    state = log.read_from_log(head.floor)
    for epoch in sorted({*kept, floor}):
        anchor = there.get(epoch)
        if anchor is not None:
            objects.add(_read_state(log, anchor))
        else:
            state = log.read_from_log(epoch, state)
            if store and floor:
                anchor, state = write_anchor(log, state)
            objects.add(state)
        if anchor is not None:
            anchors.append(anchor)
            objects.add_root(anchor)
    return tuple(anchors), objects


def lost_states(log: LogReader, head: Snapshot) -> dict[int, CorruptionError]:
    """What is wrong with anchors that cannot be read, from neither of both copies, by their epochs.

    Reads all of them whole. Raises StoreError.
    """
    lost: dict[int, CorruptionError] = {}
    for anchor in head.anchors:
        try:
            read_anchor(log, anchor)
        except CorruptionError as error:
            lost[anchor.epoch] = error
    return lost


def name_lost(head: Snapshot, epochs: Iterable[int]) -> str:
    """Sentences that say which states are lost, what keeps them, and what to do."""
    return " ".join(_name_lost(head, epoch) for epoch in sorted(epochs))


def _name_lost(head: Snapshot, epoch: int) -> str:
    tags = [f"tag {name!r}" for name, each in sorted(head.tags.items()) if each == epoch]
    pins = [f"pin {name!r}" for name, pin in sorted(head.pins.items()) if pin.epoch == epoch]
    state = f"It takes the state at epoch {epoch} with it,"
    if epoch == head.floor:
        kept = "".join(f", kept by {each}" for each in (*tags, *pins))
        return f"{state} the oldest readable epoch{kept}: restore the file from a backup."
    keepers = " and ".join((*tags, *pins))
    return (
        f"{state} which {keepers or 'nothing'} keeps: restore the file from a backup, or remove"
        " what keeps this epoch to give it up."
    )


def write_anchor(log: LogReader, state: Snapshot) -> tuple[Anchor, Snapshot]:
    """Store a state that the log is to forget, and read back what is new; returns what is stored.

    Raises StoreError, CorruptionError where what is read is another state.
    """
    stored, ref = store_snapshot(log.store, state, limits=log.limits)
    anchor = Anchor(epoch=ref.epoch, root=ref.root, check=ref.check)
    read_back = _read_state(log, anchor)
    if _counts(read_back) != _counts(state) or not all(
        name_the_same(log.store, table, read_back.tables[key])
        and are_stored(table.batches, read_back.tables[key].batches)
        for key, table in state.tables.items()
    ):
        raise CorruptionError(
            f"{log.store.locate(checkpoint_name(ref.root))} is not the state that was written."
        )
    return anchor, stored


def read_anchor(log: LogReader, anchor: Anchor) -> tuple[Snapshot, set[str]]:
    """The state that an anchor stores, and all objects that it names, itself included.

    Raises CorruptionError where any of it cannot be read, StoreError.
    """
    state = _read_state(log, anchor)
    for table in state.tables.values():
        check_batches(table.batches)
    return state, read_state_objects(log.store, state) | {anchor.root}


def _read_state(log: LogReader, anchor: Anchor) -> Snapshot:
    try:
        return read_state(log.store, anchor)
    except NotFoundError as error:
        raise CorruptionError(f"{error.message} It is an anchor: part of the log.") from error


def cached_objects(store: ObjectStore, floor: int) -> set[str]:
    """The objects of the checkpoints above the floor that the hint leads to.

    They are caches: one that is damaged or gone is passed over. Raises StoreError.
    """
    newest = read_hint(store)
    found = set[str]()
    for ref in (newest[0], *newest[1].earlier) if newest else ():
        if ref.epoch > floor:
            try:
                found |= {ref.root} | segments_of(read_state(store, ref))
            except (NotFoundError, CorruptionError):
                continue
    return found


def segments_of(state: Snapshot) -> set[str]:
    """The objects that list the tables, RowSets and batches of a state. Reads all stored tables."""
    tables = state.tables.values()
    listed = {name for table in tables for name in table.listing_objects()}
    return listed | state.stored_objects()


def put_stubs(log: LogReader, head: Snapshot, threads: int) -> None:
    """Put stubs in the place of the epochs up to the floor, several at once.

    From the oldest on, and of those at once the newest last. So a crash leaves no stub at the
    floor, and what it leaves begins at most `Limits.stubs` before the place that bisection finds.
    Requires: `head` was committed, with its floor and anchors. Raises StoreError.
    """
    store, at_once = log.store, log.limits.stubs
    if not head.floor or isinstance(read_slot(store, head.floor), Stub):
        return
    first = _first_epoch(store, head.floor)

    def put(number: int) -> None:
        if number < first and isinstance(read_slot(store, number), Stub):
            return
        stub = Stub(removed=number, floor=head.floor, anchor=_floor_anchor(head))
        store.put(epoch_name(number), encode_model(stub), sync=True)

    numbers = range(max(1, first - at_once), head.floor + 1)
    if threads == 1:
        for number in numbers:
            put(number)
        return
    with ThreadPoolExecutor(threads, "colonnade-vacuum") as pool:
        for start in range(0, len(numbers), at_once):
            *most, last = numbers[start : start + at_once]
            list(pool.map(put, most))
            put(last)


def _first_epoch(store: ObjectStore, floor: int) -> int:
    """The first slot from 1 to the floor that holds an epoch, or the one after the floor."""
    low, high = 1, floor + 1
    while low < high:
        middle = (low + high) // 2
        if isinstance(read_slot(store, middle), Stub):
            low = middle + 1
        else:
            high = middle
    return low


def settle_hint(store: ObjectStore, head: Snapshot) -> None:
    """See that the hint leads to a whole checkpoint: one may have been written meanwhile.

    Otherwise it names the floor's, which is part of the log. Raises StoreError.
    """
    if _is_sound(store, head.floor):
        return
    if not head.floor:
        store.delete(HINT)
    else:
        point_hint(store, _floor_anchor(head))


def _is_sound(store: ObjectStore, floor: int) -> bool:
    found = read_hint(store)
    if found is None or found[0].epoch < floor:
        return False
    try:
        for segment in segments_of(state_of(store, *found)):
            store.get_range(checkpoint_name(segment), 0, 1)
    except UNUSABLE:
        return False
    return True


def _floor_anchor(head: Snapshot) -> Anchor:
    anchor = head.anchor(head.floor)
    assert anchor is not None
    return anchor


def _counts(state: Snapshot) -> Mapping[str, Sequence[int | None]]:
    """What counts cannot be told apart in two equal states."""
    return {
        table.id: (table.changed_epoch, table.next_rowset_id, table.rowsets.rowset_count)
        for table in state.tables.values()
    }
