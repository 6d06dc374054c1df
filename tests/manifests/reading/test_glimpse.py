"""A table is opened without the last look at its log, and nothing relies on it before that look."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from colonnade.manifests.epochs.slot_reader import EARLY, read_early, try_hint
from colonnade.manifests.errors import CorruptionError, NotFoundError, StoreError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import DropDatabase
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.reading import last_look
from colonnade.manifests.reading.glimpse import Glimpse
from colonnade.manifests.store import MemoryStore
from tests.far_store import FarStore
from tests.log_samples import append, change, contents, make_log
from tests.manifests.epochs.blocks import Blocks
from tests.manifests.log.far import far_log

LENGTHS = [1, 2, EARLY - 2, EARLY - 1, EARLY, 40, 64, 65, 127, 128, 300]


def glimpse(log: Log, *, early: bool = True) -> Glimpse:
    slots = read_early(log.store) if early else ()
    found = log.glimpse_head(try_hint(log.store), slots)
    assert found is not None
    return found


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("epochs", LENGTHS)
def test_a_glimpse_and_its_proof_give_the_head_in_one_round_each(epochs: int, early: bool) -> None:
    store, head = far_log(epochs)
    log = Log(store)
    hint, slots = try_hint(store), read_early(store) if early else ()
    with store.counted() as first:
        seen = log.glimpse_head(hint, slots)
    assert seen is not None
    assert first.rounds == (0 if early and epochs < EARLY - 1 else 1)
    with store.counted() as second:
        state = log.settle(seen)
    assert second.rounds == 1
    assert contents(log, state) == contents(log, head)
    assert first.requests + second.requests <= 80
    with store.counted() as later:
        assert log.refresh(state) is state
    assert later.requests == 1


@pytest.mark.parametrize("epochs", LENGTHS)
@pytest.mark.parametrize("more", [1, 2, 70])
def test_what_concurrent_writers_commit_after_a_glimpse_is_found(epochs: int, more: int) -> None:
    store, head = far_log(epochs)
    log, other = Log(store), make_log(store.inner)
    seen = glimpse(log)
    for _ in range(more):
        head = other.commit(append(), head)
    assert contents(log, log.settle(seen)) == contents(other, head)


@pytest.mark.parametrize("early", [True, False])
def test_a_glimpse_of_freed_slots_is_not_taken_for_the_head(early: bool) -> None:
    old = Blocks(epochs=4)
    store = FarStore(old.store)
    log = Log(store)
    hint, slots = try_hint(store), read_early(store) if early else ()
    for _ in range(30):
        old.send(append())
    old.vacuum()
    head = old.log.read_head()
    seen = log.glimpse_head(hint, slots)
    if early:
        assert seen is not None
        assert seen.state.epoch == 4
    if seen is not None:
        assert contents(log, log.settle(seen)) == contents(log, head)


def test_a_glimpse_that_is_older_than_trust_is_looked_at_again() -> None:
    store, head = far_log(3)
    log = Log(store)
    seen = glimpse(log)
    with patch.object(last_look, "elapsed_s", lambda: 1e12), store.counted() as cost:
        assert contents(log, log.settle(seen)) == contents(log, head)
    assert cost.requests > 5


def test_the_end_of_a_log_after_a_glimpse_is_told() -> None:
    store, head = far_log(3)
    log = Log(store)
    seen = glimpse(log)
    make_log(store.inner).commit(change(DropDatabase()), head)
    with pytest.raises(NotFoundError, match="dropped"):
        log.settle(seen)
    assert log.glimpse_head(None, read_early(store)) is None


@pytest.mark.parametrize(("gone", "after"), [(1, 1), (1, 3), (2, 3), (1, 40), (2, 40), (5, 40)])
def test_a_lost_epoch_is_found_by_the_proof(gone: int, after: int) -> None:
    store, head = far_log(2)
    other = make_log(store.inner, interval=10**9)
    for _ in range(gone + after):
        head = other.commit(append(), head)
    for number in range(3, 3 + gone):
        store.inner.delete(epoch_name(number))
    log = Log(store)
    with pytest.raises(CorruptionError, match="missing"):
        log.read_head()
    seen = log.glimpse_head(try_hint(store), read_early(store))
    if seen is not None:
        with pytest.raises(CorruptionError, match="missing"):
            log.settle(seen)


def test_there_is_no_glimpse_on_local_disk_or_of_a_damaged_log() -> None:
    near = MemoryStore()
    make_log(near)
    assert Log(near).glimpse_head() is None
    store, head = far_log(5)
    store.inner.put(epoch_name(4), b"damaged", sync=False)
    assert Log(store).glimpse_head(None, read_early(store)) is None
    assert Log(FarStore()).glimpse_head() is None
    assert head.epoch == 5


def test_a_store_that_fails_is_told_and_the_proof_can_be_repeated() -> None:
    class Failing(FarStore):
        fails = False

        def get(self, name: str, *, limit: int | None = None) -> bytes:
            if self.fails:
                raise StoreError(f"{self.locate(name)}: no answer.", retryable=True)
            return super().get(name, limit=limit)

    inner, head = far_log(5)
    store = Failing(inner.inner)
    log = Log(store)
    seen = glimpse(log)
    store.fails = True
    with pytest.raises(StoreError, match="no answer"):
        log.settle(seen)
    with pytest.raises(StoreError, match="no answer"):
        log.glimpse_head()
    store.fails = False
    assert contents(log, log.settle(seen)) == contents(log, head)


def test_an_early_slot_that_could_not_be_read_is_read_again() -> None:
    store, head = far_log(5)
    log = Log(store)
    slots = [*read_early(store)]
    slots[2] = StoreError("It was busy.", retryable=True)
    slots[3] = CorruptionError("It is too large to be read ahead.")
    seen = log.glimpse_head(try_hint(store), slots)
    assert seen is not None
    assert contents(log, log.settle(seen)) == contents(log, head)
