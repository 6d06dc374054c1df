"""What is left of a log whose old epochs were removed, in whole blocks and in part."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.checkpoint.root import Hint
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.removals import removals_are_conflicts
from colonnade.manifests.epochs.freed_slots import put_mark
from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    NotFoundError,
)
from colonnade.manifests.log.log import create_database
from colonnade.manifests.model.codec import decode_model
from colonnade.manifests.model.operations import CheckpointRef, Vacuum
from colonnade.manifests.object_names import HINT, checkpoint_name, epoch_name
from colonnade.manifests.store import MemoryStore
from tests.log_samples import TRIPS, append, change, contents, entry, live, make_log, table

BLOCK = 5


class Retained:
    """A log of 20 epochs, checkpoints at every fourth, and retention made by hand."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.log = make_log(self.store, 4)
        created = create_database(
            self.store, lone_table=False, clock_ms=lambda: 0, slot_block=BLOCK
        )
        self.states = [created]
        self.anchors: dict[int, CheckpointRef] = {}
        self._step(change(table()))
        for low in range(18):
            self._step(append(entry(low=low, data="QUJD")))
        self.expected = [contents(self.log, state) for state in self.states]

    def _step(self, mine: Change) -> None:
        state = self.log.commit(mine, self.states[-1])
        self.states.append(state)
        if state.epoch % 4 == 0:
            hint = decode_model(Hint, self.store.get(HINT), HINT)
            self.anchors[state.epoch] = CheckpointRef(
                epoch=state.epoch, root=hint.root, check=hint.check
            )

    def remove(self, floor: int, *, frees: bool = True) -> int:
        """Raise the floor, and free the blocks below it. Returns the newest epoch."""
        vacuum = Vacuum(floor=floor, anchors=(self.anchors[floor],))
        head = self.log.commit(change(vacuum, name="vacuum"), self.log.reader.read_head())
        for block in range(head.blocks.whole_below(floor) if frees else 0):
            put_mark(self.store, head.blocks, block)
            for slot in range(max(1, BLOCK * block), BLOCK * (block + 1)):
                self.store.delete(epoch_name(slot))
        return head.epoch


@pytest.mark.parametrize("frees", [True, False])
@pytest.mark.parametrize("with_hint", [True, False])
def test_above_the_floor_everything_reads_as_before_and_below_nothing_does(
    with_hint: bool, frees: bool
) -> None:
    old = Retained()
    head = old.remove(8, frees=frees)
    if not with_hint:
        old.store.delete(HINT)
    log = make_log(old.store)
    assert log.reader.read_head().epoch == head
    for epoch in range(8, 20):
        state = log.reader.read_at(epoch)
        assert contents(log, state) == old.expected[epoch]
        assert log.reader.read_at(timestamp_ms=state.time_ms).epoch == epoch
    for epoch in range(1, 8):
        with pytest.raises(NotFoundError, match="oldest readable epoch is 8"):
            log.reader.read_at(epoch)
    with pytest.raises(NotFoundError, match="oldest readable epoch is 8"):
        log.reader.read_at(timestamp_ms=old.states[3].time_ms)
    kept = log.reader.read_kept_epochs(log.reader.read_head())
    assert [each.epoch for each in kept] == list(range(head, 7, -1))
    newest = contents(log, log.reader.read_head())
    assert contents(log, log.reader.refresh(old.states[3])) == newest


@pytest.mark.parametrize("frees", [True, False])
def test_a_reader_begins_at_the_last_floor_though_the_anchors_of_earlier_ones_are_gone(
    frees: bool,
) -> None:
    old = Retained()
    old.remove(8, frees=frees)
    head = old.remove(12, frees=frees)
    old.store.delete(HINT)
    old.store.delete(checkpoint_name(old.anchors[8].root))
    log = make_log(old.store)
    assert log.reader.read_head().epoch == head
    assert contents(log, log.reader.read_at(19)) == old.expected[19]
    assert log.reader.read_at(12).floor == 12
    with pytest.raises(NotFoundError, match="oldest readable epoch is 12"):
        log.reader.read_at(5)


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["lost", "damaged"])
def test_epochs_below_the_floor_are_not_needed_while_their_files_still_exist(harm: str) -> None:
    for floor in (8, 12):
        for slot in range(1, floor + 1):
            old = Retained()
            head = old.remove(floor)
            if epoch_name(slot) not in {info.name for info in old.store.list("")}:
                continue
            if harm == "lost":
                old.store.delete(epoch_name(slot))
            else:
                old.store.put(epoch_name(slot), b"damaged", sync=True)
            for hint in (True, False):
                if not hint:
                    old.store.delete(HINT)
                log = make_log(old.store)
                assert log.reader.read_head().epoch == head, (floor, slot)
                assert contents(log, log.reader.read_at(floor)) == old.expected[floor]
                assert log.reader.read_from_log(19).epoch == 19


