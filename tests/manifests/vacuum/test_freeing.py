"""Vacuum frees whole blocks of slots, each after its mark, and harms no log where it slept."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import pytest

from colonnade.manifests.epochs.freed_slots import freed_slots
from colonnade.manifests.errors import (
    NotFoundError,
)
from colonnade.manifests.log.dropping import drop_database
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.operations import Tag
from colonnade.manifests.object_names import FREED, HINT, SEGMENT_NAMES, epoch_name
from colonnade.manifests.store import LocalStore, PutOutcome
from colonnade.manifests.store.base import Data
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.far_store import FarStore
from tests.faults import Fault, FaultyStore, Stopped
from tests.log_samples import append, change, table
from tests.manifests.epochs.blocks import BLOCK, Blocks
from tests.manifests.vacuum.world import Hooked


def test_all_epochs_below_the_floor_are_removed_except_in_its_own_block() -> None:
    old = Blocks()
    floor = old.vacuum()
    assert floor == 28
    newest = old.log.reader.read_head().epoch
    assert old.numbers() == {0, *range(28, newest + 1)}
    assert len([*old.store.list(FREED)]) == 7
    assert freed_slots(old.store, old.states[0].blocks) == range(1, 28)
    old.check()


@pytest.mark.slow
@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.long)])
def test_a_vacuum_that_is_killed_anywhere_is_taken_up_by_the_next(every: int) -> None:
    for number in range(1, 10_000, every):
        old = Blocks(epochs=18)
        store = FaultyStore(
            old.store, {number: Fault.STOP_AFTER if number % 2 else Fault.STOP_BEFORE}
        )
        with suppress(Stopped):
            old.vacuum(store=store)
        if not store.fired:
            break
        old.check()
        old.vacuum()
        old.check()
        newest = old.log.reader.read_head().epoch
        assert old.numbers() == {0, *range(16, newest + 1)}, number
    assert number > 60


@pytest.mark.slow
@pytest.mark.parametrize("before", ["the mark", "the deletion"])
def test_a_vacuum_that_slept_harms_no_later_epoch(before: str) -> None:
    old = Blocks(epochs=11)

    def meanwhile() -> None:
        for _ in range(20):
            old.states.append(old.log.reader.read_head())
            old.send(append())
        old.vacuum()

    mark = old.states[0].blocks.mark(1)
    call = ("put_if_absent", mark) if before == "the mark" else ("delete", epoch_name(4))
    store = Hooked(old.store, {call: meanwhile})
    old.vacuum(store=store)
    old.check()
    old.vacuum()
    assert 8 not in old.numbers()
    old.check()


@pytest.mark.slow
@pytest.mark.parametrize("lost", [{0}, {3}, {6}, {*range(7)}])
def test_a_vacuum_puts_lost_marks_again(lost: set[int]) -> None:
    old = Blocks()
    old.vacuum()
    blocks = old.states[0].blocks
    assert blocks is not None
    for block in lost:
        old.store.delete(blocks.mark(block))
    old.vacuum()
    assert len([*old.store.list(FREED)]) == 7
    old.check()
    old.store.delete(HINT)
    old.check()


def test_a_vacuum_that_slept_leaves_no_mark_where_its_database_was_dropped(tmp_path: Path) -> None:
    place = tmp_path / "db"
    create_database(LocalStore(place), lone_table=False, slot_block=BLOCK)
    log = Log(LocalStore(place))
    for mine in (change(table()), *(append() for _ in range(9))):
        log.commit(mine, log.reader.read_head())

    class Slept(LocalStore):
        def put_if_absent(self, name: str, data: Data) -> PutOutcome:
            if name.startswith(FREED) and place.exists():
                drop_database(Log(LocalStore(place)), cascade=True)
            return super().put_if_absent(name, data)

    with pytest.raises(NotFoundError, match="was removed or replaced"):
        vacuum(Log(Slept(place)), VacuumRequest(0, 1, trust_clock=True, threads=1))
    assert not place.exists()
    create_database(LocalStore(place), lone_table=False)


@pytest.mark.slow
def test_a_vacuum_reads_and_lists_what_came_since_the_one_before() -> None:
    costs = []
    for epochs in (40, 200):
        old = Blocks(epochs=epochs)
        old.vacuum()
        for _ in range(8):
            old.states.append(old.log.reader.read_head())
            old.send(append())
        store = FaultyStore(old.store)
        old.vacuum(store=store)
        costs.append(len(store.trace))
    assert costs[1] <= costs[0] + 6 * 4, costs  # a few looks for the newest of 50 marks


@pytest.mark.parametrize("trust_s", [0, 10])
def test_a_mark_is_put_when_nobody_trusts_a_look_from_before_its_block_was_full(
    trust_s: float,
) -> None:
    old = Blocks(epochs=9)
    store = FarStore(old.store)
    store.trust_s = trust_s
    waited, marked = list[float](), list[float]()
    log = old.open(store)
    log.pause = waited.append
    put = store.put_if_absent

    def note(name: str, data: Data) -> PutOutcome:
        if name.startswith(FREED):
            marked.append(sum(waited))
        return put(name, data)

    with patch.object(store, "put_if_absent", note):
        vacuum(log, VacuumRequest(0, 1, trust_clock=True, threads=1))
        assert len(marked) == 2
        assert all(trust_s - 1 < each <= trust_s for each in marked)
        old.send(append())
        waited.clear()
        vacuum(log, VacuumRequest(0, 1, trust_clock=True, threads=1))
    assert not waited
    old.check()


def test_a_vacuum_begins_again_where_another_one_frees_the_slots_that_it_reads() -> None:
    """The tag keeps the anchor of the old floor, so only the epochs after it are gone."""
    old = Blocks(epochs=10)
    old.vacuum(3)
    old.states.append(old.log.reader.read_head())
    old.send(change(Tag(name="kept", epoch=old.log.reader.read_head().floor)))
    for _ in range(9):
        old.send(append())

    def meanwhile() -> None:
        for _ in range(20):
            old.send(append())
        old.vacuum(2)

    old.vacuum(3, Hooked(old.store, {("get", SEGMENT_NAMES): meanwhile}))
    head = old.log.reader.read_head()
    assert old.log.reader.keeps(head, head.tags["kept"])
