"""Freed slots, which the mark of their block distinguishes from the end of the log.

A mark is put before the first slot of its block is freed. Blocks are freed in ascending order, and
no mark is ever removed. If there is no mark *after* a look at a slot, or after a PUT into it, the
slot had not been freed until then. An object in a slot of a marked block is not an epoch of the
log.
Spec: docs/spec/epoch-log.md#freed-slots
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from colonnade.manifests.errors import CorruptionError, NotFoundError, StoreError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.codec import EPOCH_LIMIT, decode_model, decode_slot, encode_model
from colonnade.manifests.model.epoch import Epoch, FreedBlock, Stub
from colonnade.manifests.model.operations import Anchor, CreateDatabase
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.object_names import FREED, epoch_name, freed_block
from colonnade.manifests.store.base import ObjectStore, PutOutcome
from colonnade.manifests.store.checks import no_database

_MARK_LIMIT = 4096
_TRIES = 8


@dataclass(frozen=True, slots=True)
class Marks:
    """All marks of a database, by block: `sound` can be read, and `damaged` has errors."""

    blocks: SlotBlocks
    sound: Mapping[int, FreedBlock]
    damaged: Mapping[int, CorruptionError]

    @property
    def newest(self) -> FreedBlock | None:
        """The readable mark of the last block, or None."""
        return self.sound[max(self.sound)] if self.sound else None


def read_blocks(store: ObjectStore) -> SlotBlocks:
    """Read the slot blocks of a database, for callers without a state of it. Costs one GET.

    Raises NotFoundError if epoch 0 is absent; CorruptionError if it is damaged;
    UnsupportedFormatError; StoreError.
    """
    name = epoch_name(0)
    try:
        first = decode_slot(store.get(name, limit=EPOCH_LIMIT), 0, store.locate(name))
    except NotFoundError:
        raise no_database(store.url) from None
    made = first.ops[0] if isinstance(first, Epoch) and first.ops else None
    if not isinstance(made, CreateDatabase):
        raise CorruptionError(f"{store.locate(name)} does not create a database.")
    return SlotBlocks(TableId(made.database), made.slot_block)


def make_stub(slot: int, floor: Anchor) -> Stub:
    """Return the stub for a slot. `floor` stores the state at the oldest readable epoch."""
    return Stub(removed=slot, floor=floor.epoch, anchor=floor)


def find_freed(store: ObjectStore, blocks: SlotBlocks, slot: int) -> Stub | None:
    """Return the newest mark, as a stub, for a slot of a freed block; None for other slots.

    None proves that the slot had not been freed when the call began. Costs one GET. For a freed
    block, it costs two more for each bit of the number of later freed blocks. Raises
    CorruptionError for a damaged mark; StoreError.
    """
    mark = _newest(store, blocks, blocks.of(slot))
    return None if mark is None else make_stub(slot, mark.anchor)


def freed_slots(store: ObjectStore, blocks: SlotBlocks) -> range:
    """Return the slots that were freed. The range stops at the first block that is not freed.

    Costs two GETs for each bit of the number of that block.
    """
    mark = _newest(store, blocks, 0)
    return range(1, blocks.first(0 if mark is None else mark.freed + 1))


def read_marks(store: ObjectStore) -> Marks:
    """Read every mark, for callers that look for damage.

    Costs as `read_blocks`, a listing, and a GET for each mark. Raises as `read_blocks`.
    """
    blocks = read_blocks(store)
    sound: dict[int, FreedBlock] = {}
    damaged: dict[int, CorruptionError] = {}
    for info in store.list(FREED):
        block = freed_block(info.name)
        if block is None or info.name != blocks.mark(block):
            continue  # a mark of another database says nothing
        try:
            mark = _read(store, blocks, block)
        except CorruptionError as error:
            damaged[block] = error
        else:
            if mark is not None:
                sound[block] = mark
    return Marks(blocks, sound, damaged)


def rewrite_mark(store: ObjectStore, blocks: SlotBlocks, block: int, floor: Anchor) -> None:
    """Replace a damaged mark. At no time is the mark missing. Costs a PUT.

    Requires: as `put_mark`, and that the mark cannot be read. Raises StoreError.
    """
    mark = FreedBlock(freed=block, floor=floor.epoch, anchor=floor)
    store.put(blocks.mark(block), encode_model(mark), sync=True)


def put_mark(store: ObjectStore, blocks: SlotBlocks, block: int, floor: Anchor) -> None:
    """Mark a block as freed, for ever. After the call every process finds the mark.

    Requires: an epoch of the log has made `floor.epoch` the floor, the block is below it, and all
    earlier blocks are marked. Raises StoreError if it is unknown whether the mark was written.
    """
    mark = FreedBlock(freed=block, floor=floor.epoch, anchor=floor)
    name = blocks.mark(block)
    for _ in range(_TRIES):
        if store.put_if_absent(name, encode_model(mark)) is not PutOutcome.UNKNOWN:
            return
    raise StoreError(f"It is not known whether {store.locate(name)} was written.", retryable=True)


def _newest(store: ObjectStore, blocks: SlotBlocks, block: int) -> FreedBlock | None:
    """Return the last mark from a block on, by steps that double and then halve."""
    newest = _read(store, blocks, block)
    if newest is None:
        return None
    step = 1
    while later := _read(store, blocks, newest.freed + step):
        newest, step = later, 2 * step
    while step > 1:
        step //= 2
        newest = _read(store, blocks, newest.freed + step) or newest
    return newest


def _read(store: ObjectStore, blocks: SlotBlocks, block: int) -> FreedBlock | None:
    name = blocks.mark(block)
    try:
        data = store.get(name, limit=_MARK_LIMIT)
    except NotFoundError:
        return None
    location = store.locate(name)
    mark = decode_model(FreedBlock, data, location)
    if mark.freed != block or mark.anchor.epoch != mark.floor:
        raise CorruptionError(
            f"{location} is the mark of another block, or its anchor is not its floor."
        )
    if blocks.whole_below(mark.floor) <= block:
        raise CorruptionError(f"{location} frees a block that is not below its floor.")
    return mark
