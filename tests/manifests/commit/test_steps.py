"""A commit ends in a value: what is known of the change."""

from __future__ import annotations

import pytest

from colonnade.manifests.commit.attempt import commit
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.outcome import Committed, NotCommitted, Unknown
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    StoreError,
)
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.store.base import Data, PutOutcome
from tests.log_samples import ORDERS, append, drop, land, make_log, overwrite, with_orders


def test_a_change_that_gets_a_slot_is_committed_with_its_state_and_epoch() -> None:
    log = make_log()
    base = with_orders(log.store, log)
    log.commit(append(), base)
    found = commit(append(), base, log._writer)
    assert isinstance(found, Committed)
    assert found.epoch == read_slot(log.store, base.epoch + 2)
    assert found.state == log.reader.read_head()
    assert [each.epoch for each in found.epochs] == [base.epoch + 1, base.epoch + 2]


def test_a_batch_that_is_there_already_is_committed_without_an_epoch() -> None:
    log = make_log()
    batch = land({"app": 3})
    base = with_orders(log.store, log)
    head = log.commit(batch, base)
    for known in (base, head):
        found = commit(land({"app": 3}), known, log._writer)
        assert isinstance(found, Committed)
        assert (found.epoch, found.state.epoch) == (None, head.epoch)


@pytest.mark.parametrize("theirs", [drop(), append()])
def test_a_change_that_may_not_follow_another_is_not_committed(theirs: Change) -> None:
    log = make_log()
    base = with_orders(log.store, log)
    head = log.commit(theirs, base)
    found = commit(overwrite(), base, log._writer)
    assert isinstance(found, NotCommitted)
    assert isinstance(found.error, ConflictError)
    assert "'orders'" in found.error.message
    assert log.reader.read_head().epoch == head.epoch


def test_an_error_that_ends_the_way_is_a_part_of_the_outcome() -> None:
    log, other = make_log(), make_log()
    base = with_orders(log.store, log)
    with_orders(other.store, other)
    lost = commit(append(), base, other._writer)
    assert isinstance(lost, NotCommitted)
    assert isinstance(lost.error, NotFoundError)
    wrong = commit(overwrite((7, 9)), base, log._writer)
    assert isinstance(wrong, NotCommitted)
    assert isinstance(wrong.error, InvalidInputError)
    assert log.reader.read_head().tables[ORDERS].changed_epoch == base.epoch


class Mute(MemoryStore):
    """A store that answers no PUT of an epoch, and then no GET."""

    silent = away = False

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        if self.silent:
            self.away = True
            return PutOutcome.UNKNOWN
        return super().put_if_absent(name, data)

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        if self.away:
            raise StoreError("The network is away.")
        return super().get(name, limit=limit)


def test_a_put_that_is_never_answered_leaves_the_outcome_unknown() -> None:
    log = make_log(store := Mute())
    base, mine = with_orders(store, log), append()
    store.silent = True
    found = commit(mine, base, log._writer)
    assert isinstance(found, Unknown)
    assert mine.transaction in found.error.message
