"""A log is followed from a checkpoint to its end in few rounds, and every gap in it is found."""

from __future__ import annotations

import pytest

from colonnade.manifests.epochs.slots import FAR
from colonnade.manifests.errors import CorruptionError, NotFoundError, StoreError
from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.reading.following import LogFollower
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.far_store import FarStore
from tests.log_samples import append, contents, make_log, with_orders
from tests.manifests.log.far import far_log


@pytest.mark.parametrize("epochs", [1, 2, 40, 64, 65, 100, 127, 128, 1000])
def test_a_cold_open_takes_three_rounds_however_many_epochs_follow_the_checkpoint(
    epochs: int,
) -> None:
    store, head = far_log(epochs)
    with store.counted() as cost:
        opened = Log(store).read_head()
    assert contents(Log(store), opened) == contents(Log(store), head)
    assert opened.epoch == epochs
    assert cost.rounds == 3
    assert cost.requests <= 80


def test_a_cold_open_where_a_checkpoint_is_late_takes_a_round_for_each_64_epochs() -> None:
    store, head = far_log(63 + 3 * 64, interval=1000)
    with store.counted() as cost:
        assert Log(store).read_head().epoch == head.epoch
    assert cost.rounds <= 8


def test_every_gap_is_found_by_a_cold_open_as_where_slots_are_read_one_by_one() -> None:
    for tail in (0, 1, 30, 61, 62, 63):
        for gap in (1, 2, 3, 7, 33, 64):
            near, first = MemoryStore(), 64 + tail + 1
            state = with_orders(near, make_log(near))
            while state.epoch < first + 2 * gap - 1:
                log = make_log(near, 64 if state.epoch < 64 else 10**9)
                state = log.commit(append(), state)
            for number in range(first, first + gap):
                near.delete(epoch_name(number))
            with pytest.raises(CorruptionError, match=f"{epoch_name(first)} is missing"):
                Log(FarStore(near)).read_head()
    assert FAR[-1] == 64


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
        assert contents(log, found) == contents(log, log.read_at(epoch))
    with pytest.raises(CorruptionError, match="The checkpoint is damaged"):
        follower.replay(head.database, damaged, head.epoch + 1)


def test_a_log_is_not_read_for_an_error_that_it_cannot_help() -> None:
    store, head = started()
    with pytest.raises(StoreError, match="away"):
        LogFollower(store).replay(head.database, StoreError("The network is away."), 1)
    other, _ = started()
    with pytest.raises(NotFoundError, match="was replaced by another one"):
        LogFollower(other).replay(head.database, CorruptionError("Damaged."), 1)
