"""Turns: an order among those who commit on one machine, which nothing relies on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest.mock import MagicMock, Mock, patch

import pytest

from colonnade.manifests.commit.turns import LOOK_S, TURN_LIMIT_S, pause_s, wait_for_turn
from colonnade.manifests.object_names import MANIFEST, epoch_name
from colonnade.manifests.store import LocalStore, MemoryStore, ObjectStore
from tests.faults import FaultyStore
from tests.log_samples import append, make_log, with_orders


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    """A store with the folder of a log."""
    store = LocalStore(tmp_path)
    store.put_if_absent(epoch_name(0), b"0")
    return store


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


@pytest.mark.slow
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
        answers = iter([None, None, True])
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


def test_a_writer_follows_new_epochs_while_it_waits_and_gives_up_in_time() -> None:
    turn = MagicMock()
    turn.take.return_value = False
    follow = Mock(return_value=None)
    assert not wait_for_turn(turn, follow)
    intervals = [call.args[0] for call in turn.take.call_args_list[1:]]
    assert {*intervals} == {LOOK_S}
    assert TURN_LIMIT_S <= sum(intervals) < TURN_LIMIT_S + 2 * LOOK_S
    turn.give_up.assert_called_once()
    assert [call.args[0] for call in follow.call_args_list] == [False] * len(intervals) + [True]
