"""What is left of a log whose old epochs were replaced by stubs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.checkpoint.root import Hint
from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    NotFoundError,
)
from colonnade.manifests.model.codec import decode_model, encode_model
from colonnade.manifests.model.epoch import Stub
from colonnade.manifests.model.operations import Anchor, Vacuum
from colonnade.manifests.object_names import HINT, checkpoint_name, epoch_name
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    TRIPS,
    append,
    change,
    contents,
    database,
    entry,
    live,
    make_log,
    table,
)


class Retained:
    """A log of 20 epochs, checkpoints at every fourth, and retention made by hand."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.log = make_log(self.store, 4)
        self.states = [database(self.store)]
        self.anchors: dict[int, Anchor] = {}
        self._step(change(table()))
        for low in range(18):
            self._step(append(entry(low=low, data="QUJD")))
        self.expected = [contents(self.log, state) for state in self.states]

    def _step(self, mine) -> None:  # type: ignore[no-untyped-def]
        state = self.log.commit(mine, self.states[-1])
        self.states.append(state)
        if state.epoch % 4 == 0:
            hint = decode_model(Hint, self.store.get(HINT), HINT)
            self.anchors[state.epoch] = Anchor(epoch=state.epoch, root=hint.root, check=hint.check)

    def remove(self, first: int, floor: int) -> None:
        """Overwrite epochs `first` to `floor` with stubs."""
        for number in range(first, floor + 1):
            stub = Stub(removed=number, floor=floor, anchor=self.anchors[floor])
            self.store.put(epoch_name(number), encode_model(stub), sync=True)


@pytest.mark.parametrize("with_hint", [True, False])
def test_above_the_floor_everything_reads_as_before_and_below_nothing_does(
    with_hint: bool,
) -> None:
    old = Retained()
    old.remove(1, 8)
    if not with_hint:
        old.store.delete(HINT)
    log = make_log(old.store)
    assert log.read_head().epoch == 19
    for epoch in range(8, 20):
        state = log.read_at(epoch)
        assert contents(log, state) == old.expected[epoch]
        assert log.read_at(timestamp_ms=state.time_ms).epoch == epoch
    for epoch in range(1, 8):
        with pytest.raises(NotFoundError, match="oldest readable epoch is 8"):
            log.read_at(epoch)
    with pytest.raises(NotFoundError, match="oldest readable epoch is 8"):
        log.read_at(timestamp_ms=old.states[3].time_ms)
    assert [e.epoch for e in log.read_epochs(19)] == list(range(19, 8, -1))
    assert contents(log, log.refresh(old.states[3])) == old.expected[19]


def test_a_stub_whose_anchor_was_removed_leads_to_the_newer_floor() -> None:
    old = Retained()
    old.remove(1, 8)
    old.remove(9, 12)
    old.store.delete(HINT)
    old.store.delete(checkpoint_name(old.anchors[8].root))
    log = make_log(old.store)
    state = log.read_head()
    assert contents(log, state) == old.expected[19]
    assert log.read_at(12).floor == 12
    with pytest.raises(NotFoundError, match="oldest readable epoch is 12"):
        log.read_at(5)


def test_a_missing_or_damaged_anchor_is_corruption() -> None:
    old = Retained()
    old.remove(1, 8)
    old.store.delete(HINT)
    root = checkpoint_name(old.anchors[8].root)
    data = old.store.get(root)
    old.store.put(root, data[:-3] + b"7}\n", sync=False)
    with pytest.raises(CorruptionError, match=root):
        make_log(old.store).read_head()
    old.store.delete(root)
    with pytest.raises(CorruptionError, match="missing"):
        make_log(old.store).read_head()


def test_a_missing_segment_below_the_floor_is_corruption() -> None:
    old = Retained()
    old.remove(1, 16)
    log = make_log(old.store)
    state = log.read_at(16)
    for ref in state.table("orders").rowsets.segments:
        old.store.delete(checkpoint_name(ref.segment.object))
    with pytest.raises(CorruptionError, match="missing"):
        live(log, state.table("orders"))


def test_a_writer_that_slept_past_the_floor_does_not_take_an_old_slot() -> None:
    old = Retained()
    old.remove(1, 8)
    with pytest.raises(CommitUnknownError, match="removed by retention"):
        old.log.commit(append(), old.states[3])
    assert old.log.read_head().epoch == 19
    assert old.log.commit(append(), old.states[8]).epoch == 20


def test_an_unsent_change_is_refused_if_retention_removed_an_epoch_after_its_base() -> None:
    old = Retained()
    old.remove(1, 8)
    fresh = replace(append(), fresh=True)
    for base in (1, 7):
        with pytest.raises(ConflictError, match="removed by retention; read the table again"):
            old.log.commit(fresh, old.states[base])
    first = replace(change(table(TRIPS, "trips")), fresh=True)
    with pytest.raises(ConflictError, match="Epoch 1, after epoch 0"):
        old.log.commit(first, old.states[0])
    # Epoch 10 is there, and what follows it is not; then epoch 10 is not there either.
    for removed in (11, 10):
        old.remove(removed, 12)
        with pytest.raises(ConflictError, match=f"Epoch {removed}, after epoch 9"):
            old.log.commit(fresh, old.states[9])
    assert old.log.read_head().epoch == 19


@pytest.mark.parametrize("fresh", [True, False])
def test_a_missing_object_of_a_base_that_a_vacuum_removes_is_a_conflict_before_its_stubs_are_there(
    fresh: bool,
) -> None:
    old = Retained()
    mine = replace(change(), fresh=fresh)
    vacuum = Vacuum(floor=16, anchors=(old.anchors[12], old.anchors[16]), victims=("a" * 32,))
    after = old.log.commit(change(vacuum), old.states[-1])

    def read(base: int) -> None:
        with old.log.removals_are_conflicts(mine, old.states[base]):
            raise CorruptionError("a file is missing")

    # An earlier send of the same change may be in the log, and is looked for by the caller.
    error = ConflictError if fresh else CorruptionError
    message = f"Epoch 15, .* vacuum of epoch {after.epoch}" if fresh else "a file is missing"
    with pytest.raises(error, match=message):
        read(15)
    with pytest.raises(CorruptionError, match="a file is missing"):
        read(16)
