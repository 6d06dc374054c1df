"""Processes of one machine take turns by a lock, which a killed process leaves at once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from unittest.mock import Mock, patch

import pytest

from colonnade.manifests.commit.turns import LOOK_S, wait_for_turn
from colonnade.manifests.object_names import MANIFEST, epoch_name
from colonnade.manifests.store import LocalStore, PutOutcome
from colonnade.manifests.store.turn import Turn

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


def test_the_writer_with_the_turn_waits_for_notes_a_moment_and_no_longer(
    store: LocalStore,
) -> None:
    other = LocalStore(store.url).turn(MANIFEST)
    clock = Mock()
    clock.monotonic.return_value = 0.0

    def leave_note(seconds: float) -> None:
        clock.monotonic.return_value += seconds
        other.leave(b"note\n")

    clock.sleep.side_effect = leave_note
    with store.turn(MANIFEST) as leader:
        assert leader.take(0)
        assert not other.take(0)
        with patch("colonnade.manifests.store.local.turns.time", clock):
            leader.await_notes(0)
            assert not clock.sleep.called
            leader.await_notes(2)
            assert clock.sleep.call_count == 2
            leader.await_notes(2)
            assert clock.sleep.call_count == 2
            begun = clock.monotonic()
            leader.await_notes(1000)
            assert clock.monotonic() - begun < 0.01
            assert leader.collect().count(b"\n") == clock.sleep.call_count < 10
    other.give_back()


@contextmanager
def sleeping(turn: Turn) -> Iterator[list[bool]]:
    """A thread that waits for the turn, and has to be woken within the block. Yields its result."""
    found: list[bool] = []
    begun = time.monotonic()
    thread = threading.Thread(target=lambda: found.append(turn.take(SOON_S)))
    thread.start()
    yield found
    thread.join()
    assert time.monotonic() - begun < SOON_S


def test_a_writer_is_woken_by_the_statement_about_its_note(store: LocalStore) -> None:
    with store.turn(MANIFEST) as leader, LocalStore(store.url).turn(MANIFEST) as waiting:
        assert leader.take(0)
        assert not waiting.take(0)
        assert waiting.leave(b"{a note with several words}\n")
        assert waiting.wakes
        with sleeping(waiting) as found:
            assert leader.collect() == b"{a note with several words}\n"
            leader.state(b"durable\n")
        assert found == [False]
        assert waiting.stated() == b"durable\n"


def end_by_leaving(store: LocalStore, turn: Turn) -> None:
    """End a turn without an object."""
    turn.give_back()


def end_by_putting(store: LocalStore, turn: Turn) -> None:
    """End a turn of this thread by an object."""
    assert store.put_if_absent(epoch_name(1), b"1") is PutOutcome.CREATED


def end_after_taking(store: LocalStore, turn: Turn) -> None:
    """End a turn whose writer has taken notes, and has not used them."""
    assert turn.collect()
    turn.give_back()


@pytest.mark.parametrize("end", [end_by_leaving, end_by_putting, end_after_taking])
def test_a_writer_whose_note_was_not_used_is_woken_when_the_turn_ends(
    store: LocalStore, end: Callable[[LocalStore, Turn], None]
) -> None:
    with store.turn(MANIFEST) as leader, LocalStore(store.url).turn(MANIFEST) as waiting:
        assert leader.take(0)
        assert not waiting.take(0)
        assert waiting.leave(b"note\n")
        with sleeping(waiting) as found:
            end(store, leader)
        # The thread may not have slept yet. Then it has got the turn at once.
        assert found == [True] or waiting.take(0)


def test_a_note_that_comes_after_the_turn_has_ended_waits_for_no_writer(store: LocalStore) -> None:
    with store.turn(MANIFEST) as leader, LocalStore(store.url).turn(MANIFEST) as waiting:
        assert leader.take(0)
        assert not waiting.take(0)
        leader.give_back()
        assert waiting.leave(b"note\n")
        with sleeping(waiting) as found:
            pass
        assert found == [True]


def test_the_end_of_a_turn_wakes_the_first_writer_that_still_listens(store: LocalStore) -> None:
    with (
        store.turn(MANIFEST) as leader,
        LocalStore(store.url).turn(MANIFEST) as killed,
        LocalStore(store.url).turn(MANIFEST) as waiting,
    ):
        assert leader.take(0)
        for each in (killed, waiting):
            assert not each.take(0)
            assert each.leave(b"note\n")
        killed.give_back()
        with sleeping(waiting) as found:
            leader.give_back()
        assert found == [True] or waiting.take(0)


def test_a_writer_that_cannot_be_woken_looks_by_itself(store: LocalStore) -> None:
    with store.turn(MANIFEST) as leader, LocalStore(store.url).turn(MANIFEST) as waiting:
        assert leader.take(0)
        assert not waiting.take(0)
        with patch("colonnade.manifests.store.local.turns.Listener", side_effect=OSError):
            assert waiting.leave(b"note\n")
        assert not waiting.wakes
        assert not waiting.take(0.001)
        assert leader.collect() == b"note\n"
        leader.give_back()
        assert waiting.take(0.001)
