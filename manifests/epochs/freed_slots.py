"""Freed slots, which the mark of their block distinguishes from the end of the log.

A mark is put before the first slot of its block is freed. Blocks are freed in ascending order, and
no mark is ever removed. If there is no mark *after* a look at a slot, or after a PUT into it, the
slot had not been freed until then. An object in a slot of a marked block is not an epoch of the
log. The name of a mark says everything, so damage of a mark does no harm.
Spec: docs/spec/epoch-log.md#freed-slots
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from colonnade.manifests.errors import CorruptionError, NotFoundError, StoreError
from colonnade.manifests.model.codec import encode_model
from colonnade.manifests.model.epoch import FreedBlock
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.store.base import PutOutcome
from colonnade.manifests.store.object_store import ObjectStore

_MARK_LIMIT = 4096
_TRIES = 8

_DOUBLINGS = 16
_WAYS = 64


def is_freed(store: ObjectStore, blocks: SlotBlocks, slot: int) -> bool:
    """Return whether the block of a slot has a mark. Costs one GET.

    False proves that the slot had not been freed when the call began. Raises StoreError.
    """
    return _is_marked(store, blocks, blocks.of(slot))


def find_newest_mark(store: ObjectStore, blocks: SlotBlocks) -> int | None:
    """Return the last block that has a mark, or None.

    Looks at 16 blocks whose distances double, and then between two of these: side by side at up to
    63 at once, which find one of the first 128 blocks, or else at one for each bit of the number of
    the block. Raises StoreError.
    """
    last, span = -1, 1
    while True:
        at = [last + (span << n) for n in range(_DOUBLINGS)]
        found = _last_marked(store, blocks, at)
        if found != at[-1]:
            break
        last, span = found, span << _DOUBLINGS
    last, end = (last, at[0]) if found is None else (found, at[at.index(found) + 1])
    ways = max(2, min(_WAYS, store.parallel))
    while end - last > 1:
        step = -(-(end - last) // ways)
        found = _last_marked(store, blocks, range(last + step, end, step))
        last, end = (last, last + step) if found is None else (found, min(found + step, end))
    return last if last >= 0 else None


def freed_slots(store: ObjectStore, blocks: SlotBlocks, known: int | None = None) -> range:
    """Return the slots that were freed. The range stops at the first block that is not freed.

    Block `known` has a mark, and so has every block before it; -1 means none. Costs one GET, and
    one for each later mark. Without `known`, costs as `find_newest_mark`. Raises StoreError.
    """
    if known is None:
        known = find_newest_mark(store, blocks)
    last = -1 if known is None else known
    while _is_marked(store, blocks, last + 1):
        last += 1
    return range(1, max(1, blocks.first(last + 1)))


def put_mark(store: ObjectStore, blocks: SlotBlocks, block: int) -> None:
    """Mark a block as freed, for ever. After the call every process finds the mark.

    Requires: an epoch of the log has set a floor behind the block, and all earlier blocks are
    marked. Raises StoreError if it is unknown whether the mark was written.
    """
    name = blocks.mark(block)
    for _ in range(_TRIES):
        if store.put_if_absent(name, encode_model(FreedBlock(freed=block))) is not (
            PutOutcome.UNKNOWN
        ):
            return
    raise StoreError(f"It is not known whether {store.locate(name)} was written.", retryable=True)


def _last_marked(store: ObjectStore, blocks: SlotBlocks, among: Sequence[int]) -> int | None:
    found = store.together([partial(_is_marked, store, blocks, block) for block in among])
    return max((block for block, marked in zip(among, found, strict=True) if marked), default=None)


def _is_marked(store: ObjectStore, blocks: SlotBlocks, block: int) -> bool:
    try:
        store.get(blocks.mark(block), limit=_MARK_LIMIT)
    except NotFoundError:
        return False
    except CorruptionError:
        return True  # The object is too large, and it is there.
    return True
