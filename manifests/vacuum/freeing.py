"""Free slots below the floor, a block at a time, each after its mark.

Spec: docs/spec/epoch-log.md#freed-slots
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from colonnade.manifests.epochs.freed_slots import freed_slots, put_mark
from colonnade.manifests.model.operations import Anchor
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.base import ObjectStore


def mark_blocks(store: ObjectStore, head: Snapshot, anchor: Anchor) -> range:
    """Mark the unmarked blocks before the floor. Returns the slots of these blocks.

    The range ends at the first block that stays. Requires: `head` was committed with its floor,
    whose state `anchor` stores. Costs two GETs for each bit of the number of marks, and a PUT for
    each new one. Raises StoreError.
    """
    blocks = head.blocks
    first, whole = freed_slots(store, blocks).stop, blocks.whole_below(head.floor)
    for block in range(blocks.of(first), whole):
        put_mark(store, blocks, block, anchor)
    stop = max(first, blocks.first(whole), 1)
    return range(max(first, 1), stop)


def restore_marks(store: ObjectStore, head: Snapshot, listed: Collection[str]) -> None:
    """Put missing marks of freed blocks again. `listed` are the names in a listing.

    Without its mark a freed slot looks like the end of the log. Requires: `put_stubs` was called
    for `head` before the listing. Costs nothing if no mark is missing. Raises StoreError.
    """
    blocks, anchor = head.blocks, head.anchor(head.floor)
    if anchor is None:
        return
    for block in range(blocks.whole_below(head.floor)):
        if blocks.mark(block) not in listed:
            put_mark(store, blocks, block, anchor)


def free_slots(store: ObjectStore, slots: Sequence[int]) -> None:
    """Delete the objects in slots. Requires: their blocks are marked. Raises StoreError.

    If a run is killed here, the next run finds the rest in its listing.
    """
    for error in store.remove_many([*map(epoch_name, slots)]).values():
        raise error
