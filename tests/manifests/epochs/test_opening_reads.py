"""Opening reads lead to the same log as reads one after another, and never get old."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.epochs import opening_reads
from colonnade.manifests.epochs.opening_reads import FIRST, OpeningReads
from colonnade.manifests.errors import CorruptionError, NotFoundError, StoreError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.object_names import HINT, epoch_name
from colonnade.manifests.store import MemoryStore
from tests.far_store import FarStore
from tests.faults import Fault, FaultyStore
from tests.log_samples import append, contents, make_log
from tests.manifests.epochs.test_slot_reader import epoch
from tests.manifests.log.far import far_log


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(1, 90), st.sampled_from((8, 64, 1000)), st.booleans())
def test_a_log_is_opened_at_the_same_head_with_and_without_opening_reads(
    epochs: int, interval: int, without_hint: bool
) -> None:
    store, head = far_log(epochs, interval)
    if without_hint:
        store.inner.delete(HINT)
    log = Log(store)
    assert contents(log, log.reader.read_head(opening=OpeningReads(store))) == contents(log, head)


@pytest.mark.parametrize(("epochs", "rounds"), [(2, 2), (6, 2), (7, 3), (60, 3), (70, 3)])
def test_a_log_with_few_epochs_is_opened_in_two_rounds(epochs: int, rounds: int) -> None:
    store, _ = far_log(epochs)
    with store.counted() as cost:
        assert Log(store).reader.read_head(opening=OpeningReads(store)).epoch == epochs
    assert cost.rounds == rounds
    assert cost.requests <= (19 if rounds == 2 else 88)


def test_only_one_reader_gets_the_slots_that_were_read() -> None:
    store, head = far_log(2)
    opening, log = OpeningReads(store), Log(store)
    assert log.reader.read_head(opening=opening).epoch == 2
    after = make_log(store.inner).commit(append(), head)
    assert log.reader.read_head(opening=opening).epoch == after.epoch


def test_slots_that_were_read_more_than_ten_seconds_ago_are_read_again() -> None:
    store, head = far_log(2)
    opening, log = OpeningReads(store), Log(store)
    after = make_log(store.inner).commit(append(), head)
    with patch.object(opening_reads, "elapsed_s", lambda: opening.slots().started + 11):
        found = log.reader.read_head(opening=OpeningReads(store))
    assert found.epoch == after.epoch


def test_a_log_is_trusted_from_the_beginning_of_the_opening_reads_on() -> None:
    store, _ = far_log(2)
    with patch("colonnade.manifests.epochs.slot_reader.elapsed_s", lambda: 7.0):
        opening = OpeningReads(store)
    log = Log(store)
    with (
        patch.object(log.reader.last_look, "record") as record,
        patch.object(opening_reads, "elapsed_s", lambda: 8.0),
    ):
        head = log.reader.read_head(opening=opening)
    record.assert_called_once_with(head, 7.0)


def test_an_epoch_0_that_is_too_large_to_be_read_ahead_is_found() -> None:
    inner = MemoryStore()
    create_database(inner, lone_table=False)
    store = FarStore(inner)
    with patch("colonnade.manifests.epochs.slot_reader._AHEAD_BYTES", 10):
        opening = OpeningReads(store)
    assert opening.is_taken()
    assert opening.read_first() is not None
    assert Log(store).reader.read_head(opening=opening).epoch == 0


@pytest.mark.parametrize("count", [1, FIRST])
@pytest.mark.parametrize("lost", [1, 2, 3, 5, 7, 12, 31, 48, 64])
def test_a_gap_that_as_many_epochs_follow_is_found_behind_the_first_slots(
    lost: int, count: int
) -> None:
    store, head = far_log(1)
    behind = head.epoch + 1 + lost
    for slot in range(behind, behind + lost):
        store.inner.put_if_absent(epoch_name(slot), encode_epoch(epoch(slot)))
    with pytest.raises(CorruptionError, match=f"{head.epoch + 1:020}.json is missing"):
        Log(store).reader.read_head(opening=OpeningReads(store, count))


@pytest.mark.parametrize("epochs", [2, 12, 60, 70, 90])
def test_a_log_of_which_only_slot_0_was_read_at_first_is_opened_in_three_rounds(
    epochs: int,
) -> None:
    store, head = far_log(epochs)
    log = Log(store)
    with store.counted() as cost:
        found = log.reader.read_head(opening=OpeningReads(store, 1))
    assert contents(log, found) == contents(log, head)
    assert cost.rounds == 3
    assert cost.requests <= 78


def test_a_failure_of_epoch_0_is_told_and_one_of_the_hint_too() -> None:
    broken = FarStore(FaultyStore(far_log(2)[0].inner, {2: Fault.FAIL_BEFORE}))
    opening = OpeningReads(broken)
    for call in (opening.is_taken, opening.read_first):
        with pytest.raises(StoreError, match="planned failure"):
            call()
    store = FarStore(FaultyStore(far_log(2)[0].inner, {1: Fault.FAIL_BEFORE}))
    with pytest.raises(StoreError, match="planned failure"):
        Log(store).reader.read_head(opening=OpeningReads(store))
    assert isinstance(OpeningReads(FarStore()).hint, NotFoundError)
    assert not OpeningReads(FarStore()).is_taken()
