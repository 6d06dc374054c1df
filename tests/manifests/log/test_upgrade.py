"""An upgraded database frees slots from its upgrade on, and loses nothing from before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from colonnade.manifests.commit.sharing import can_share
from colonnade.manifests.epochs.freed_slots import freed_slots, read_blocks
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    StoreError,
    UnsupportedFormatError,
)
from colonnade.manifests.log.log import create_database
from colonnade.manifests.log.upgrade import upgrade
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.members import SHARED_EPOCHS
from colonnade.manifests.model.operations import DropDatabase, EnableFeatures, Operation, Tag
from colonnade.manifests.model.slot_blocks import FREED_SLOTS, UPGRADED_SLOTS
from colonnade.manifests.object_names import FREED, HINT, epoch_name
from colonnade.manifests.state.features import READER_FEATURES
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore, ObjectStore
from tests.faults import Fault, FaultyStore, Stopped
from tests.log_samples import append, change, make_log
from tests.manifests.epochs.blocks import Blocks, slept
from tests.manifests.vacuum.world import Hooked

UPGRADE = 10
ALL = (FREED_SLOTS, SHARED_EPOCHS, UPGRADED_SLOTS)


class ReadLate(FaultyStore):
    """A store where another process acts right before a slot is first read."""

    def __init__(self, inner: ObjectStore, slot: int, act: Callable[[], None]) -> None:
        super().__init__(inner)
        self.slot = slot
        self.act: Callable[[], None] | None = act

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        if name == epoch_name(self.slot) and (act := self.act) is not None:
            self.act = None
            act()
        return super().get(name, limit=limit)


def upgraded(epochs: int = 30, block: int = 4) -> Blocks:
    return Blocks(epochs, block, upgraded=UPGRADE)


@pytest.mark.parametrize(
    "block", [2, 7, *(pytest.param(size, marks=pytest.mark.long) for size in (1, 3, 16_384))]
)
def test_slots_after_the_upgrade_are_freed_and_those_up_to_it_keep_stubs(block: int) -> None:
    old = upgraded(block=block)
    for _ in range(6):
        floor = old.vacuum()
        old.states.append(old.log.read_head())
        old.check()
        freed = (floor - UPGRADE - 1) // block * block
        newest = old.states[-1].epoch
        assert old.numbers() == {*range(UPGRADE + 1), *range(UPGRADE + 1 + freed, newest + 1)}
        assert freed_slots(old.store, old.states[-1].blocks).stop == UPGRADE + 1 + freed
        old.send(append())
        old.send(append())


@pytest.mark.parametrize("earlier", [0, 3, 6])
def test_stubs_from_before_the_upgrade_lead_to_the_newest_state_without_a_hint(
    earlier: int,
) -> None:
    old = Blocks(epochs=UPGRADE - 1, upgraded=UPGRADE)
    if earlier:
        old.vacuum(earlier)
        old.states.append(old.log.read_head())
    old.upgrade()
    for _ in range(30):
        old.send(append())
        old.send(append())
        old.vacuum()
        old.states.append(old.log.read_head())
    old.store.delete(HINT)
    watched = FaultyStore(old.store)
    assert make_log(watched).read_head().epoch == old.states[-1].epoch
    assert make_log(watched).refresh(old.states[1]).epoch == old.states[-1].epoch
    assert make_log(watched).refresh(old.states[8]).epoch == old.states[-1].epoch
    assert len(watched.trace) < 160


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize("base", [1, UPGRADE - 1, UPGRADE, 14])
def test_a_writer_that_planned_before_the_upgrade_and_slept_is_not_told_that_it_committed(
    base: int, fresh: bool
) -> None:
    old = upgraded(epochs=15)

    def meanwhile() -> None:
        for _ in range(20):
            old.send(append())
        old.vacuum()

    store = Hooked(old.store, {("put_if_absent", epoch_name(16)): meanwhile})
    with pytest.raises(CommitUnknownError):
        old.open(store).commit(replace(append(), fresh=fresh), old.states[base])
    assert 16 in old.numbers()
    old.expected = old.expected[:16]
    old.check()
    old.vacuum()
    assert 16 not in old.numbers()
    old.check()


@pytest.mark.parametrize("fresh", [True, False])
def test_a_writer_that_sleeps_through_the_upgrade_and_a_vacuum_meets_a_stub(fresh: bool) -> None:
    old = Blocks(epochs=5, upgraded=UPGRADE)

    def meanwhile() -> None:
        old.upgrade()
        for _ in range(20):
            old.send(append())
        old.vacuum()

    # It has tried the slot itself. The RowSets since tell that the stub did not replace its change.
    with pytest.raises(ConflictError if fresh else CommitUnknownError, match="by retention"):
        slept(old, replace(append(), fresh=fresh), meanwhile)
    old.expected = old.expected[:6]
    old.check()


def test_the_content_of_a_freed_slot_after_the_upgrade_is_no_conflict() -> None:
    """The writer has followed the upgrade before the slots behind it were freed."""
    old = upgraded(epochs=UPGRADE)
    base = old.states[-2]
    old.send(append())

    def overtake() -> None:
        for _ in range(20):
            old.send(append())
        old.vacuum()
        old.litter(UPGRADE + 1, EnableFeatures(reader=("cubes",)))

    old.epochs.append(read_slot(old.store, UPGRADE + 1))
    mine = replace(append(), fresh=False)
    store = ReadLate(old.store, UPGRADE + 1, overtake)
    with pytest.raises(CommitUnknownError):
        old.open(store).commit(mine, base)
    assert store.act is None


@pytest.mark.parametrize("litter", [False, True])
def test_a_stale_state_from_before_the_upgrade_finds_the_head_at_any_time(litter: bool) -> None:
    old = upgraded(epochs=12)
    stale = [*old.states]
    for _ in range(4):
        for _ in range(3):
            old.send(append())
        old.epochs += [read_slot(old.store, len(old.epochs) + n) for n in range(3)]
        old.vacuum(2)
        old.states.append(old.log.read_head())
        freed = freed_slots(old.store, old.states[-1].blocks)
        for slot in freed if litter else ():
            if slot < len(old.epochs) and old.epochs[slot] is not None:
                old.litter(slot)
        for state in stale:
            assert old.log.refresh(state).epoch == old.states[-1].epoch, state.epoch
        while len(old.epochs) <= old.states[-1].epoch:
            old.epochs.append(read_slot(old.store, len(old.epochs)))


@pytest.mark.parametrize("litter", [None, (), (DropDatabase(),), (Tag(name="t", epoch=99),)])
def test_a_reader_that_is_overtaken_by_a_vacuum_after_the_upgrade_finds_the_head(
    litter: tuple[Operation, ...] | None,
) -> None:
    for slot in range(UPGRADE - 1, 16):
        old = upgraded(epochs=14)

        def overtake(old: Blocks = old, slot: int = slot) -> None:
            for _ in range(12):
                old.send(append())
            old.vacuum(2)
            if litter is not None and UPGRADE < slot < len(old.epochs):
                old.litter(slot, *litter)

        store = ReadLate(old.store, slot, overtake)
        found = old.open(store).refresh(old.states[UPGRADE - 2])
        assert found.epoch == old.log.read_head().epoch, slot


@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.long)])
def test_a_vacuum_of_an_upgraded_database_that_is_killed_anywhere_is_taken_up(stride: int) -> None:
    for number in range(1, 10_000, stride):
        old = Blocks(epochs=11, upgraded=4)
        stop = Fault.STOP_AFTER if number % 2 else Fault.STOP_BEFORE
        store = FaultyStore(old.store, {number: stop})
        with suppress(Stopped):
            old.vacuum(store=store)
        if not store.fired:
            break
        old.check()
        old.vacuum()
        old.check()
        newest = old.log.read_head().epoch
        assert old.numbers() == {*range(5), *range(9, newest + 1)}, number
    assert number > 60


def test_an_upgrade_that_fails_or_is_killed_anywhere_can_be_repeated() -> None:
    faults = (Fault.STOP_BEFORE, Fault.STOP_AFTER, Fault.FAIL_AFTER, Fault.HIDDEN_RETRY)
    for number in range(1, 100):
        fired = False
        for fault in faults:
            old = Blocks(epochs=5, upgraded=UPGRADE)
            store = FaultyStore(old.store, {number: fault})
            with suppress(Stopped, StoreError, CommitUnknownError):
                upgrade(old.open(store), slot_block=4)
            fired = fired or bool(store.fired)
            old.check()
            upgrade(old.log, slot_block=4)
            head = old.log.read_head()
            assert head.slot_start in (6, 7)
            assert head.reader_features == head.writer_features == {*ALL}
            assert upgrade(old.log).features == ()
        if not fired:
            break
    assert number > 3


def test_versions_that_do_not_know_the_features_refuse_the_database_and_commit_nothing() -> None:
    old = Blocks(epochs=5, upgraded=UPGRADE)
    before = old.states[-1]
    old.upgrade()
    known = READER_FEATURES - {UPGRADED_SLOTS}
    with patch("colonnade.manifests.state.features.READER_FEATURES", known):
        with pytest.raises(UnsupportedFormatError, match=UPGRADED_SLOTS):
            make_log(old.store).read_head()
        with pytest.raises(UnsupportedFormatError, match=UPGRADED_SLOTS):
            make_log(old.store).refresh(before)
        with pytest.raises(UnsupportedFormatError, match=UPGRADED_SLOTS):
            make_log(old.store).commit(append(), before)
    assert old.log.read_head().epoch == old.states[-1].epoch


def test_of_two_upgrades_at_once_one_commits_and_the_other_finds_nothing_to_do() -> None:
    old = Blocks(epochs=5, upgraded=UPGRADE)
    store = Hooked(old.store, {("put_if_absent", epoch_name(6)): old.upgrade})
    result = upgrade(old.open(store), slot_block=8)
    assert (result.features, result.epoch) == ((), None)
    head = old.log.read_head()
    assert (head.epoch, head.slot_block, head.slot_start) == (6, 4, 7)


def test_an_upgrade_commits_beside_appends_and_vacuums() -> None:
    old = Blocks(epochs=8, upgraded=UPGRADE)

    def meanwhile() -> None:
        old.send(append())
        old.vacuum()

    store = Hooked(old.store, {("put_if_absent", epoch_name(9)): meanwhile})
    result = upgrade(old.open(store), slot_block=4)
    old.states.append(old.log.read_head())
    assert result.epoch == old.states[-1].epoch == result.kept_slots
    old.check()


def test_a_dry_run_says_what_an_upgrade_changes_and_writes_nothing() -> None:
    old = Blocks(epochs=5, upgraded=UPGRADE)
    before = old.numbers()
    watched = FaultyStore(old.store)
    planned = upgrade(old.open(watched), dry_run=True)
    assert (planned.dry_run, planned.features, planned.epoch) == (True, ALL, None)
    assert planned.kept_slots == 6
    assert old.numbers() == before
    assert {call.operation for call in watched.trace} <= {"get", "get_range", "get_ranges"}


def test_a_new_database_needs_no_upgrade_and_one_of_between_only_what_it_lacks() -> None:
    store = MemoryStore()
    create_database(store, lone_table=False)
    assert upgrade(make_log(store)).features == ()
    assert make_log(store).read_head().epoch == 0
    between = MemoryStore()
    create_database(between, lone_table=False, slot_block=4, shared_epochs=False)
    result = upgrade(make_log(between))
    assert (result.features, result.kept_slots) == ((SHARED_EPOCHS,), 0)
    head = make_log(between).read_head()
    assert (head.slot_block, head.slot_start) == (4, 0)


def test_appends_share_epochs_from_the_upgrade_on() -> None:
    old = Blocks(epochs=5, upgraded=UPGRADE)
    assert not can_share(append(), old.states[-1])
    assert can_share(append(), old.upgrade())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"reader": ALL, "writer": ALL}, "without a slot block"),
        ({"reader": ALL, "slot_block": 4}, "without the feature 'upgraded_slots'"),
        ({"writer": ALL, "slot_block": 4}, "without the feature 'upgraded_slots'"),
        ({"slot_block": 4}, "without the feature 'upgraded_slots'"),
        ({"reader": ALL[:1], "writer": ALL[:1], "slot_block": 4}, "without the feature"),
    ],
)
def test_a_slot_block_and_its_features_are_stated_together(
    fields: Mapping[str, object], message: str
) -> None:
    old = Blocks(epochs=2, upgraded=UPGRADE)
    with pytest.raises(InvalidInputError, match=message):
        old.send(change(EnableFeatures.model_validate(fields)))


def test_a_slot_block_is_stated_once() -> None:
    again = change(EnableFeatures(reader=ALL, writer=ALL, slot_block=4), name="upgrade")
    for old in (upgraded(), Blocks()):
        with pytest.raises(ConflictError, match="upgraded before epoch 30"):
            old.send(again)


@pytest.mark.parametrize("lost", [{0}, {2}, {*range(4)}])
def test_a_vacuum_puts_lost_marks_of_an_upgraded_database_again(lost: set[int]) -> None:
    old = upgraded()
    old.vacuum()
    blocks = old.log.read_head().blocks
    assert blocks is not None
    for block in lost:
        old.store.delete(blocks.mark(block))
    old.vacuum()
    assert len([*old.store.list(FREED)]) == 4
    old.check()
    old.store.delete(HINT)
    old.check()


def test_the_log_alone_tells_the_blocks_wherever_the_upgrade_is() -> None:
    old = Blocks(epochs=UPGRADE - 1, upgraded=UPGRADE)
    assert read_blocks(old.store) is None
    old.vacuum(4)
    old.states.append(old.log.read_head())
    assert read_blocks(old.store) is None
    blocks = old.upgrade().blocks
    assert blocks is not None
    assert read_blocks(old.store) == blocks
    for _ in range(10):
        old.send(append())
        old.vacuum(2)
        old.states.append(old.log.read_head())
        assert read_blocks(old.store) == blocks


def test_history_ends_where_slots_are_freed_while_it_is_read() -> None:
    for seen in (1, 5, 15):
        old = upgraded()
        epochs = old.log.read_epochs(30)
        found = [next(epochs) for _ in range(seen)]
        for _ in range(8):
            old.log.commit(append(), old.log.read_head())
        old.vacuum()
        for slot in range(UPGRADE + 1, 31):
            old.litter(slot)
        found += epochs
        assert found == old.epochs[: -len(found) - 1 : -1]


class UpgradeMachine(RuleBasedStateMachine):
    """Two writers, vacuums and an upgrade, against a list of commits. One of the writers sleeps."""

    @initialize(block=st.integers(1, 4))
    def begin(self, block: int) -> None:
        self.old = Blocks(epochs=2, block=block, upgraded=10_000)
        self.done = {state.epoch: state.transaction for state in self.old.states}
        self.stale: list[Snapshot] = self.old.states[1:]
        self.is_upgraded = False

    def _note(self, state: Snapshot) -> None:
        assert state.epoch not in self.done
        self.done[state.epoch] = state.transaction
        self.old.states.append(state)

    @rule(count=st.integers(1, 5))
    def append(self, count: int) -> None:
        for _ in range(count):
            self._note(self.old.log.commit(append(), self.old.states[-1]))

    @precondition(lambda self: not self.is_upgraded)
    @rule()
    def upgrade(self) -> None:
        self.old.upgrade()
        self.done[self.old.states[-1].epoch] = self.old.states[-1].transaction
        self.is_upgraded = True

    @rule(keep=st.integers(1, 4))
    def vacuum(self, keep: int) -> None:
        self.old.vacuum(keep)
        head = self.old.log.read_head()
        if head.epoch not in self.done:
            self._note(head)

    @rule(which=st.integers(0, 10**6))
    def remember(self, which: int) -> None:
        self.stale.append(self.old.states[1 + which % (len(self.old.states) - 1)])

    @rule(which=st.integers(0, 10**6), keep=st.integers(1, 3), more=st.integers(0, 9))
    def commit_from_a_stale_base_and_sleep(self, which: int, keep: int, more: int) -> None:
        base = self.stale[which % len(self.stale)]
        slot = epoch_name(self.old.states[-1].epoch + 1)

        def meanwhile() -> None:
            for _ in range(more):
                self._note(self.old.log.commit(append(), self.old.states[-1]))
            self.vacuum(keep)

        mine = replace(append(), fresh=True)
        store = Hooked(self.old.store, {("put_if_absent", slot): meanwhile})
        try:
            after = self.old.open(store).commit(mine, base)
        except (ConflictError, CommitUnknownError):
            return
        assert after.transaction == mine.transaction
        self._note(after)

    @rule(slot=st.integers(1, 10**6))
    def leave_something_in_a_freed_slot(self, slot: int) -> None:
        freed = freed_slots(self.old.store, self.old.states[-1].blocks)
        if freed:
            number = freed[slot % len(freed)]
            newest = read_slot(self.old.store, max(self.done))
            assert isinstance(newest, Epoch)
            late = {"epoch": number, "previous": self.done[number - 1], "base": 0}
            self.old.epochs = [*[None] * number, newest.model_copy(update=late)]
            self.old.litter(number)

    @invariant()
    def every_state_leads_to_the_newest_commit(self) -> None:
        newest = max(self.done)
        log = make_log(self.old.store)
        head = log.read_head()
        assert (head.epoch, head.transaction) == (newest, self.done[newest])
        for state in self.stale[-6:]:
            assert log.refresh(state).transaction == self.done[newest]
        for epoch in range(head.floor, newest + 1):
            assert log.read_at(epoch, head=head).transaction == self.done[epoch]
        if head.floor > 1:
            with pytest.raises(NotFoundError):
                log.read_at(head.floor - 1, head=head)
        self.old.store.delete(HINT)
        assert make_log(self.old.store).read_head().transaction == self.done[newest]


UpgradeMachine.TestCase.settings = settings(max_examples=10, stateful_step_count=20, deadline=None)
TestUpgrades = UpgradeMachine.TestCase
