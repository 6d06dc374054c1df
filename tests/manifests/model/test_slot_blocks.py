"""Blocks divide the slots of a log without a gap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.ids import new_table_id
from colonnade.manifests.model.slot_blocks import SlotBlocks

SIZES, SLOTS = st.integers(1, 2**20), st.integers(0, 2**62)


@given(SIZES, SLOTS)
def test_each_slot_is_in_exactly_one_block(size: int, slot: int) -> None:
    blocks = SlotBlocks(new_table_id(), size)
    block = blocks.of(slot)
    assert blocks.first(block) <= slot < blocks.first(block + 1)


@given(SIZES, SLOTS)
def test_only_blocks_that_end_below_the_floor_may_be_freed(size: int, floor: int) -> None:
    blocks = SlotBlocks(new_table_id(), size)
    count = blocks.whole_below(floor)
    assert blocks.first(count) <= floor < blocks.first(count + 1)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_marks_of_two_blocks_or_databases_have_two_names(one: int, other: int) -> None:
    first, second = SlotBlocks(new_table_id(), 8), SlotBlocks(new_table_id(), 8)
    assert (first.mark(one) == first.mark(other)) == (one == other)
    assert first.mark(one) != second.mark(one)
