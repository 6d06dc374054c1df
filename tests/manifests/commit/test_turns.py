"""Turns: an order among those who commit on one machine, which nothing relies on."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from unittest.mock import MagicMock, Mock, patch

import pytest

from colonnade.manifests.commit.turns import LOOK_S, TURN_LIMIT_S, pause_s, wait_for_turn
from colonnade.manifests.object_names import MANIFEST, epoch_name
from colonnade.manifests.store import LocalStore, MemoryStore, ObjectStore, PutOutcome
from tests.faults import FaultyStore
from tests.log_samples import append, make_log, with_orders

SOON_S = 30
"""More than anything here takes."""


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    """A store with the folder of a log."""
    store = LocalStore(tmp_path)
    store.put_if_absent(epoch_name(0), b"0")
    return store


def test_a_turn_is_handed_on_when_it_is_given_back(store: LocalStore) -> None:
    other = LocalStore(store.url)
    with store.turn(MANIFEST) as first:
        assert first.take(0)
        assert first.take(0)
        second = other.turn(MANIFEST)
        assert not second.take(0)
    assert second.take(SOON_S)
    third = store.turn(MANIFEST)
    assert not third.take(0)
    second.give_back()
    assert third.take(SOON_S)
    third.give_back()


def test_the_next_writer_continues_as_soon_as_an_object_has_its_name(store: LocalStore) -> None:
    mine, next_one = store.turn(MANIFEST), LocalStore(store.url).turn(MANIFEST)
    assert mine.take(0)
    assert store.put_if_absent(epoch_name(0), b"1") is PutOutcome.EXISTS
    assert not next_one.take(0)
    assert store.put_if_absent(epoch_name(1), b"1") is PutOutcome.CREATED
    assert next_one.take(SOON_S)
    next_one.give_back()


def test_a_turn_that_is_given_back_twice_takes_nothing_from_the_next_one(store: LocalStore) -> None:
    first, second = store.turn(MANIFEST), LocalStore(store.url).turn(MANIFEST)
    assert first.take(0)
    first.give_back()
    assert second.take(SOON_S)
    first.give_back()
    third = LocalStore(store.url).turn(MANIFEST)
    assert not third.take(0)
    second.give_back()
    assert third.take(SOON_S)
    third.give_back()


def hold(url: str, pipe: Connection) -> None:
    """Take the turn in a process of its own and keep it."""
    turn = LocalStore(url).turn(MANIFEST)
    pipe.send(turn.take(0))
    time.sleep(SOON_S)


def test_a_killed_process_delays_no_writer_and_a_stopped_process_delays_one_once(
    store: LocalStore,
) -> None:
    context = multiprocessing.get_context("spawn")
    mine, its = context.Pipe()
    process = context.Process(target=hold, args=(store.url, its))
    process.start()
    try:
        assert mine.recv()
        assert process.pid is not None
        os.kill(process.pid, signal.SIGSTOP)
        landed = Mock(return_value=False)
        with store.turn(MANIFEST) as turn:
            assert not wait_for_turn(turn, landed, limit_s=3 * LOOK_S)
        assert landed.call_count == 5
        # Whoever comes now does not wait at all.
        with store.turn(MANIFEST) as turn:
            assert turn.take(0)
    finally:
        process.kill()
        process.join()
    deadline = time.monotonic() + SOON_S
    while not ordered(store):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ordered(store: LocalStore) -> bool:
    """Whether one turn keeps the next one waiting."""
    with store.turn(MANIFEST) as first, LocalStore(store.url).turn(MANIFEST) as second:
        return first.take(0) and not second.take(0)


@pytest.mark.parametrize(
    "make",
    [
        LocalStore,
        lambda path: FaultyStore(LocalStore(path)),
        lambda _: FaultyStore(MemoryStore()),
    ],
)
def test_where_a_store_knows_no_order_everybody_has_the_turn(
    make: Callable[[Path], ObjectStore], tmp_path: Path
) -> None:
    # The folder is not there, or the store has none.
    store = make(tmp_path)
    with store.turn(MANIFEST) as first, store.turn(MANIFEST) as second:
        assert first.take(0)
        assert second.take(0)


def test_a_change_is_committed_although_another_writer_keeps_the_turn(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    log = make_log(store)
    base = with_orders(store, log)
    with LocalStore(tmp_path).turn(MANIFEST) as other:
        assert other.take(0)
        assert log.commit(append(), base).epoch == base.epoch + 1


def test_a_commit_of_another_writer_ends_the_wait_for_a_turn(store: LocalStore) -> None:
    with store.turn(MANIFEST) as first, LocalStore(store.url).turn(MANIFEST) as second:
        assert first.take(0)
        answers = iter([False, False, True])
        assert wait_for_turn(second, lambda waited: next(answers))
        assert not second.take(0)


@pytest.mark.parametrize("waits", [True, False])
def test_a_slot_that_was_taken_before_the_turn_came_is_not_tried(
    tmp_path: Path, waits: bool
) -> None:
    store = LocalStore(tmp_path)
    log = make_log(store)
    base = with_orders(store, log)
    others = LocalStore(tmp_path)
    pauses = Mock()
    waiting = make_log(store)
    waiting.pause = pauses
    # Another writer takes the slot between the look at it and the turn.
    turn = MagicMock()

    def take(wait_s: float) -> bool:
        if has := not waits or wait_s > 0:
            make_log(others).commit(append(), base)
        return has

    turn.take = take
    turn.__enter__.return_value = turn
    with patch.object(store, "turn", return_value=turn):
        assert waiting.commit(append(), base).epoch == base.epoch + 2
    pauses.assert_not_called()


def test_waiting_is_bounded_and_shorter_for_those_who_wait_longer() -> None:
    assert round(TURN_LIMIT_S / LOOK_S) == 400
    pauses = [[pause_s(lost) for _ in range(50)] for lost in (1, 10, 100)]
    assert max(pauses[2]) < min(pauses[1]) <= max(pauses[1]) < min(pauses[0])
    assert all(len(set(each)) > 40 for each in pauses)
