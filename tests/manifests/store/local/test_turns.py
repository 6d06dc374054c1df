"""Processes of one machine take turns by a lock, which a killed process leaves at once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path
from unittest.mock import Mock

import pytest

from colonnade.manifests.commit.turns import LOOK_S, wait_for_turn
from colonnade.manifests.object_names import MANIFEST, epoch_name
from colonnade.manifests.store import LocalStore, PutOutcome

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


def test_a_writer_with_the_turn_learns_whether_its_slot_was_taken(store: LocalStore) -> None:
    with store.turn(MANIFEST) as turn:
        assert turn.may_exist(epoch_name(1))  # without the turn it cannot tell
        assert turn.take(0)
        assert not turn.may_exist(epoch_name(1))
        LocalStore(store.url).put_if_absent(epoch_name(1), b"1")
        assert turn.may_exist(epoch_name(1))
        assert turn.may_exist("elsewhere/name")


def hold(url: str, pipe: Connection) -> None:
    """Take the turn in a process of its own and keep it."""
    turn = LocalStore(url).turn(MANIFEST)
    pipe.send(turn.take(0))
    time.sleep(SOON_S)


@pytest.mark.slow
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
        landed = Mock(return_value=None)
        with store.turn(MANIFEST) as turn:
            assert not wait_for_turn(turn, landed, limit_s=3 * LOOK_S)
        assert landed.call_count == 4
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
