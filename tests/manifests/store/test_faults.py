"""The faulty store does what its plan says: crash tests elsewhere rest on it."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import NotFoundError, StoreError
from colonnade.manifests.store import MemoryStore, PutOutcome
from tests.faults import Call, Fault, FaultyStore, Stopped

CREATED, EXISTS, UNKNOWN = PutOutcome.CREATED, PutOutcome.EXISTS, PutOutcome.UNKNOWN


def faulty(*faults: Fault, late_by: int = 2) -> FaultyStore:
    return FaultyStore(MemoryStore(), dict(enumerate(faults, start=1)), late_by=late_by)


@pytest.mark.parametrize(
    ("fault", "outcome", "there"),
    [
        (Fault.FAIL_AFTER, UNKNOWN, True),
        (Fault.LOST_REQUEST, UNKNOWN, False),
        (Fault.HIDDEN_RETRY, EXISTS, True),
        (Fault.LATE, UNKNOWN, False),
    ],
)
def test_a_commit_can_be_answered_wrongly(fault: Fault, outcome: PutOutcome, there: bool) -> None:
    store = faulty(fault)
    assert store.put_if_absent("a", b"x") is outcome
    assert [info.name for info in store.inner.list("")] == ["a"] * there
    assert store.fired == [1]


@pytest.mark.parametrize("fault", [Fault.FAIL_BEFORE, Fault.DISK_FULL])
def test_a_failed_commit_did_nothing(fault: Fault) -> None:
    store = faulty(fault)
    with pytest.raises(StoreError):
        store.put_if_absent("a", b"x")
    assert store.put_if_absent("a", b"x") is CREATED


def test_a_late_effect_lands_at_its_call_even_after_a_stop() -> None:
    store = faulty(Fault.LATE)
    store.put_if_absent("a", b"x")
    with pytest.raises(NotFoundError):
        store.get("a")
    assert store.get("a") == b"x"
    store = faulty(Fault.LATE, Fault.STOP_BEFORE)
    store.put_if_absent("a", b"x")
    with pytest.raises(Stopped):
        store.get("a")
    store.land()
    assert store.inner.get("a") == b"x"


def test_a_late_effect_never_replaces_what_came_before_it() -> None:
    store = faulty(Fault.LATE, late_by=1)
    store.put_if_absent("a", b"late")
    store.inner.put_if_absent("a", b"early")
    assert store.get("a") == b"early"


@pytest.mark.parametrize(("fault", "there"), [(Fault.STOP_BEFORE, False), (Fault.STOP_AFTER, True)])
def test_nothing_works_after_a_stop(fault: Fault, there: bool) -> None:
    store = faulty(fault)
    with pytest.raises(Stopped):
        store.put("a", b"x", sync=True)
    for call in (lambda: store.get("a"), lambda: store.delete("a"), lambda: store.list("")):
        with pytest.raises(Stopped):
            call()
    assert [info.name for info in store.inner.list("")] == ["a"] * there
    assert store.trace == [Call("put", "a")]


def stream(store: FaultyStore) -> None:
    with store.create("a", sync=True) as writer:
        writer.write(b"x")
        writer.write(b"y")


def test_every_call_of_a_writer_counts() -> None:
    store = faulty()
    stream(store)
    assert [call.operation for call in store.trace] == ["create", "write", "write", "close"]


@pytest.mark.parametrize("fault", [Fault.FAIL_BEFORE, Fault.DISK_FULL, Fault.STOP_BEFORE])
def test_a_fault_at_any_call_of_a_writer_leaves_no_object(fault: Fault) -> None:
    for number in range(1, 5):
        store = FaultyStore(MemoryStore(), {number: fault})
        with pytest.raises((StoreError, Stopped)):
            stream(store)
        assert list(store.inner.list("")) == []
    store = FaultyStore(MemoryStore(), {5: fault})
    stream(store)
    assert store.fired == []


def test_a_fault_that_does_not_suit_its_call_leaves_it_alone() -> None:
    store = faulty(Fault.LOST_REQUEST, Fault.DISK_FULL)
    store.put("a", b"x", sync=False)
    assert store.get("a") == b"x"
    assert store.fired == []
