"""Whoever meets a vacuum, and whatever stops it: nothing kept is lost, and the next run ends it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pytest

from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.errors import CommitUnknownError, ConflictError, NotFoundError, StoreError
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.limits import Limits
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    Compaction,
    CompactionInput,
    CompactionOutput,
    DropRowSet,
    Lease,
    Operation,
    Pin,
    Restore,
    Tag,
)
from colonnade.manifests.object_names import (
    checkpoint_name,
    deletion_vector_name,
    epoch_name,
    packed_name,
)
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.vacuum import inventory
from colonnade.manifests.vacuum.floor import keep_states
from tests.faults import Fault, FaultyStore, Stopped
from tests.log_samples import ORDERS, append, change, vector
from tests.manifests.vacuum.world import HOUR, PREFIX, SLOT, World, busy, during


@pytest.mark.parametrize("at", [("list", ""), ("listed", ""), SLOT])
def test_a_writer_that_commits_before_the_vacuum_keeps_its_file(at: tuple[str, str]) -> None:
    world = busy()
    mine, base = world.write(), world.head
    during(world, at, lambda: world.send(append(mine), base))
    assert packed_name(PREFIX, mine.object) in world.files()
    world.check_tidy()


@pytest.mark.parametrize("at", [("put", epoch_name(1)), ("delete", "")])
def test_a_writer_whose_file_was_named_begins_again(at: tuple[str, str]) -> None:
    world = busy()
    mine, base = world.write(), world.head

    def commit() -> None:
        with pytest.raises(ConflictError, match="removed by the vacuum"):
            world.log.commit(append(mine), base)

    during(world, at, commit)
    world.append()
    world.check_tidy()


def test_a_vacuum_that_another_overtakes_looks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world = busy()
    world.commit(Tag(name="old", epoch=3))
    real, runs = keep_states, []

    def overtaken(log: LogReader, head: Snapshot, floor: int, *given: Any, **named: Any) -> object:
        runs.append(floor)
        if len(runs) == 1:
            world.vacuum()
        return real(log, head, floor, *given, **named)

    monkeypatch.setattr(inventory, "keep_states", overtaken)
    world.vacuum()
    assert len(runs) > 1
    world.check_tidy()


def test_a_writer_of_a_long_list_begins_again_too() -> None:
    world = busy(limits=Limits(listed_rowsets=1))
    mine, base = [world.write(), world.write()], world.head
    world.vacuum()
    with pytest.raises(ConflictError, match="removed by the vacuum"):
        world.log.commit(append(*mine), base)


@pytest.mark.parametrize("at", [("list", ""), SLOT])
def test_files_that_are_listed_in_segments_are_kept(at: tuple[str, str]) -> None:
    world = busy(64, Limits(listed_rowsets=1))
    early = [world.write() for _ in range(3)]
    world.send(append(*early))
    mine, base = [world.write() for _ in range(3)], world.head
    during(world, at, lambda: world.send(append(*mine), base))
    assert {packed_name(PREFIX, e.object) for e in (*early, *mine)} <= world.files()
    world.check_tidy()


KEEPERS: dict[str, Callable[[World], Operation]] = {
    "tag": lambda world: Tag(name="t", epoch=3),
    "pin": lambda world: Pin(name="p", epoch=3, until_ms=world.now + HOUR),
    "lease": lambda world: Lease(job=new_job_id(), epoch=3, until_ms=world.now + HOUR),
}


@pytest.mark.parametrize("keeper", KEEPERS)
@pytest.mark.parametrize("at", [("list", ""), SLOT])
def test_an_epoch_that_is_kept_just_in_time_is_kept(keeper: str, at: tuple[str, str]) -> None:
    world = busy()
    during(world, at, lambda: world.commit(KEEPERS[keeper](world)))
    assert world.keeps(3)


@pytest.mark.parametrize("keeper", ["tag", "pin"])
def test_an_epoch_that_is_kept_too_late_is_refused(keeper: str) -> None:
    world = busy()

    def keep() -> None:
        with pytest.raises(NotFoundError, match="cannot be kept"):
            world.log.commit(change(KEEPERS[keeper](world)), world.head)

    during(world, ("delete", ""), keep)
    assert not world.keeps(3)


def _restore(world: World, epoch: int):  # type: ignore[no-untyped-def]
    then = world.log.reader.read_at(epoch).table("orders")
    now = world.log.reader.read_head().table("orders")
    return change(
        DropRowSet(table=ORDERS, rowsets=tuple((r.id, r.id) for r in world.log.rowsets.read(now))),
        Restore(table=ORDERS, epoch=epoch),
        *(AddRowSet(table=ORDERS, rowset=r.stored_entry) for r in world.log.rowsets.read(then)),
    )


@pytest.mark.parametrize("epoch", [3, 6])
def test_a_restore_brings_no_removed_file_back(epoch: int) -> None:
    world = busy()
    base, mine = world.head, _restore(world, epoch)

    def restore() -> None:
        with pytest.raises((ConflictError, NotFoundError)):
            world.log.commit(mine, base)

    during(world, ("delete", ""), restore)
    world.check_tidy()
    world = busy()
    base, again = world.head, _restore(world, epoch)
    during(world, SLOT, lambda: world.send(again, base))
    world.check_tidy()


@pytest.mark.parametrize(
    "at", [("list", ""), ("listed", ""), SLOT, ("put", epoch_name(1)), ("delete", "")]
)
def test_two_vacuums_do_no_harm(at: tuple[str, str]) -> None:
    world = busy()
    world.commit(Tag(name="t", epoch=3))
    during(world, at, world.vacuum)
    assert world.keeps(3)
    world.append(2)
    world.overwrite()
    during(world, at, lambda: (world.overwrite(), world.vacuum()))
    assert world.keeps(3)
    world.check_tidy()


@pytest.mark.slow
def test_readers_of_kept_epochs_see_no_difference_at_any_step() -> None:
    world = busy()
    world.commit(Tag(name="t", epoch=3))
    world.overwrite()
    steps = 0
    while True:
        store = FaultyStore(world.store)
        seen = 0

        def look(operation, name, effect, fault=None):  # type: ignore[no-untyped-def]
            nonlocal seen
            if operation in ("put", "delete", "put_if_absent"):
                seen += 1
                world.check()
            return effect()

        store._call = look  # type: ignore[method-assign]
        world.vacuum(store=store)
        assert seen > 10
        steps += 1
        if steps == 2:
            break
        world.overwrite()
    world.check_tidy()


FAULTS = [
    Fault.STOP_BEFORE,
    Fault.STOP_AFTER,
    Fault.FAIL_BEFORE,
    Fault.FAIL_AFTER,
    Fault.HIDDEN_RETRY,
    Fault.LOST_REQUEST,
    Fault.LATE,
]
STRIDE = 11
REMEMBERING = Limits(remembered_epochs=1)


def _end_at(call: int, fault: Fault) -> bool:
    """Break a run at a call, and check the remaining state; False if the run has no such call."""
    world = busy(limits=REMEMBERING)
    world.vacuum(epochs=8)
    world.commit(Tag(name="t", epoch=3))
    world.overwrite()
    store = FaultyStore(world.store, {call: fault}, late_by=7)
    with suppress(Stopped, StoreError, ConflictError):
        world.vacuum(store=store, epochs=3)
    world.check()
    world.check_hint()
    world.append()
    store.land()
    assert world.keeps(3)
    world.vacuum(epochs=3)
    assert world.keeps(3)
    world.vacuum()
    world.check_hint()
    world.check_tidy()
    return call <= len(store.trace)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "fault"), [*enumerate(FAULTS)])
def test_a_run_that_ends_at_a_call_loses_nothing_and_the_next_run_continues(
    first: int, fault: Fault
) -> None:
    call = 1 + first
    while _end_at(call, fault):
        call += STRIDE
    assert call > 60


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_that_ends_at_any_call_loses_nothing(fault: Fault) -> None:
    call = 1
    while _end_at(call, fault):
        call += 1
    assert call > 60


def test_a_state_held_in_memory_makes_no_checkpoint_of_removed_segments() -> None:
    world = World(4)
    world.append(6)
    held = world.log.reader.read_head()
    assert held.tables[ORDERS].rowsets.segments
    reader = world.open(world.store)
    world.append(2)
    world.vacuum(epochs=3)
    assert world.log.reader.read_head().floor == held.epoch
    fresh = reader.reader.refresh(held)
    assert not fresh.stale
    mine = world.write()
    world.note(world.open(world.store, 1).commit(append(mine), held))
    for state in (fresh, world.log.reader.read_head()):
        for each in state.tables[ORDERS].rowsets.segments:
            world.store.get(checkpoint_name(each.segment.object))
    found = read_hint(world.store)
    assert found is not None
    assert found[0].epoch == max(world.expected)
    world.check()


def test_epochs_that_row_numbers_are_carried_through_are_kept_as_long_as_their_base() -> None:
    world = World(64)
    world.append()
    before = vector(2).model_copy(update={"data": None})
    world.store.put(deletion_vector_name(PREFIX, before.object), b"v", sync=False)
    base = world.commit(AddDeletionVector(table=ORDERS, rowset=0, vector=before))
    read = CompactionInput(rowset=0, rows=10, vector=before)
    output = CompactionOutput(rowset=world.write(rows=8))
    world.wait(2)
    world.commit(Compaction(table=ORDERS, inputs=(read,), outputs=(output,)))
    world.vacuum(1)
    assert world.log.reader.read_head().floor == base.epoch
    assert deletion_vector_name(PREFIX, before.object) in world.files()
    world.vacuum()
    assert deletion_vector_name(PREFIX, before.object) not in world.files()
    world.check()


def _steps(seed: int, count: int) -> None:
    dice = np.random.default_rng(seed)
    world = World(int(dice.integers(1, 6)), limits=REMEMBERING)
    begun: list[tuple[RowSetEntry, Snapshot]] = []
    for step in range(count):
        what = dice.choice(["append", "overwrite", "begin", "finish", "vacuum", "tag", "race"])
        if what == "append":
            world.append()
        elif what == "overwrite":
            world.overwrite()
        elif what == "begin":
            base = world.log.reader.read_head()
            begun.append((world.write(), base))
        elif what == "finish" and begun:
            mine, base = begun.pop(int(dice.integers(len(begun))))
            with suppress(ConflictError, CommitUnknownError):
                world.send(append(mine), base)
        elif what == "vacuum":
            world.vacuum(epochs=int(dice.integers(1, 5)))
        elif what == "tag":
            head = world.log.reader.read_head()
            epoch = int(dice.integers(head.floor, head.epoch))
            world.commit(Tag(name=f"t{step}", epoch=epoch))
        elif what == "race":
            base = world.log.reader.read_head()
            mine = world.write()
            during(world, SLOT, partial(world.send, append(mine), base))
        world.check()
    world.vacuum()
    world.check_tidy()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_steps_of_everybody_lose_nothing(seed: int) -> None:
    """Writers with old bases, tags and vacuums, in any order."""
    _steps(seed, 25)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
def test_many_random_steps_of_everybody_lose_nothing(seed: int) -> None:
    """Run the test above with more steps."""
    _steps(seed, 60)
