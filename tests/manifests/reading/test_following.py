"""A log is followed from a checkpoint to its end in few rounds, and every gap in it is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.epochs.opening_reads import OpeningReads
from colonnade.manifests.epochs.slot_reader import SlotReader
from colonnade.manifests.epochs.slots import FAR
from colonnade.manifests.errors import CorruptionError, NotFoundError, StoreError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.object_names import FREED, HINT, epoch_name
from colonnade.manifests.reading.following import LogFollower
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.far_store import FarStore
from tests.log_samples import append, change, contents, make_log, table, with_orders
from tests.manifests.log.far import far_log

T = TypeVar("T")


@pytest.mark.parametrize("epochs", [1, 2, 40, 64, 65, 100, 127, 128, 1000])
def test_a_cold_open_takes_three_rounds_however_many_epochs_follow_the_checkpoint(
    epochs: int,
) -> None:
    store, head = far_log(epochs)
    with store.counted() as cost:
        opened = Log(store).reader.read_head()
    assert contents(Log(store), opened) == contents(Log(store), head)
    assert opened.epoch == epochs
    assert cost.rounds == 3
    # One for each epoch after the checkpoint, and those whose number does not depend on it.
    assert cost.requests <= 34 + epochs % 64


@pytest.mark.parametrize(("tail", "rounds"), [(71, 3), (102, 3), (103, 4), (134, 4)])
def test_a_late_checkpoint_costs_no_round_for_a_hundred_epochs(tail: int, rounds: int) -> None:
    store, head = far_log(64)
    log = make_log(store.inner, interval=10**9)
    for _ in range(tail):
        head = log.commit(append(), head)
    with store.counted() as cost:
        assert contents(log, Log(store).reader.read_head()) == contents(log, head)
    assert cost.rounds == rounds
    assert cost.requests <= 66 + tail


@pytest.mark.parametrize("trust_s", [0, 10])
def test_the_mark_is_looked_for_beside_the_slots_only_where_no_block_is_freed_meanwhile(
    trust_s: int,
) -> None:
    store, _ = far_log(80)
    store.trust_s = trust_s
    with store.counted() as cost:
        assert Log(store).reader.read_head().epoch == 80
    assert cost.rounds == (3 if trust_s else 4)


class BesideWriter(FarStore):
    """A far store in which other work is done before one call."""

    work: Callable[[], object] | None = None
    at = 0
    is_done = False

    def _call(self, operation: str, name: str, effect: Callable[[], T]) -> T:
        if self.work is not None and len(self.trace) == self.at:
            work, self.work, self.is_done = self.work, None, True
            work()
        return super()._call(operation, name, effect)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 80), st.integers(0, 50), st.integers(1, 40), st.booleans())
def test_a_cold_open_beside_a_writer_returns_a_state_that_was_the_head_meanwhile(
    tail: int, at: int, others: int, checkpoint: bool
) -> None:
    near = MemoryStore()
    log = make_log(near, 10 if checkpoint else 10**9)
    head = with_orders(near, log)
    while head.epoch < 10:
        head = log.commit(append(), head)
    log = make_log(near, 10**9)
    for _ in range(tail):
        head = log.commit(append(), head)
    states = {head.epoch: head}

    def commit() -> None:
        state = head
        for _ in range(others):
            state = log.commit(append(), state)
            states[state.epoch] = state

    store = BesideWriter(near)
    store.work, store.at = commit, at
    found = Log(store).reader.read_head()
    assert contents(log, found) == contents(log, states[found.epoch])
    if store.is_done:
        store.trace.clear()
        assert Log(store).reader.read_head().epoch == head.epoch + others


def test_a_cold_open_where_a_checkpoint_is_late_takes_a_round_for_each_64_epochs() -> None:
    store, head = far_log(63 + 3 * 64, interval=1000)
    with store.counted() as cost:
        assert Log(store).reader.read_head().epoch == head.epoch
    assert cost.rounds <= 8


@pytest.mark.slow
def test_every_gap_is_found_by_a_cold_open_as_where_slots_are_read_one_by_one() -> None:
    for tail in (0, 1, 6, 7, 14, 30, 61, 62, 63):
        for gap in (1, 2, 3, 7, 33, 64):
            near, first = MemoryStore(), 64 + tail + 1
            state = with_orders(near, make_log(near))
            while state.epoch < first + 2 * gap - 1:
                log = make_log(near, 64 if state.epoch < 64 else 10**9)
                state = log.commit(append(), state)
            for number in range(first, first + gap):
                near.delete(epoch_name(number))
            with pytest.raises(CorruptionError, match=f"{epoch_name(first)} is missing"):
                Log(FarStore(near)).reader.read_head()
    assert FAR[-1] == 64


def test_a_block_that_ends_between_the_slots_is_looked_at_again() -> None:
    near = MemoryStore()
    state = create_database(near, lone_table=False, slot_block=20)
    log = make_log(near, 10)
    state = log.commit(change(table(), name="create_table"), state)
    while state.epoch < 18:
        state = log.commit(append(), state)
    store = FarStore(near)
    with store.counted() as cost:
        assert Log(store).reader.read_head().epoch == 18
    # Slot 19 is free, and so is the sample 25, which is in the next block.
    marks = [call.name for call in cost.calls if call.name.startswith(FREED)]
    assert [name[-6] for name in marks] == ["1", "0"]
    assert cost.rounds == 4


@pytest.mark.slow
@pytest.mark.parametrize("epochs", [150, 1000])
def test_a_long_log_without_its_hint_is_opened_in_five_rounds(epochs: int) -> None:
    near = MemoryStore()
    log = make_log(near)
    state = with_orders(near, log)
    while state.epoch < epochs:
        state = log.commit(append(), state)
        if state.epoch % 20 == 0:
            vacuum(log, VacuumRequest(0, 10, trust_clock=True, threads=1))
            state = log.reader.read_head()
    near.delete(HINT)
    store = FarStore(near)
    with store.counted() as cost:
        found = Log(store).reader.read_head(opening=OpeningReads(store))
    assert contents(log, found) == contents(log, state)
    assert cost.rounds <= 5
    assert cost.requests <= 130


def started(epochs: int = 4) -> tuple[MemoryStore, Snapshot]:
    """A log of some appends without a checkpoint, and its head."""
    store = MemoryStore()
    log = make_log(store, interval=10**9)
    state = with_orders(store, log)
    while state.epoch < epochs:
        state = log.commit(append(), state)
    return store, state


def test_a_state_whose_checkpoint_is_damaged_is_read_from_the_log() -> None:
    store, head = started()
    follower = LogFollower(store)
    damaged = CorruptionError("The checkpoint is damaged.")
    log = make_log(store)
    for epoch in range(head.epoch + 1):
        found = follower.replay(head.database, damaged, epoch)
        assert contents(log, found) == contents(log, log.reader.read_at(epoch))
    with pytest.raises(CorruptionError, match="The checkpoint is damaged"):
        follower.replay(head.database, damaged, head.epoch + 1)


def test_a_log_is_not_read_for_an_error_that_it_cannot_help() -> None:
    store, head = started()
    with pytest.raises(StoreError, match="away"):
        LogFollower(store).replay(head.database, StoreError("The network is away."), 1)
    other, _ = started()
    with pytest.raises(NotFoundError, match="was removed or replaced"):
        LogFollower(other).replay(head.database, CorruptionError("Damaged."), 1)


def test_an_anchor_of_another_database_is_refused() -> None:
    """Two databases were mixed: the log of one with the anchor's objects of the other."""
    store, head = started(8)
    other, _ = started(8)
    for each in (store, other):
        vacuum(make_log(each), VacuumRequest(hours=0, epochs=1, threads=1, trust_clock=True))
    follower = LogFollower(store)
    found = follower.find_floor(follower.read_first(), SlotReader(store))
    assert found is not None
    theirs = LogFollower(other).read_floor()
    assert theirs.database != head.database
    with (
        patch.object(follower, "read_anchored", lambda _: theirs),
        pytest.raises(CorruptionError, match="belongs to another database"),
    ):
        follower.read_floor()
