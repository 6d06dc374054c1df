"""Independent requests run side by side, and the failure of one says nothing about another."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from colonnade.manifests.errors import StoreError
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.store.side_by_side import side_by_side
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
