"""States that outlive their epochs: store them, read them back, and say which are lost.

Spec: docs/spec/vacuum.md#floor
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from colonnade.manifests.checkpoint.anchor_list import (
    describe_anchor_list,
    encode_anchor_list,
    read_live_anchors,
)
from colonnade.manifests.checkpoint.loaded_pages import LoadedPages, read_plain_state
from colonnade.manifests.checkpoint.reader import read_state
from colonnade.manifests.checkpoint.segment_names import NOTHING_KNOWN, SegmentNames
from colonnade.manifests.checkpoint.stored_batches import are_stored, check_batches
from colonnade.manifests.checkpoint.stored_tables import StoredTables
from colonnade.manifests.checkpoint.writer import store_snapshot, write_object
from colonnade.manifests.epochs.slot_reader import SlotReader
from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.ids import TableId, new_job_id
from colonnade.manifests.model.operations import AnchorList, CheckpointRef
from colonnade.manifests.object_names import checkpoint_name
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store.object_store import ObjectStore
from colonnade.manifests.vacuum.dropped_entries import anchors_with_remains
from colonnade.manifests.vacuum.references import StateObjects, name_the_same, read_state_objects

_AT_ONCE = 64
"""The anchors whose states are in memory at once."""


def keep_states(
    log: LogReader,
    head: Snapshot,
    floor: int,
    kept: Iterable[int],
    loaded: LoadedPages,
    known: SegmentNames = NOTHING_KNOWN,
    *,
    store: bool,
    slots: SlotReader | None = None,
    erased: TableId | None = None,
) -> tuple[tuple[CheckpointRef, ...], StateObjects]:
    """Return the anchors of the floor and of the epochs kept below it, and the objects they name.

    Stores a state that has no anchor yet, unless `store` is false. A floor of 0 has no anchor.
    Follows the log once from the old floor, and each stored state shares the segments of the one
    before it. `loaded` has pages that were read before, `known` the names in segments, and `slots`
    reads the slots up to the head. States below the floor with remains of the table `erased` are
    stored anew, without these. Raises StoreError; CorruptionError if the log or an anchor cannot be
    read.
    """
    # The list is read only for epochs that are still kept. Otherwise its loss does no harm.
    listed = any(epoch < head.floor for epoch in kept)
    before = read_live_anchors(log.store, head) if listed else head.anchors
    there = {anchor.epoch: anchor for anchor in before}
    replaced: dict[int, CheckpointRef] = {}
    if erased is not None and store:
        found = {each.epoch: each for each in anchors_with_remains(log, head, erased)}
        replaced = {epoch: each for epoch, each in found.items() if epoch < floor}
    there = {epoch: anchor for epoch, anchor in there.items() if epoch not in replaced}
    anchors: list[CheckpointRef] = []
    epochs = sorted({*kept, floor})
    objects = StateObjects(log.store, loaded, known)
    _add_states(log, [there[epoch] for epoch in epochs if epoch in there], objects)
    state = log.read_floor_of(head)
    for epoch in epochs:
        anchor = there.get(epoch)
        if epoch in replaced:
            anchor, again = write_anchor(log, _read_state(log, replaced[epoch]), objects, erased)
            objects.add(again)
        elif anchor is None:
            state = log.read_from_log(epoch, state, slots)
            if store and floor:
                anchor, state = write_anchor(log, state, objects, erased)
            objects.add(state)
        if anchor is not None:
            anchors.append(anchor)
            objects.add_root(anchor)
    return tuple(anchors), objects


def _add_states(log: LogReader, anchors: Sequence[CheckpointRef], objects: StateObjects) -> None:
    """Add the objects of states that are stored. Reads the roots of some anchors side by side."""
    for start in range(0, len(anchors), _AT_ONCE):
        part = anchors[start : start + _AT_ONCE]
        calls = [partial(_read_state, log, anchor, read_plain_state) for anchor in part]
        for state in log.store.together(calls):
            objects.add(state)


def list_anchors(
    log: LogReader, head: Snapshot, anchors: tuple[CheckpointRef, ...], objects: StateObjects
) -> tuple[tuple[CheckpointRef, ...], AnchorList | None]:
    """Return the anchors for a vacuum operation: all, or that of the floor and a list of the rest.

    Stores a new list, unless the anchors below the floor are those of `head`. Adds the list to
    `objects`. Raises StoreError, CorruptionError.
    """
    if len(anchors) - 1 <= log.limits.listed_anchors:
        return anchors, None
    below, ref = anchors[:-1], head.anchor_list
    before = (each for each in read_live_anchors(log.store, head) if each.epoch < head.floor)
    if ref is None or below != tuple(before):
        data = encode_anchor_list(below)
        ref = describe_anchor_list(write_object(log.store, new_job_id(), data), data)
    objects.add_anchor_list(ref)
    return anchors[-1:], ref


def lost_states(log: LogReader, head: Snapshot) -> dict[int, CorruptionError]:
    """Return the errors of anchors that cannot be read from either copy, by epoch.

    Reads all anchors completely. Raises StoreError.
    """
    lost: dict[int, CorruptionError] = {}
    anchors = head.anchors
    try:
        anchors = read_live_anchors(log.store, head)
    except CorruptionError as error:
        kept = {*head.tags.values(), *(pin.epoch for pin in head.pins.values())}
        lost = dict.fromkeys((epoch for epoch in kept if epoch < head.floor), error)
    for anchor in anchors:
        try:
            read_anchor(log, anchor)
        except CorruptionError as error:
            lost[anchor.epoch] = error
    return lost


def name_lost(head: Snapshot, epochs: Iterable[int]) -> str:
    """Return one sentence for each lost state: its epoch, what keeps it, and what to do."""
    return " ".join(_name_lost(head, epoch) for epoch in sorted(epochs))


def _name_lost(head: Snapshot, epoch: int) -> str:
    tags = [f"tag {name!r}" for name, each in sorted(head.tags.items()) if each == epoch]
    pins = [f"pin {name!r}" for name, pin in sorted(head.pins.items()) if pin.epoch == epoch]
    if epoch == head.floor:
        kept = "".join(f", kept by {each}" for each in (*tags, *pins))
        return (
            f"The state at epoch {epoch}, the oldest readable epoch{kept}, is lost: restore the"
            " file from a backup, or give up the oldest epochs (`repair` with"
            " `--give-up-lost-epochs`)."
        )
    keepers = " and ".join((*tags, *pins))
    return (
        f"The state at epoch {epoch}, which {keepers or 'nothing'} keeps, is lost: restore the file"
        " from a backup, or remove what keeps this epoch to give it up."
    )


def write_anchor(
    log: LogReader, state: Snapshot, objects: StateObjects, erased: TableId | None = None
) -> tuple[CheckpointRef, Snapshot]:
    """Store a state whose epoch the log is to remove, and read the new objects back.

    Returns the anchor and the stored state. It has no remains of the table `erased`. `objects`
    reads the names in segments, so that they need not be read again, and its parts get the bytes of
    the new objects for their copies. Raises StoreError; CorruptionError if the state read back is
    another one.
    """
    stored, ref = store_snapshot(
        log.store, state, limits=log.limits, erased=erased, on_object=objects.parts.keep_new
    )
    anchor = CheckpointRef(epoch=ref.epoch, root=ref.root, check=ref.check)
    if not _is_same(objects, state, _read_state(log, anchor)):
        raise CorruptionError(
            f"{log.store.locate(checkpoint_name(ref.root))} is not the state that was written."
        )
    return anchor, stored


def _is_same(objects: StateObjects, state: Snapshot, read_back: Snapshot) -> bool:
    """Return whether a state that was read back is the one that was stored.

    Both may share pages of tables, which were written and read back before. Only tables in other
    pages are compared. Raises CorruptionError if one cannot be read; StoreError.
    """
    one, other = state.tables, read_back.tables
    if isinstance(one, StoredTables) and isinstance(other, StoredTables):
        before = {table.id: table for table in one.stored.tables_beside(other.stored)}
        found = {table.id: table for table in other.stored.read_beside(one.stored)}
        after = {**before, **one.held()}
        wanted = {key: table for key, table in after.items() if table is not None}
        # A shared page must not have a table that was dropped.
        dropped = after.keys() - wanted.keys() - before.keys()
        shared = len(one.stored.records) - len(before), len(other.stored.records) - len(found)
        if shared[0] != shared[1] or any(key in one.stored for key in dropped):
            return False
    else:
        wanted, found = {**one}, {**other}
    pairs = [(table, found[key]) for key, table in wanted.items() if key in found]
    return (
        wanted.keys() == found.keys()
        and all(_counts(a) == _counts(b) for a, b in pairs)
        and name_the_same(objects, pairs)
        and all(are_stored(a.batches, b.batches) for a, b in pairs)
    )


def read_anchor(log: LogReader, anchor: CheckpointRef) -> tuple[Snapshot, set[str]]:
    """Return the state of an anchor, and all objects that it names, including its root.

    Raises CorruptionError if any part cannot be read; StoreError.
    """
    state = _read_state(log, anchor)
    for table in state.tables.values():
        check_batches(table.batches)
    return state, read_state_objects(log.store, state) | {anchor.root}


def _read_state(
    log: LogReader,
    anchor: CheckpointRef,
    read: Callable[[ObjectStore, CheckpointRef], Snapshot] = read_state,
) -> Snapshot:
    try:
        return read(log.store, anchor)
    except NotFoundError as error:
        raise CorruptionError(
            f"{error.message} It stores the state of a kept epoch: restore it."
        ) from error


def floor_anchor(head: Snapshot) -> CheckpointRef:
    """Return the anchor of the floor of a log that has one."""
    anchor = head.anchor(head.floor)
    assert anchor is not None
    return anchor


def _counts(table: TableState) -> tuple[str, int, int, int]:
    """Return values of a table that are equal in equal states, apart from the listed objects."""
    return table.name, table.changed_epoch, table.next_rowset_id, table.rowsets.rowset_count
