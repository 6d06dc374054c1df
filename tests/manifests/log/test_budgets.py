"""What opening, refreshing and committing may cost on a store behind a network."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.errors import StoreError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.object_names import HINT, epoch_name
from colonnade.manifests.store import MemoryStore, PutOutcome
from colonnade.manifests.store.base import Data
from tests.far_store import FarStore
from tests.log_samples import append, contents, make_log, with_orders
from tests.manifests.log.far import far_log


def test_a_refresh_finds_what_others_committed_within_two_rounds() -> None:
    store, head = far_log(70)
    log = Log(store)
    seen = log.reader.read_head()
    other = make_log(store.inner)
    for _ in range(3):
        head = other.commit(append(), head)
    with store.counted() as cost:
        assert log.reader.refresh(seen) == head
    assert cost.rounds == 2
    assert cost.requests <= 5


@pytest.mark.parametrize("far", [True, False])
def test_a_busy_store_is_waited_for_up_to_a_minute_behind_a_network(far: bool) -> None:
    class Busy(FarStore):
        """A store that refuses each PUT until it has been asked `left` times."""

        left = 0

        def put_if_absent(self, name: str, data: Data) -> PutOutcome:
            self.left -= 1
            if self.left >= 0:
                raise StoreError(f"{self.locate(name)}: SlowDown.", retryable=True)
            return super().put_if_absent(name, data)

    store, pauses = Busy(MemoryStore()), list[float]()
    base = with_orders(store.inner, make_log(store.inner))
    store.parallel = store.parallel if far else 1
    log = Log(store, pause=pauses.append)
    for left in (10, 18):
        store.left, pauses[:] = left, []
        if not far:
            with pytest.raises(StoreError, match="SlowDown"):
                log.commit(replace(append(), fresh=True), base)
            assert pauses == []
            continue
        base = log.commit(replace(append(), fresh=True), base)
        assert len(pauses) == left
    if far:
        assert 20 < sum(pauses) < 60
        store.left = 19
        with pytest.raises(StoreError, match="SlowDown"):
            log.commit(replace(append(), fresh=True), base)
        assert len(pauses) == 18 + 18


@pytest.mark.slow
def test_a_hint_that_a_late_writer_has_moved_backwards_costs_a_round_and_changes_nothing() -> None:
    near = MemoryStore()
    log = make_log(near)
    state = with_orders(near, log)
    hints = {}
    for _ in range(199):
        state = log.commit(append(), state)
        if state.epoch % 64 == 0:
            hints[state.epoch] = near.get(HINT)
    now = near.get(HINT)
    assert [*hints] == [64, 128, 192]
    for epoch, hint in hints.items():
        near.put(HINT, hint, sync=False)
        store = FarStore(near)
        with store.counted() as cost:
            head = Log(store).reader.read_head()
        assert contents(log, head) == contents(log, state)
        assert cost.rounds <= 3 + (200 - epoch) // 66
        # A writer goes on from there, and the next checkpoint puts the hint right.
        assert make_log(near).commit(append(), head).epoch == state.epoch + 1
        near.delete(epoch_name(state.epoch + 1))
    near.put(HINT, hints[64], sync=False)
    while state.epoch < 256:
        state = log.commit(append(), state)
    assert near.get(HINT) not in (now, hints[64])


def test_the_history_is_read_in_groups_behind_a_network() -> None:
    store, head = far_log(200)
    log = Log(store)
    with store.counted() as cost:
        epochs = [each.epoch for each in log.reader.read_epochs(head.epoch)]
    assert epochs == [*range(200, -1, -1)]
    assert cost.rounds <= 5
    with store.counted() as cost:
        assert len([*log.reader.read_epochs(head.epoch, 10)]) == 10
    assert (cost.requests, cost.rounds) == (10, 1)


def test_creating_a_database_takes_two_listings_and_one_put() -> None:
    store = FarStore()
    with store.counted() as cost:
        create_database(store, lone_table=False)
    calls = [call.operation for call in cost.calls]
    assert calls == ["list", "put_if_absent", "list"]
