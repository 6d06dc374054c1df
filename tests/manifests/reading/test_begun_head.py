"""A head whose proof waits for the first use is the head of that moment, and never an older one."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from colonnade.manifests.epochs.opening_reads import OpeningReads
from colonnade.manifests.errors import CorruptionError, StoreError
from colonnade.manifests.log.dropping import drop_database
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.reading import begun_head
from colonnade.manifests.reading.begun_head import BegunHead, begin_head, finish_head
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.far_store import FarStore
from tests.faults import Fault, FaultyStore
from tests.log_samples import append, change, contents, make_log, table
from tests.manifests.epochs.test_slot_reader import epoch
from tests.manifests.log.far import far_log


def begin(store: FarStore, log: Log) -> BegunHead:
    begun = begin_head(log.reader, OpeningReads(store))
    assert begun is not None
    return begun


@pytest.mark.parametrize(
    ("epochs", "rounds", "requests"), [(2, 1, 8), (6, 1, 11), (14, 2, 8), (70, 2, 11)]
)
def test_the_proof_of_a_head_is_one_round_which_also_looks_for_newer_epochs(
    epochs: int, rounds: int, requests: int
) -> None:
    store, head = far_log(epochs)
    log = Log(store)
    with store.counted() as cost:
        begun = begin(store, log)
    assert cost.rounds == rounds
    with store.counted() as cost:
        found = finish_head(log.reader, begun)
    assert found is not None
    assert contents(log, found) == contents(log, head)
    assert cost.rounds == 1
    assert cost.requests <= requests
    assert log.reader.last_look.covers(head)


@pytest.mark.parametrize(
    ("epochs", "is_proven"), [(2, False), (14, False), (60, True), (64, False), (80, True)]
)
def test_a_head_whose_last_round_reads_slots_is_proven_by_it(epochs: int, is_proven: bool) -> None:
    store, head = far_log(epochs)
    log = Log(store)
    begun = begin(store, log)
    assert begun.is_proven == is_proven
    assert log.reader.last_look.covers(head) == is_proven
    with store.counted() as cost:
        found = log.reader.refresh(begun.state)
    assert contents(log, found) == contents(log, head)
    assert (cost.requests == 1) == is_proven


@pytest.mark.parametrize("others", [1, 2, 3, 70])
@pytest.mark.parametrize("late", [False, True])
def test_a_commit_of_a_concurrent_writer_before_the_first_use_is_found(
    others: int, *, late: bool
) -> None:
    store, head = far_log(5)
    log, other = Log(store), make_log(store.inner)
    begun = begin(store, log)
    for _ in range(others):
        head = other.commit(append(), head)
    with patch.object(begun_head, "elapsed_s", lambda: begun.slots.started + (11 if late else 1)):
        found = finish_head(log.reader, begun)
    assert found is not None
    assert contents(log, found) == contents(log, head)


@pytest.mark.parametrize("epochs", [1, 5, 14])
@pytest.mark.parametrize("lost", [1, 2, 3, 5, 7, 12, 31, 48, 64])
def test_a_gap_that_as_many_epochs_follow_is_found_before_the_first_use(
    epochs: int, lost: int
) -> None:
    store, head = far_log(epochs)
    behind = head.epoch + 1 + lost
    for slot in range(behind, behind + lost):
        store.inner.put_if_absent(epoch_name(slot), encode_epoch(epoch(slot)))
    log = Log(store)
    begun = begin_head(log.reader, OpeningReads(store))
    with pytest.raises(CorruptionError, match=f"{head.epoch + 1:020}.json is missing"):
        log.reader.read_head() if begun is None else finish_head(log.reader, begun)


@pytest.mark.parametrize("late", [False, True])
def test_a_state_whose_following_slots_were_freed_is_not_the_head(*, late: bool) -> None:
    near = MemoryStore()
    state = create_database(near, lone_table=False, slot_block=4, clock_ms=lambda: 0)
    writer = make_log(near)
    later = head = writer.commit(change(table(), name="create_table"), state)
    own = near.get(epoch_name(head.epoch))
    for _ in range(20):
        later = writer.commit(append(), later)
    vacuum(writer, VacuumRequest(hours=0, epochs=1, trust_clock=True))
    # A killed vacuum has left this slot, and has freed those behind it.
    near.put(epoch_name(head.epoch), own, sync=True)
    near.delete("_manifest/hint.json")
    store = FarStore(near)
    log = Log(store)
    begun = begin(store, log)
    assert begun.state.epoch == head.epoch
    with patch.object(begun_head, "elapsed_s", lambda: begun.slots.started + (11 if late else 1)):
        assert finish_head(log.reader, begun) is None
    assert not log.reader.last_look.covers(begun.state)


def test_a_log_that_has_ended_or_cannot_be_read_has_no_begun_head() -> None:
    store, _ = far_log(5)
    damaged = FarStore(far_log(5)[0].inner)
    damaged.inner.put(epoch_name(3), b"no epoch", sync=True)
    assert begin_head(Log(damaged).reader, OpeningReads(damaged)) is None
    ended = FarStore(store.inner)
    ended.keeps_logs = True
    drop_database(Log(ended), cascade=True)
    assert begin_head(Log(ended).reader, OpeningReads(ended)) is None


@pytest.mark.parametrize("call", [11, 13])
def test_a_failure_of_the_proof_is_told(call: int) -> None:
    store = FarStore(FaultyStore(far_log(5)[0].inner, {call: Fault.FAIL_BEFORE}))
    log = Log(store)
    begun = begin(store, log)
    with pytest.raises(StoreError, match="planned failure"):
        finish_head(log.reader, begun)
    head = finish_head(log.reader, begun)
    assert head is not None
    assert head.epoch == 5
