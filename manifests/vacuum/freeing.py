"""Free slots below the floor, a block at a time, each after its mark.

Spec: docs/spec/epoch-log.md#freed-slots
"""

from __future__ import annotations

from collections.abc import Collection

from colonnade.manifests.clock import elapsed_s
from colonnade.manifests.epochs.freed_slots import freed_slots, put_mark
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.state.snapshot import Snapshot


def free_blocks(log: Log, head: Snapshot, seen_s: float, freed: range) -> None:
    """Mark the unmarked blocks below the floor, and delete the epochs in them.

    Requires: `head` was committed with its floor, the log had reached that floor at `seen_s`
    (`elapsed_s`), and the slots `freed` were freed. Costs a PUT for each of these blocks, and the
    requests of `remove_many`. Raises StoreError. If a run is killed here, the next run goes on.
    """
    blocks = head.blocks
    first = blocks.of(freed.stop - 1) + 1 if freed else 0
    whole = blocks.whole_below(head.floor)
    if first >= whole:
        return
    put_marks(log, blocks, range(first, whole), seen_s)
    slots = range(max(1, blocks.first(first)), blocks.first(whole))
    for error in log.store.remove_many([*map(epoch_name, slots)]).values():
        raise error


def restore_marks(log: Log, head: Snapshot, marks: Collection[int], seen_s: float) -> range:
    """Put the marks of blocks below the floor that a killed run owes, or that were lost.

    Without its mark a freed slot looks like the end of the log. `marks` are the blocks whose marks
    a listing shows that is later than `head`. Returns the slots that were freed by the end of the
    call. Costs one GET if no mark is missing. Requires and raises as `free_blocks`.
    """
    whole = head.blocks.whole_below(head.floor)
    put_marks(log, head.blocks, [block for block in range(whole) if block not in marks], seen_s)
    return freed_slots(log.store, head.blocks, max([whole - 1, *marks]))


def put_marks(log: Log, blocks: SlotBlocks, wanted: Collection[int], seen_s: float) -> None:
    """Put the marks of blocks in the given order, which must ascend. Raises StoreError.

    Requires: the log had a floor behind these blocks at `seen_s` (`elapsed_s`). Waits until no
    process trusts a look from before the blocks were full.
    """
    if not wanted:
        return
    wait_s = log.store.trust_s - (elapsed_s() - seen_s)
    if wait_s > 0:
        log.pause(wait_s)
    for block in wanted:
        put_mark(log.store, blocks, block)
