"""Turns in memory: an order among the threads of one process, which nothing relies on."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

import pytest

from colonnade.manifests.object_names import MANIFEST, epoch_name, freed_name
from colonnade.manifests.store import MemoryStore, PutOutcome
from colonnade.manifests.store.memory_turns import MemoryTurns, turns_of
from colonnade.manifests.store.s3 import S3Store
from colonnade.manifests.store.turn import Turn

SOON_S = 30
"""More than anything here takes."""


@pytest.fixture
def other() -> Iterator[ThreadPoolExecutor]:
    """Another thread."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


def begin(turns: MemoryTurns, pool: ThreadPoolExecutor) -> Turn:
    """Begin a turn of another thread."""
    return pool.submit(turns.begin, MANIFEST).result()


def is_free(turns: MemoryTurns, pool: ThreadPoolExecutor) -> bool:
    """Return whether another thread would get the turn now."""
    with begin(turns, pool) as turn:
        return pool.submit(turn.take, 0).result()


def test_the_thread_that_has_waited_longest_gets_the_turn() -> None:
    turns, came = MemoryTurns(), []

    def write(number: int, begun: threading.Event) -> None:
        with turns.begin(MANIFEST) as turn:
            assert not turn.take(0.001)
            begun.set()
            assert turn.take(SOON_S)
            came.append(number)

    threads = []
    with turns.begin(MANIFEST) as first:
        assert first.take(0)
        for number in range(6):
            begun = threading.Event()
            threads.append(threading.Thread(target=write, args=(number, begun)))
            threads[-1].start()
            assert begun.wait(SOON_S)
    for thread in threads:
        thread.join()
    assert came == [0, 1, 2, 3, 4, 5]


def test_a_turn_that_is_given_back_twice_takes_nothing_from_the_next_one(
    other: ThreadPoolExecutor,
) -> None:
    turns = MemoryTurns()
    first, second = turns.begin(MANIFEST), begin(turns, other)
    assert first.take(0)
    assert not other.submit(second.take, 0).result()
    first.give_back()
    assert other.submit(second.take, 0).result()
    first.give_back()
    with ThreadPoolExecutor(1) as third:
        assert not is_free(turns, third)
    second.give_back()


def test_a_thread_that_raises_gives_its_turn_to_the_next_one(other: ThreadPoolExecutor) -> None:
    turns = MemoryTurns()

    def write() -> None:
        with turns.begin(MANIFEST) as turn:
            assert turn.take(0)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write()
    assert is_free(turns, other)


def test_a_turn_ends_with_an_epoch_of_its_thread(other: ThreadPoolExecutor) -> None:
    store = MemoryStore()
    store.put_if_absent(epoch_name(0), b"0")
    turns = store._turns
    turn = store.turn(MANIFEST)
    assert turn.take(0)
    assert store.put_if_absent(epoch_name(0), b"1") is PutOutcome.EXISTS
    other.submit(store.put_if_absent, epoch_name(1), b"1").result()
    store.put_if_absent(freed_name("0" * 32, 0), b"1")
    assert not is_free(turns, other)
    assert store.put_if_absent(epoch_name(2), b"1") is PutOutcome.CREATED
    assert is_free(turns, other)


def test_a_turn_tells_which_epochs_other_threads_may_have_put() -> None:
    store = MemoryStore()
    store.put_if_absent(epoch_name(0), b"0")
    turn = store.turn(MANIFEST)
    assert not turn.may_exist(epoch_name(1))
    store.put_if_absent(epoch_name(1), b"1")
    store.put_if_absent(freed_name("0" * 32, 0), b"1")
    assert turn.may_exist(epoch_name(1))
    assert not turn.may_exist(epoch_name(2))


def test_a_thread_does_not_wait_for_a_turn_of_its_own() -> None:
    turns = MemoryTurns()
    with turns.begin(MANIFEST) as first, turns.begin(MANIFEST) as second:
        assert first.take(0)
        assert second.take(SOON_S)


def test_a_writer_with_the_turn_for_too_long_is_waited_for_once(
    other: ThreadPoolExecutor,
) -> None:
    turns = MemoryTurns()
    slow = begin(turns, other)
    assert other.submit(slow.take, 0).result()
    with turns.begin(MANIFEST) as turn:
        assert not turn.take(0.01)
        turn.give_up()
    with turns.begin(MANIFEST) as turn:
        assert turn.take(0)
    slow.give_back()
    with turns.begin(MANIFEST) as turn:
        assert turn.take(0)
        assert not is_free(turns, other)


def test_a_turn_that_moves_on_from_writer_to_writer_is_still_waited_for(
    other: ThreadPoolExecutor,
) -> None:
    turns = MemoryTurns()
    one, two = begin(turns, other), begin(turns, other)
    assert other.submit(one.take, 0).result()
    with turns.begin(MANIFEST) as turn:
        assert not turn.take(0)
        one.give_back()
        assert other.submit(two.take, 0).result()
        turn.give_up()
    with turns.begin(MANIFEST) as turn:
        assert not turn.take(0)


def take_in_child(turns: MemoryTurns, pipe: Connection) -> None:
    """Take the turn in a forked process."""
    with turns.begin(MANIFEST) as turn:
        pipe.send(turn.take(0))


def test_a_forked_process_has_turns_of_its_own(other: ThreadPoolExecutor) -> None:
    turns = MemoryTurns()
    with begin(turns, other) as first:
        assert other.submit(first.take, 0).result()
        mine, its = multiprocessing.Pipe()
        context = multiprocessing.get_context("fork")
        process = context.Process(target=take_in_child, args=(turns, its))
        process.start()
        try:
            assert mine.poll(SOON_S)
            assert mine.recv()
        finally:
            process.kill()
            process.join()
        assert not turns.begin(MANIFEST).take(0)


def test_stores_of_one_root_with_equal_options_share_their_turns() -> None:
    options = {"key": "a", "secret": "b", "endpoint_url": "http://127.0.0.1:1"}
    same = [
        S3Store("s3://bucket/t", options)._turns,
        S3Store("s3a://bucket/t/", {**options})._turns,
    ]
    assert same[0] is same[1]
    assert S3Store("s3://bucket/u", options)._turns is not same[0]
    assert S3Store("s3://bucket/t", {**options, "key": "c"})._turns is not same[0]
    assert MemoryStore()._turns is not MemoryStore()._turns
    assert turns_of("place") is not turns_of("another place")