@pytest.mark.parametrize("with_hint", [True, False])
def test_no_removed_epoch_is_read_where_the_head_is_damaged(with_hint: bool) -> None:
    old = Retained()
    old.remove(8, frees=False)
    newest = old.log.commit(append(), old.log.reader.read_head()).epoch
    old.store.put(epoch_name(newest), b"damaged", sync=True)
    if not with_hint:
        old.store.delete(HINT)
    log = make_log(old.store)
    for epoch in range(8):
        with pytest.raises(CorruptionError, match=epoch_name(newest)):
            log.reader.read_at(epoch)
    for epoch in range(8, 20):
        assert contents(log, log.reader.read_at(epoch)) == old.expected[epoch]


def test_a_missing_or_damaged_anchor_is_corruption() -> None:
    old = Retained()
    old.remove(8)
    old.store.delete(HINT)
    root = checkpoint_name(old.anchors[8].root)
    data = old.store.get(root)
    old.store.put(root, data[:-3] + b"7}\n", sync=False)
    with pytest.raises(CorruptionError, match=root):
        make_log(old.store).reader.read_head()
    old.store.delete(root)
    with pytest.raises(CorruptionError, match="missing"):
        make_log(old.store).reader.read_head()


def test_a_missing_segment_below_the_floor_is_corruption() -> None:
    old = Retained()
    old.remove(16)
    log = make_log(old.store)
    state = log.reader.read_at(16)
    for ref in state.table("orders").rowsets.segments:
        old.store.delete(checkpoint_name(ref.segment.object))
    with pytest.raises(CorruptionError, match="missing"):
        live(log, state.table("orders"))


def test_a_writer_that_slept_past_the_floor_does_not_take_an_old_slot() -> None:
    old = Retained()
    head = old.remove(8)
    with pytest.raises(CommitUnknownError, match="removed by retention"):
        old.log.commit(append(), old.states[3])
    assert old.log.reader.read_head().epoch == head
    assert old.log.commit(append(), old.states[4]).epoch == head + 1
    assert old.log.commit(append(), old.states[8]).epoch == head + 2


def test_an_unsent_change_is_refused_if_retention_removed_an_epoch_after_its_base() -> None:
    old = Retained()
    head = old.remove(8)
    fresh = replace(append(), fresh=True)
    for base in (1, 3):
        with pytest.raises(ConflictError, match="removed by retention; read the table again"):
            old.log.commit(fresh, old.states[base])
    # The slot of epoch 0 is never freed, so a look at this base tells nothing.
    first = replace(change(table(TRIPS, "trips")), fresh=True)
    with pytest.raises(ConflictError, match="Epochs after epoch 0"):
        old.log.commit(first, old.states[0])
    assert make_log(old.store).reader.read_head().epoch == head


@pytest.mark.parametrize("fresh", [True, False])
def test_a_missing_object_of_a_base_that_a_vacuum_removes_is_a_conflict(fresh: bool) -> None:
    old = Retained()
    mine = replace(change(), fresh=fresh)
    vacuum = Vacuum(floor=16, anchors=(old.anchors[12], old.anchors[16]), victims=("a" * 32,))
    after = old.log.commit(change(vacuum), old.states[-1])

    def read(base: int) -> None:
        with removals_are_conflicts(old.log.reader, mine, old.states[base]):
            raise CorruptionError("a file is missing")

    # An earlier send of the same change may be in the log, and is looked for by the caller.
    error = ConflictError if fresh else CorruptionError
    message = f"Epoch 15, .* vacuum of epoch {after.epoch}" if fresh else "a file is missing"
    with pytest.raises(error, match=message):
        read(15)
    with pytest.raises(CorruptionError, match="a file is missing"):
        read(16)
