"""A change that is in the log is found by its transaction, and the state after it is told."""

from __future__ import annotations

import pytest

from colonnade.manifests.commit.landed_changes import find_landed, read_landed
from colonnade.manifests.errors import CommitUnknownError
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.faults import FaultyStore
from tests.log_samples import append, make_log, with_orders


def never(_: float) -> None:
    raise AssertionError("nothing is waited for")


def test_the_state_right_after_a_transaction_is_found_and_its_epoch_put_again() -> None:
    store = MemoryStore()
    log = make_log(store)
    mine = append()
    after = log.commit(mine, with_orders(store, log))
    head = log.commit(append(), after)
    watched = FaultyStore(store)
    assert find_landed(make_log(watched).reader, mine.transaction, head, never) == after
    assert ("put_if_absent", epoch_name(after.epoch)) in watched.trace
    assert find_landed(log.reader, "0" * 32, head, never) is None


def test_a_transaction_is_found_down_to_the_floor_and_not_below() -> None:
    store = MemoryStore()
    log = make_log(store)
    head = with_orders(store, log)
    changes = [append() for _ in range(6)]
    for each in changes:
        head = log.commit(each, head)
    vacuum(log, VacuumRequest(hours=0, epochs=3, threads=1, trust_clock=True))
    head = make_log(store).reader.read_head()
    found = [find_landed(log.reader, each.transaction, head, never) for each in changes]
    assert [state and state.epoch for state in found] == [
        epoch if epoch >= head.floor else None for epoch in range(2, 8)
    ]


def test_a_change_whose_state_cannot_be_read_is_not_called_failed() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    head = log.commit(append(), log.commit(append(), base))
    landed = next(log.reader.read_epochs(head.epoch))
    assert isinstance(landed, Epoch)
    store.delete(epoch_name(base.epoch))
    with pytest.raises(CommitUnknownError, match="was committed"):
        read_landed(make_log(store).reader, landed)
