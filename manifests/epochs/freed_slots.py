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
from colonnade.manifests.model.operations import Anchor, CreateDatabase, EnableFeatures
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.object_names import FREED, epoch_name, freed_block
from colonnade.manifests.store.base import ObjectStore, PutOutcome

_MARK_LIMIT = 4096
_TRIES = 8


@dataclass(frozen=True, slots=True)
class Marks:
    """All marks of a database, by block: `sound` can be read, and `damaged` has errors.

    `blocks` are the blocks of the database; None if it frees no slots.
    """

    blocks: SlotBlocks | None
    sound: Mapping[int, FreedBlock]
    damaged: Mapping[int, CorruptionError]

    @property
    def newest(self) -> FreedBlock | None:
        """The readable mark of the last block, or None."""
        return self.sound[max(self.sound)] if self.sound else None


def read_blocks(store: ObjectStore) -> SlotBlocks | None:
    """Read the slot blocks of a database; None if it frees no slots.

    For callers without a state of the database. Costs one GET if epoch 0 states them. Otherwise it
    costs a GET for each epoch since the floor, up to the first one that states them, or two GETs if
    a stub does. Damaged epochs after epoch 0 are passed over. Raises CorruptionError if epoch 0 is
    damaged; UnsupportedFormatError; StoreError.
    """
    create = _created(_read_item(store, 0))
    if create is None:
        return None
    database = TableId(create.database)
    if create.slot_block is not None:
        return SlotBlocks(database, create.slot_block)
    number = 1
    while True:
        try:
            item = _read_item(store, number)
        except CorruptionError:
            number += 1
            continue
        if item is None:
            return None
        if (blocks := stated_blocks(database, item)) is not None:
            return blocks
        number = 1 + (max(number, item.floor) if isinstance(item, Stub) else number)


def read_stub_blocks(store: ObjectStore, stub: Stub) -> SlotBlocks | None:
    """Return the blocks of the slots behind the floor of a stub; None if none of them are freed.

    A stub without blocks was written before any upgrade, for a floor before it. Costs one GET.
    Raises as `read_blocks`.
    """
    create = _created(_read_item(store, 0))
    if create is None:
        return None
    database = TableId(create.database)
    if create.slot_block is not None:
        return SlotBlocks(database, create.slot_block)
    return stated_blocks(database, stub)


def stated_blocks(database: TableId, item: Epoch | Stub) -> SlotBlocks | None:
    """Return the slot blocks that an upgrade or a stub states; None if it states none."""
    if isinstance(item, Epoch):
        for operation in item.ops:
            if isinstance(operation, EnableFeatures) and operation.slot_block is not None:
                return SlotBlocks(database, operation.slot_block, item.epoch + 1)
        return None
    size, start = item.slot_block, item.slot_start
    return None if size is None or start is None else SlotBlocks(database, size, start)


def make_stub(slot: int, floor: Anchor, blocks: SlotBlocks | None) -> Stub:
    """Return the stub for a slot. `floor` stores the state at the oldest readable epoch.

    The stub states the blocks of the database if its epoch 0 does not.
    """
    if blocks is None or not blocks.start:
        return Stub(removed=slot, floor=floor.epoch, anchor=floor)
    return Stub(
        removed=slot,
        floor=floor.epoch,
        anchor=floor,
        slot_block=blocks.size,
        slot_start=blocks.start,
    )


def _read_item(store: ObjectStore, number: int) -> Epoch | Stub | None:
    name = epoch_name(number)
    try:
        return decode_slot(store.get(name, limit=EPOCH_LIMIT), number, store.locate(name))
    except NotFoundError:
        return None


def _created(first: Epoch | Stub | None) -> CreateDatabase | None:
    """Return the operation of epoch 0 that creates the database."""
    ops = first.ops if isinstance(first, Epoch) else ()
    return next((op for op in ops if isinstance(op, CreateDatabase)), None)


def find_freed(store: ObjectStore, blocks: SlotBlocks | None, slot: int) -> Stub | None:
    """Return the newest mark, as a stub, for a slot of a freed block; None for other slots.

    None proves that the slot had not been freed when the call began. Costs one GET, or none for a
    slot in no block. For a freed block, it costs two more for each bit of the number of later freed
    blocks. Raises CorruptionError for a damaged mark; StoreError.
    """
    if blocks is None or slot < blocks.start:
        return None
    mark = _newest(store, blocks, blocks.of(slot))
    return None if mark is None else make_stub(slot, mark.anchor, blocks)


def freed_slots(store: ObjectStore, blocks: SlotBlocks | None) -> range:
    """Return the slots that were freed. The range stops at the first block that is not freed.

    Costs two GETs for each bit of the number of that block; nothing without blocks.
    """
    if blocks is None:
        return range(0)
    mark = _newest(store, blocks, 0)
    return range(max(blocks.start, 1), blocks.first(0 if mark is None else mark.freed + 1))


def read_marks(store: ObjectStore) -> Marks:
    """Read every mark, for callers that look for damage.

    Costs as `read_blocks`, a listing, and a GET for each mark. Raises as `read_blocks`.
    """
    blocks = read_blocks(store)
    sound: dict[int, FreedBlock] = {}
    damaged: dict[int, CorruptionError] = {}
    for info in store.list(FREED) if blocks is not None else ():
        block = freed_block(info.name)
        if blocks is None or block is None or info.name != blocks.mark(block):
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
