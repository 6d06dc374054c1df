"""Slots that are free again: no reader takes one for the end, no writer for a place to commit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.checkpoint.hint import put_hint
from colonnade.manifests.commit.change import Change
from colonnade.manifests.epochs.slots import check_unused
from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    NotFoundError,
)
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import DropDatabase, Operation, Tag
from colonnade.manifests.object_names import FREED, HINT, epoch_name
from colonnade.manifests.store import PutOutcome
from colonnade.manifests.store.base import Data
from colonnade.manifests.vacuum.run import VacuumRequest, plan_vacuum
from tests.far_store import FarStore
from tests.faults import FaultyStore
from tests.log_samples import append, contents, make_log
from tests.manifests.epochs.blocks import BLOCK, Blocks, slept
from tests.manifests.vacuum.world import Hooked


@pytest.mark.slow
@pytest.mark.parametrize(
    "block", [1, 3, 1024, *(pytest.param(size, marks=pytest.mark.long) for size in (2, 7, 16_384))]
)
def test_blocks_of_any_size_are_read_the_same(block: int) -> None:
    old = Blocks(block=block)
    for _ in range(6):
        old.vacuum()
        old.expected.append(contents(old.log, old.log.reader.read_head()))
        old.states.append(old.log.reader.read_head())
        old.check()
        old.send(append())
        old.expected.append(contents(old.log, old.states[-1]))
    if block > 100:
        assert old.numbers() == {*range(old.states[-1].epoch + 1)}


@pytest.mark.slow
@pytest.mark.parametrize("hint", ["gone", "behind the floor"])
def test_the_newest_state_is_found_without_a_hint_in_few_reads(hint: str) -> None:
    old = Blocks(epochs=3)
    first = old.states[-1]
    for _ in range(40):
        for _ in range(3):
            old.send(append())
        old.vacuum()
        old.states.append(old.log.reader.read_head())
    if hint == "gone":
        old.store.delete(HINT)
    else:
        put_hint(old.store, old.states[20].anchors[0])
    watched = FaultyStore(old.store)
    assert make_log(watched).reader.read_head().epoch == old.states[-1].epoch
    assert make_log(watched).reader.refresh(first).epoch == old.states[-1].epoch
    assert len(watched.trace) < 120


@pytest.mark.slow
@pytest.mark.parametrize("fresh", [True, False])
def test_a_writer_that_slept_through_a_vacuum_learns_that_it_has_not_committed(fresh: bool) -> None:
    old = Blocks(epochs=5)

    def meanwhile() -> None:
        for _ in range(20):
            old.send(append())
        old.vacuum()

    mine = append()
    mine = Change(mine.transaction, mine.operation, mine.ops, fresh=fresh)
    # The ids of RowSets prove that a change was not committed which only this writer can have sent.
    error = ConflictError if fresh else CommitUnknownError
    with pytest.raises(error, match="removed by retention"):
        slept(old, mine, meanwhile)
    assert 6 in old.numbers()
    old.expected = old.expected[:6]
    old.check()
    planned = plan_vacuum(old.log, VacuumRequest(0, 3, threads=1))
    assert [each.name for each in planned.files] == [epoch_name(6)]
    old.vacuum()
    assert 6 not in old.numbers()
    old.check()


def test_a_writer_that_slept_and_lands_in_a_later_slot_has_committed() -> None:
    old = Blocks(epochs=5)

    def meanwhile() -> None:
        old.send(append())
        old.vacuum()

    mine = append()
    after = slept(old, mine, meanwhile)
    assert after.transaction == mine.transaction
    assert old.log.reader.read_head().transaction == mine.transaction


def test_a_base_that_was_freed_is_a_conflict_and_nothing_is_put() -> None:
    old = Blocks()
    old.vacuum()
    for state in old.states[1:27]:
        watched = FaultyStore(old.store)
        mine = append()
        fresh = Change(mine.transaction, mine.operation, mine.ops, fresh=True)
        with pytest.raises(ConflictError, match="removed by retention"):
            make_log(watched).commit(fresh, state)
        assert not [call for call in watched.trace if call.operation == "put_if_absent"]
        assert not old.log.reader.can_follow(state)
        with pytest.raises(CommitUnknownError):
            old.log.commit(append(), state)


@pytest.mark.parametrize("fresh", [True, False])
def test_the_content_of_a_freed_base_slot_does_not_mean_another_database(fresh: bool) -> None:
    old = Blocks()
    old.vacuum()
    for state in old.states[1:27]:
        old.litter(state.epoch)
        mine = replace(append(), fresh=fresh)
        with pytest.raises(ConflictError if fresh else CommitUnknownError, match="by retention"):
            make_log(old.store).commit(mine, state)


@pytest.mark.parametrize("slot", [6, 7])
def test_an_own_epoch_that_was_removed_before_its_answer_was_read_is_not_denied(slot: int) -> None:
    """The answer to the PUT is lost. Later the slot holds a late request of another writer."""
    old = Blocks(epochs=slot - 1)
    base, before = old.states[-2], old.epochs[-1]
    assert isinstance(before, Epoch)
    mine = replace(append(), fresh=True)
    stray = before.model_copy(
        update={
            "epoch": slot,
            "transaction": new_transaction_id(),
            "previous": before.transaction,
            "base": before.epoch,
        }
    )

    def meanwhile() -> None:
        old.states.append(old.log.reader.read_head())
        assert old.states[-1].transaction == mine.transaction
        for _ in range(20):
            old.send(append())
        old.vacuum()
        old.store.put_if_absent(epoch_name(slot), encode_epoch(stray))

    class Unanswered(Hooked):
        def put_if_absent(self, name: str, data: Data) -> PutOutcome:
            outcome: PutOutcome = super().put_if_absent(name, data)  # type: ignore[no-untyped-call]
            if name != epoch_name(slot):
                return outcome
            meanwhile()
            return PutOutcome.UNKNOWN

    with pytest.raises(CommitUnknownError, match=mine.transaction):
        old.open(Unanswered(old.store, {})).commit(mine, base)


def test_a_lost_mark_does_not_end_the_log_after_a_removed_base() -> None:
    old = Blocks()
    old.vacuum()
    blocks = old.states[0].blocks
    assert blocks is not None
    for block in range(1, 7):
        mark = blocks.mark(block)
        data = old.store.get(mark)
        old.store.delete(mark)
        with pytest.raises(CorruptionError, match="is missing"):
            make_log(old.store).commit(replace(append(), fresh=True), old.states[block * BLOCK - 1])
        with pytest.raises(CommitUnknownError, match="is missing"):
            make_log(old.store).commit(append(), old.states[block * BLOCK - 1])
        assert block * BLOCK not in old.numbers()
        old.store.put(mark, data, sync=True)


def test_a_commit_that_is_sent_again_is_found_where_it_landed_and_nowhere_else() -> None:
    old = Blocks(epochs=5)
    base, mine = old.states[-1], append()
    landed = old.send(mine)
    for _ in range(4):
        old.send(append())
    assert old.vacuum(epochs=6) == 5
    assert old.numbers() == {0, *range(4, old.log.reader.read_head().epoch + 1)}
    assert old.log.commit(mine, base).epoch == landed.epoch
    for _ in range(8):
        old.states.append(old.log.reader.read_head())
        old.send(append())
    old.vacuum(epochs=2)
    # A late copy of the request that created it arrives. It must not count as an epoch.
    epoch = old.epochs[5]
    assert isinstance(epoch, Epoch)
    stray = epoch.model_copy(
        update={"epoch": 6, "previous": base.transaction, "transaction": mine.transaction}
    )
    old.store.put_if_absent(epoch_name(6), encode_epoch(stray))
    with pytest.raises(CommitUnknownError):
        make_log(old.store).commit(mine, base)


@pytest.mark.slow
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("ops", [(), (DropDatabase(),), (Tag(name="t", epoch=1),)])
def test_the_content_of_freed_slots_is_not_an_epoch(ops: tuple[Operation, ...], every: int) -> None:
    old = Blocks()
    old.vacuum()
    old.expected = old.expected[:28]
    for slot in range(1, 28, every):
        found = Blocks.__new__(Blocks)
        found.__dict__.update(old.__dict__)
        stray = old.litter(slot, *ops)
        if slot + 1 < 28:
            old.litter(slot + 1, *ops, previous=stray.transaction if slot % 2 else None)
        old.check()
        head = old.log.reader.read_head()
        for ms in (old.states[slot].time_ms, old.states[1].time_ms):
            with pytest.raises(NotFoundError):
                old.log.reader.read_at(timestamp_ms=ms, head=old.states[-3])
            with pytest.raises(NotFoundError):
                old.log.reader.read_at(timestamp_ms=ms, head=head)
        assert old.log.reader.is_freed(slot, head)
        if slot > 1:
            with pytest.raises((ConflictError, CommitUnknownError)):
                old.log.commit(append(), old.states[slot - 1])
        old.vacuum()
        assert not {slot, slot + 1} - {28} & old.numbers()


@pytest.mark.parametrize("seen", [1, 5, 20])
def test_history_ends_where_slots_are_freed_while_it_is_read(seen: int) -> None:
    old = Blocks()
    epochs = old.log.reader.read_epochs(30)
    found = [next(epochs) for _ in range(seen)]
    for _ in range(8):
        old.log.commit(append(), old.log.reader.read_head())
    old.vacuum()
    for slot in range(1, 31):
        old.litter(slot)
    found += epochs
    assert found == old.epochs[: -len(found) - 1 : -1]


@pytest.mark.parametrize("data", [b"{}", b"x" * 10_000])
@pytest.mark.parametrize("hint", [True, False])
def test_the_name_of_a_mark_says_everything(data: bytes, hint: bool) -> None:
    old = Blocks(epochs=5)

    def meanwhile() -> None:
        for _ in range(20):
            old.send(append())
        old.vacuum()
        for info in [*old.store.list(FREED)]:
            old.store.put(info.name, data, sync=True)
        if not hint:
            old.store.delete(HINT)

    with pytest.raises(CommitUnknownError):
        slept(old, append(), meanwhile)
    with pytest.raises(NotFoundError, match="removed by retention"):
        make_log(old.store).reader.read_at(2)
    assert make_log(old.store).reader.read_head().epoch == old.log.reader.read_head().epoch
    old.vacuum()
    old.check()


@pytest.mark.slow
def test_marks_tell_a_database_that_lost_epoch_0_from_a_place_where_none_was() -> None:
    old = Blocks(epochs=100)
    old.vacuum()
    for name in (epoch_name(0), HINT):
        old.store.delete(name)
    with pytest.raises(CorruptionError, match="is missing"):
        check_unused(old.store)


def test_marks_of_another_database_say_nothing() -> None:
    old, other = Blocks(), Blocks(epochs=3)
    old.vacuum()
    for info in old.store.list(FREED):
        other.store.put(info.name, old.store.get(info.name), sync=True)
    other.send(append())
    assert other.log.reader.read_head().epoch == 4


@pytest.mark.parametrize(("epochs", "lost"), [(6, 0), (30, 0), (30, 3), (30, 4), (30, 6)])
def test_a_log_that_lost_a_mark_and_its_hint_is_never_taken_for_a_short_one(
    epochs: int, lost: int
) -> None:
    old = Blocks(epochs)
    old.vacuum(1)
    head = old.log.reader.read_head()
    old.store.delete(HINT)
    old.store.delete(head.blocks.mark(lost))
    for store in (old.store, FarStore(old.store)):
        try:
            assert old.open(store).reader.read_head().epoch == head.epoch
        except CorruptionError:
            if lost != 3:  # The search for the newest mark looks at this one.
                raise
