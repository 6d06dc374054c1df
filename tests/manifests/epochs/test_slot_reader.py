"""Slots that are read ahead say what they say when they are read one by one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.epochs import slot_reader
from colonnade.manifests.epochs.slot_reader import SlotReader, read_slots_down
from colonnade.manifests.epochs.slots import FAR, read_slot
from colonnade.manifests.errors import CorruptionError, StoreError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.slot_blocks import SLOT_BLOCK, SlotBlocks
from colonnade.manifests.object_names import epoch_name, epoch_number
from colonnade.manifests.store import MemoryStore
from tests.examples_of import examples
from tests.far_store import FarStore
from tests.faults import Fault, FaultyStore

SLOTS = 90
BLOCKS = SlotBlocks(TableId("0123456789abcdef"), SLOT_BLOCK)


def epoch(number: int) -> Epoch:
    return Epoch(
        epoch=number,
        base=max(0, number - 1),
        transaction=f"{number:032x}",
        previous=f"{number - 1:032x}" if number else None,
        time_ms=number,
        operation="append",
        engine="test",
        ops=(),
    )


def store_of(taken: set[int], parallel: int) -> FarStore:
    """A store whose taken slots hold epochs, without regard to gaps."""
    inner = MemoryStore()
    for number in sorted({0, *taken}):
        inner.put_if_absent(epoch_name(number), encode_epoch(epoch(number)))
    if not taken & {0}:
        inner.delete(epoch_name(0))
    store = FarStore(inner)
    store.parallel = parallel
    return store


TAKEN = st.sets(st.integers(0, SLOTS)) | st.integers(0, SLOTS).map(lambda end: {*range(end)})
PARALLEL = st.sampled_from((1, 2, 7, 96))


@settings(max_examples=examples(100), deadline=None)
@given(TAKEN, PARALLEL, st.integers(1, 70), st.booleans(), st.integers(0, SLOTS))
def test_a_reader_finds_in_each_slot_what_is_there(
    taken: set[int], parallel: int, ahead: int, far: bool, first: int
) -> None:
    store = store_of(taken, parallel)
    slots = SlotReader(store, ahead=ahead, far=far)
    for number in range(first, SLOTS):
        found = slots.read(number)
        assert found == read_slot(store, number)
        assert (found is not None) == (number in taken)


@settings(max_examples=examples(100), deadline=None)
@given(TAKEN, PARALLEL, st.integers(0, SLOTS), st.integers(0, SLOTS))
def test_slots_are_yielded_down_to_the_last_one_and_no_further(
    taken: set[int], parallel: int, one: int, other: int
) -> None:
    oldest, newest = sorted((one, other))
    store = store_of(taken, parallel)
    found = [*read_slots_down(store, newest, oldest)]
    assert [number for number, _ in found] == [*range(newest, oldest - 1, -1)]
    assert all(each == read_slot(store, number) for number, each in found)
    asked = {epoch_number(call.name) for call in store.trace}
    assert asked <= {*range(oldest, newest + 1)}


@settings(max_examples=examples(50), deadline=None)
@given(PARALLEL, st.integers(1, 70), st.integers(0, SLOTS))
def test_a_reader_that_needs_no_later_slot_asks_for_none(
    parallel: int, ahead: int, last: int
) -> None:
    store = store_of({*range(SLOTS)}, parallel)
    slots = SlotReader(store, ahead=ahead, last=last)
    for number in range(last + 1):
        slots.read(number)
    asked = sorted(epoch_number(call.name) or 0 for call in store.trace)
    assert asked == [*range(last + 1)]


@settings(max_examples=examples(50), deadline=None)
@given(PARALLEL, st.integers(1, SLOTS), st.integers(0, SLOTS), st.integers(0, SLOTS))
def test_a_reader_that_keeps_epochs_reads_none_of_them_again(
    parallel: int, taken: int, first: int, more: int
) -> None:
    store = store_of({*range(taken)}, parallel)
    slots = SlotReader(store, ahead=66, far=True)
    slots.keep()
    first = min(first, taken - 1)
    for number in range(first, taken + 1):
        slots.read(number)
    for number in range(taken, taken + more):
        store.inner.put_if_absent(epoch_name(number), encode_epoch(epoch(number)))
    store.trace.clear()
    slots.read_up_to(taken + more - 1)
    for number in range(taken + more):
        assert slots.read(number) == epoch(number)
    asked = sorted(epoch_number(call.name) or 0 for call in store.trace)
    assert asked == [*range(first), *range(taken, taken + more)]


def test_a_reader_keeps_a_bounded_number_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_reader, "_KEPT_BYTES", 2 * len(encode_epoch(epoch(11))))
    store = store_of({*range(10, 20)}, 1)
    slots = SlotReader(store)
    slots.keep()
    for _ in range(2):
        assert [slots.read(number) for number in range(10, 20)] == [*map(epoch, range(10, 20))]
    assert len(store.trace) == 10 + 8


def test_a_slot_that_was_free_and_is_read_again_is_read_from_the_store() -> None:
    store = store_of({0}, 96)
    slots = SlotReader(store, ahead=4)
    assert slots.read(0) is not None
    assert slots.read(1) is None
    store.inner.put_if_absent(epoch_name(1), encode_epoch(epoch(1)))
    assert slots.read(1) == epoch(1)


@pytest.mark.parametrize(
    ("parallel", "behind"),
    [(1, 3), (1, 2 + FAR[-1]), (96, 3), (96, 7), (96, 7 + FAR[0]), (96, 7 + FAR[-1])],
)
def test_an_epoch_behind_a_free_slot_is_damage_and_not_the_end(parallel: int, behind: int) -> None:
    store = store_of({0, 1, behind}, parallel)
    slots = SlotReader(store, ahead=3, far=True)
    assert [slots.read(number) is None for number in range(3)] == [False, False, True]
    with pytest.raises(CorruptionError, match="is missing"):
        slots.check_end(2, BLOCKS)


def test_a_store_that_fails_ahead_fails_the_look_for_the_end() -> None:
    # The fourth call of the group is that for slot 3.
    store = FarStore(FaultyStore(store_of({0}, 1).inner, {4: Fault.FAIL_BEFORE}))
    slots = SlotReader(store, ahead=4)
    assert slots.read(0) is not None
    assert slots.read(1) is None
    with pytest.raises(StoreError, match="planned failure"):
        slots.check_end(1, BLOCKS)
