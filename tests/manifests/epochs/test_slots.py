"""A missing epoch is an error that names it, not the end of a log or a place without a log."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.epochs.slots import FAR, check_end
from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.model.slot_blocks import SLOT_BLOCK, SlotBlocks
from colonnade.manifests.object_names import CHECKPOINTS, HINT, epoch_name
from colonnade.manifests.store import MemoryStore
from tests.faults import FaultyStore
from tests.log_samples import (
    ORDERS,
    append,
    change,
    contents,
    database,
    make_log,
    replay,
    table,
    with_orders,
)


def long_log(epochs: int, interval: int = 64) -> MemoryStore:
    """A log whose head is this epoch."""
    store = MemoryStore()
    log = make_log(store, interval)
    state = with_orders(store, log)
    for _ in range(epochs - 1):
        state = log.commit(append(), state)
    return store


def lose(store: MemoryStore, first: int, count: int) -> str:
    for number in range(first, first + count):
        store.delete(epoch_name(number))
    return f"{epoch_name(first)} is missing"


@pytest.mark.parametrize("missing", range(5))
def test_a_missing_epoch_is_named_and_not_taken_for_the_end(missing: int) -> None:
    store = MemoryStore()
    log = make_log(store)
    states = [with_orders(store, log)]
    for _ in range(4):
        states.append(log.commit(append(), states[-1]))
    match = lose(store, missing, 1)
    before = dict(store._objects)
    with pytest.raises(CorruptionError, match=match):
        log.reader.read_head()
    with pytest.raises(CorruptionError, match=match):
        log.reader.read_at(epoch=5)
    with pytest.raises(CorruptionError, match=match):
        list(log.reader.read_epochs(5))
    if missing == 0:
        with pytest.raises(CorruptionError, match=match):
            database(store)
    if missing > 1:
        with pytest.raises(CorruptionError, match=match):
            log.reader.refresh(states[missing - 2])
    assert store._objects == before


@pytest.mark.parametrize(("first", "count", "head"), [(2, 2, 4), (3, 3, 7), (0, 2, 2), (5, 5, 14)])
def test_several_missing_epochs_are_not_taken_for_the_end(
    first: int, count: int, head: int
) -> None:
    store = long_log(head)
    match = lose(store, first, count)
    log = make_log(store)
    with pytest.raises(CorruptionError, match=match):
        log.reader.read_head()
    with pytest.raises(CorruptionError, match=match):
        log.reader.read_at(epoch=head)
    if first:
        assert log.reader.read_at(epoch=first - 1).epoch == first - 1


def test_no_gap_with_at_least_as_many_epochs_after_it_is_overlooked() -> None:
    for count in range(1, 65):
        for head in (2 * count, 3 * count + 1):
            store = MemoryStore()
            store.put(epoch_name(0), b"x", sync=False)
            for number in range(1 + count, 1 + head):
                store.put(epoch_name(number), b"x", sync=False)
            with pytest.raises(CorruptionError, match=f"{epoch_name(1)} is missing"):
                check_end(store, 1, FAR, SlotBlocks(ORDERS, SLOT_BLOCK))


def test_opening_looks_far_behind_the_end_and_refreshing_does_not() -> None:
    store = long_log(1)
    watched = FaultyStore(store)
    log = make_log(watched)
    state = log.reader.read_head()
    looks = [call.name for call in watched.trace if call.operation == "get_ranges"]
    # If the first slot is free, a mark tells whether it was freed.
    slots = [1, *(2 + distance for distance in (1, 2, 4, 8, 16, 32, 64))]
    assert looks == [epoch_name(slot) for slot in slots]
    watched.trace.clear()
    log.reader.refresh(state)
    assert len(watched.trace) == 4


@pytest.mark.parametrize("left", ["hint", "later epochs"])
def test_a_database_that_lost_its_first_epochs_is_damaged_and_not_absent(left: str) -> None:
    store = long_log(9, interval=4)
    log = make_log(store)
    match = lose(store, 0, 10 if left == "hint" else 5)
    if left != "hint":
        store.delete(HINT)
    for use in (log.reader.read_head, log.reader.follower.read_first, lambda: database(store)):
        with pytest.raises(CorruptionError, match=f"{epoch_name(0)} is missing") as caught:
            use()
        assert match in caught.value.message
    for name in [info.name for info in store.list("") if not info.name.startswith(CHECKPOINTS)]:
        store.delete(name)
    with pytest.raises(NotFoundError):
        log.reader.read_head()


@pytest.mark.parametrize(("head", "lost"), [(8, 1), (9, 2), (11, 4), (8, 3), (11, 7)])
def test_a_head_that_a_checkpoint_proves_is_not_taken_for_never_written(
    head: int, lost: int
) -> None:
    store = long_log(head, interval=4)
    log = make_log(store, 4)
    first = head + 1 - lost
    before = [log.reader.read_at(epoch=epoch) for epoch in range(first)]
    saved = store.get(epoch_name(8))
    lose(store, first, lost)
    left = dict(store._objects)
    match = f"{epoch_name(8)} is missing, although a checkpoint of it exists"
    with pytest.raises(CorruptionError, match=match):
        log.reader.read_head()
    for epoch in (first, 8):
        with pytest.raises(CorruptionError, match=match):
            log.reader.read_at(epoch=epoch)
    assert log.reader.try_read_head() is None
    for state in before:
        assert contents(log, log.reader.read_at(epoch=state.epoch)) == contents(log, state)
    if first == 8:
        for base in before[-2:]:
            with pytest.raises(CorruptionError, match=match):
                log.commit(replace(append(), fresh=True), base)
    assert store._objects == left
    store.put(epoch_name(8), saved, sync=False)
    if first == 8:
        assert log.reader.read_head().epoch == 8


def test_a_change_that_is_sent_again_finds_itself_although_a_later_epoch_was_lost() -> None:
    store = long_log(3, interval=4)
    log = make_log(store, 4)
    base = log.reader.read_head()
    mine = append()
    state = log.commit(mine, base)
    for _ in range(4):
        state = log.commit(append(), state)
    lose(store, 8, 1)
    assert log.commit(mine, base).epoch == 4


def test_a_lost_head_is_given_up_by_removing_the_hint() -> None:
    store = long_log(8, interval=4)
    log = make_log(store, 4)
    lose(store, 8, 1)
    store.delete(HINT)
    state = log.commit(append(), log.reader.read_head())
    assert state.epoch == 8
    assert contents(log, log.reader.read_head()) == contents(log, replay(store))


class LateStore(MemoryStore):
    """A concurrent writer creates a database and commits to it during the first look at epoch 0."""

    began = False

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        if name == epoch_name(0) and not self.began:
            self.began = True
            log = make_log(self)
            log.commit(change(table()), database(self))
            raise NotFoundError(f"{name} was not there yet")
        return super().get(name, limit=limit)


def test_a_database_that_is_created_during_a_look_is_not_damaged() -> None:
    store = LateStore()
    with pytest.raises(NotFoundError):
        make_log(store).reader.read_head()
    assert make_log(store).reader.read_head().epoch == 1
