"""Independent requests run side by side, and the failure of one says nothing about another."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from colonnade.manifests.errors import StoreError
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.store.side_by_side import one_ahead, side_by_side
from tests.faults import Fault, FaultyStore


def test_as_many_calls_as_the_width_allows_are_under_way_at_once() -> None:
    meeting = threading.Barrier(4, timeout=20)
    assert len(side_by_side([meeting.wait] * 4, width=4)) == 4
    under_way, most, lock = 0, 0, threading.Lock()

    def call() -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        with lock:
            under_way -= 1

    side_by_side([call] * 200, width=4)
    assert most <= 4


def test_a_width_of_one_starts_no_thread_and_keeps_the_order() -> None:
    seen = list[tuple[int, int]]()

    def call(number: int) -> None:
        seen.append((number, threading.get_ident()))

    side_by_side([partial(call, number) for number in range(5)], width=1)
    assert seen == [(n, threading.get_ident()) for n in range(5)]


@pytest.mark.parametrize("width", [1, 4])
def test_the_first_error_of_the_given_order_is_raised_once_all_calls_have_ended(width: int) -> None:
    ended = list[int]()

    def call(number: int) -> int:
        ended.append(number)
        if number in (2, 3):
            raise StoreError(f"call {number} failed")
        return number

    with pytest.raises(StoreError, match="call 2 failed"):
        side_by_side([partial(call, number) for number in range(20)], width=width)
    assert {0, 1, 2} <= {*ended}


@pytest.mark.parametrize("width", [1, 4])
def test_an_object_that_cannot_be_removed_is_named_and_the_rest_is_removed(width: int) -> None:
    inner = MemoryStore()
    for number in range(10):
        inner.put(f"a/{number}", b"x", sync=False)
    store = FaultyStore(inner, {4: Fault.FAIL_BEFORE})
    store.parallel = width
    failed = store.remove_many([f"a/{number}" for number in range(10)])
    assert [info.name for info in inner.list("")] == [*failed]
    assert len(failed) == 1


@pytest.mark.parametrize("width", [1, 4])
def test_a_read_that_fails_leaves_the_other_reads_their_results(width: int) -> None:
    inner = MemoryStore()
    for number in range(10):
        inner.put(f"a/{number}", b"x", sync=False)
    store = FaultyStore(inner, {4: Fault.FAIL_BEFORE})
    store.parallel = width
    found = store.read_many([f"a/{number}" for number in range(10)])
    assert sum(isinstance(each, StoreError) for each in found) == 1
    assert found.count(b"x") == 9


def test_the_next_call_is_made_while_a_result_is_used_and_no_call_after_it() -> None:
    begun = [threading.Event() for _ in range(5)]

    def call(number: int) -> int:
        begun[number].set()
        return number

    found = []
    for number in one_ahead([partial(call, number) for number in range(5)]):
        found.append(number)
        assert all(each.wait(20) for each in begun[: number + 2])
        assert not any(each.is_set() for each in begun[number + 2 :])
    assert found == [0, 1, 2, 3, 4]


def test_one_call_needs_no_thread() -> None:
    assert list(one_ahead([])) == []
    assert list(one_ahead([threading.get_ident])) == [threading.get_ident()]


def test_the_error_of_a_call_comes_in_its_place() -> None:
    def call(number: int) -> int:
        if number == 2:
            raise StoreError(f"call {number} failed")
        return number

    results = one_ahead([partial(call, number) for number in range(5)])
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(StoreError, match="call 2 failed"):
        next(results)


def test_a_store_behind_a_network_reads_ahead_and_a_disk_does_not() -> None:
    store, made = MemoryStore(), list[int]()
    calls = [partial(made.append, number) for number in range(3)]
    for step, _ in enumerate(store.in_turn(calls)):
        assert made == [*range(step + 1)]
    store.parallel, begun = 2, threading.Event()
    results = store.in_turn([lambda: None, begun.set])
    next(results)
    assert begun.wait(20)
