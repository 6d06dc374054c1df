"""A damaged mark of freed slots is written anew only where its block is known to be removed."""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.epochs.freed_slots import Marks, read_marks
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.entries import ByteCheck
from colonnade.manifests.model.operations import Anchor
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.damaged_marks import (
    find_writable,
    known_floor,
    rewrite_damaged_marks,
)
from tests.log_samples import append, make_log, with_orders


def anchor(epoch: int) -> Anchor:
    return Anchor(epoch=epoch, root="a" * 32, check=ByteCheck(length=1, crc32c=1))


def test_a_log_without_marks_needs_nothing_and_reads_no_head() -> None:
    store = MemoryStore()
    log = make_log(store)
    log.commit(append(), with_orders(store, log))
    assert rewrite_damaged_marks(log) == ()
    assert known_floor(log, read_marks(store)) is None


def test_only_blocks_that_end_before_the_floor_may_be_marked_again() -> None:
    blocks = SlotBlocks(TableId("0123456789abcdef"), 4)
    damaged = dict.fromkeys(range(4), CorruptionError("A mark is damaged."))
    known = Marks(blocks, {}, damaged)
    for floor in range(1, 20):
        writable = find_writable(known, anchor(floor))
        assert writable == {n for n in range(4) if blocks.first(n + 1) <= floor}
    assert find_writable(known, None) == frozenset()
    assert find_writable(replace(known, damaged={}), anchor(9)) == frozenset()
