"""A vacuum that remembers what epochs name uses the objects that it would find in the epochs.

Whatever became of the file that remembers them, and of the log.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import ANY, patch

import pytest

from colonnade.manifests.checkpoint.epoch_names import EpochNames, read_epoch_names
from colonnade.manifests.errors import ConflictError, CorruptionError
from colonnade.manifests.ids import new_table_id
from colonnade.manifests.limits import Limits
from colonnade.manifests.model.operations import (
    AddRowSet,
    Compaction,
    CompactionInput,
    CompactionOutput,
    Operation,
    Pin,
    Unpin,
)
from colonnade.manifests.object_names import EPOCH_NAMES, epoch_name, packed_name
from colonnade.manifests.vacuum import references
from colonnade.manifests.vacuum.references import read_later_names
from colonnade.manifests.vacuum.run import VacuumRequest, plan_vacuum, read_used_objects
from tests.log_samples import ORDERS, append, entry, table
from tests.manifests.checkpoint.test_segment_names import some_change
from tests.manifests.vacuum.kept import reads
from tests.manifests.vacuum.world import HOUR, PREFIX, World

SMALL = Limits(listed_rowsets=2, segment_rowsets=4, victims=5, remembered_epochs=1)
YEAR = 24 * 365


def some_work(world: World, order: random.Random, others: list[Any]) -> list[Operation]:
    """Operations of one epoch: also large appends, inline RowSets, compactions and pins."""
    state = world.log.reader.read_head()
    live = world.log.rowsets.read(state.table("orders"))
    match order.randrange(9):
        case 0:
            return [AddRowSet(table=ORDERS, rowset=world.write()) for _ in range(3)]
        case 1:
            return [AddRowSet(table=others[0], rowset=entry(data="AAAA"))]
        case 2 if len(live) > 1 and not any(each.deleted_count for each in live):
            inputs = tuple(CompactionInput(rowset=r.id, rows=r.entry.rows) for r in live[:2])
            rows = sum(r.entry.rows for r in live[:2])
            output = CompactionOutput(rowset=world.write().model_copy(update={"rows": rows}))
            return [Compaction(table=ORDERS, inputs=inputs, outputs=(output,))]
        case 3:
            until = world.now + order.choice((1, 9)) * HOUR
            return [Pin(name=f"pin {world.now}", epoch=state.epoch, until_ms=until)]
        case 4 if state.pins:
            return [Unpin(name=order.choice(sorted(state.pins)))]
        case 5 | 6:
            return some_change(world, order, others)
        case _:
            return [AddRowSet(table=ORDERS, rowset=world.write())]


def files_of(world: World) -> dict[str, bytes]:
    return {info.name: world.store.get(info.name) for info in world.store.list("")}


def put_back(world: World, files: dict[str, bytes], expected: dict[int, list[str]]) -> None:
    """Restore a database from a backup. The file that remembers epochs stays."""
    for info in list(world.store.list("")):
        if info.name not in {*files, EPOCH_NAMES}:
            world.store.delete(info.name)
    for name in sorted(files.keys() - {EPOCH_NAMES}):
        world.store.put(name, files[name], sync=False)
    world.expected = dict(expected)
    world.log = world.open(world.store)
    world.head = world.log.reader.read_head()


def spoil(world: World, order: random.Random, older: list[bytes]) -> None:
    """Lose the file, damage it, or put an older one, perhaps that of another log."""
    if EPOCH_NAMES not in files_of(world):
        return
    data = world.store.get(EPOCH_NAMES)
    older.append(data)
    match order.randrange(6):
        case 0:
            world.store.delete(EPOCH_NAMES)
        case 1:
            world.store.put(EPOCH_NAMES, data[: len(data) // 2], sync=False)
        case 2 | 3:
            world.store.put(EPOCH_NAMES, order.choice(older), sync=False)


def check_same(world: World) -> bool:
    """Compare what a vacuum uses with the file and without. Returns whether the file was used."""
    reader, known = world.log.reader, read_epoch_names(world.store)
    head = reader.read_head()
    for floor in {head.floor, (head.floor + head.epoch) // 2, head.epoch}:
        without = read_later_names(reader, floor, head)
        assert read_later_names(reader, floor, head, known) == without
        assert without.last == head.epoch
    requests = [VacuumRequest(hours, dry_run=True, epochs=n) for hours in (0, 2) for n in (1, 9)]
    with_file = [plan_vacuum(world.log, each) for each in requests]
    if known is None:
        return False
    data = world.store.get(EPOCH_NAMES)
    world.store.delete(EPOCH_NAMES)
    assert [plan_vacuum(world.log, each) for each in requests] == with_file
    world.store.put(EPOCH_NAMES, data, sync=False)
    return known.last <= head.epoch


def compared(seed: int) -> int:
    """Make a random log, and compare at many places. Returns how often there was a usable file."""
    order = random.Random(seed)
    world = World(order.choice((3, 1000)), limits=SMALL)
    others = [new_table_id() for _ in range(4)]
    world.commit(*(table(key, f"t{key}") for key in others))
    backup, found = (files_of(world), dict(world.expected)), 0
    older: list[bytes] = []
    for _ in range(50):
        if order.random() < 0.04:
            put_back(world, *backup)
            others = [t.id for t in world.head.tables.values() if t.id != ORDERS]
        elif order.random() < 0.08:
            backup = files_of(world), dict(world.expected)
        world.commit(*some_work(world, order, others))
        world.wait(order.choice((0, 0, 0, 1)))
        if order.random() < 0.3:
            world.vacuum(order.choice((0, 2, 5, 5)))
            world.check()
        if order.random() < 0.3:
            spoil(world, order, older)
            found += check_same(world)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 90))]
)
def test_a_vacuum_uses_the_same_objects_with_remembered_epochs_and_without(seed: int) -> None:
    assert compared(seed) > 0


@contextmanager
def _trusts_any_transaction() -> Iterator[None]:
    """A vacuum takes the names of a log that went another way."""
    real = references._read_names

    def planted(*arguments: Any) -> tuple[EpochNames, Any]:
        return real(*arguments)[0], ANY

    with patch.object(references, "_read_names", planted):
        yield


def _leaves_one_out() -> AbstractContextManager[Any]:
    """A vacuum forgets the first of the epochs that it remembers."""
    real = EpochNames.after
    return patch.object(EpochNames, "after", lambda self, epoch: real(self, epoch + 1))


@pytest.mark.slow
@pytest.mark.parametrize("mistake", [_trusts_any_transaction, _leaves_one_out])
def test_planted_mistakes_are_found(mistake: Any) -> None:
    def finds(seed: int) -> bool:
        try:
            with mistake():
                compared(seed)
        except AssertionError:
            return True
        return False

    assert any(finds(seed) for seed in range(20))


def test_what_a_lost_future_remembered_is_not_believed() -> None:
    """A backup is older than the file: the same numbers are other epochs."""
    world = World(1000, limits=SMALL)
    world.append(3)
    backup, expected = files_of(world), dict(world.expected)
    world.append(4)
    world.vacuum(YEAR)
    known = read_epoch_names(world.store)
    assert known is not None
    put_back(world, backup, expected)
    for _ in range(3):
        world.append(2)
        assert read_epoch_names(world.store) == known
        check_same(world)
    world.vacuum()
    world.check()
    world.check_tidy()


def test_names_that_begin_after_the_next_epoch_are_not_used() -> None:
    """A backup has all the epochs of the file, and a floor from before the vacuum."""
    world = World(1000, limits=SMALL)
    world.append(8)
    backup, expected = files_of(world), dict(world.expected)
    world.vacuum(epochs=3)
    known = read_epoch_names(world.store)
    put_back(world, backup, expected)
    assert known is not None
    assert (known.first, known.last) == (world.head.epoch - 1, world.head.epoch)
    assert known.transaction == world.head.transaction
    check_same(world)
    world.append()
    check_same(world)


def remembered(epochs: int) -> World:
    """A log of appends, all of them kept and remembered."""
    world = World(64)
    for _ in range(epochs):
        world.head = world.log.commit(append(world.write()), world.head)
    world.note(world.head)
    world.vacuum(YEAR)
    return world


@pytest.mark.slow
@pytest.mark.parametrize("epochs", [100, 400])
def test_a_vacuum_reads_the_epochs_since_the_last_one_however_many_are_kept(epochs: int) -> None:
    world = remembered(epochs)
    newest = world.head.epoch
    assert read_epoch_names(world.store)
    again = reads(world, hours=YEAR)
    # A reader begins at a checkpoint, and bisections look at some epochs.
    assert sum(again[epoch_name(number)] for number in range(1, newest + 1)) <= 64 + 12
    assert sum(again[epoch_name(number)] for number in range(1, newest - 64)) <= 12
    world.append(7)
    later = reads(world, hours=YEAR)
    assert sum(later[epoch_name(number)] for number in range(1, newest - 64)) <= 12
    names = read_epoch_names(world.store)
    assert names is not None
    assert (names.first, names.last) == (1, newest + 7)
    world.check()


def test_few_epochs_are_read_again_and_cost_no_file() -> None:
    world = World(64)
    world.append(20)
    world.vacuum(YEAR)
    assert EPOCH_NAMES not in files_of(world)
    assert EPOCH_NAMES not in reads(world, hours=YEAR)


@pytest.mark.slow
def test_epochs_that_the_floor_passes_are_forgotten_and_the_file_goes_with_the_last() -> None:
    world = remembered(100)
    world.append(10)
    world.vacuum(epochs=80)
    names = read_epoch_names(world.store)
    head = world.log.reader.read_head()
    assert names is not None
    assert names.first == head.floor + 1
    world.vacuum()
    assert EPOCH_NAMES not in files_of(world)
    world.check_tidy()


@pytest.mark.slow
def test_a_damaged_epoch_that_is_remembered_keeps_what_it_names() -> None:
    """A check of all used objects finds the damage, and so does a vacuum that has to read it."""
    world = remembered(100)
    world.append()
    files, damaged = world.files(), epoch_name(9)
    data = world.store.get(damaged)
    world.store.put(damaged, data[:-9] + b"?" + data[-8:], sync=False)
    lost = world.write()
    world.wait(2 * YEAR)
    removed = {each.name for each in world.vacuum(YEAR, epochs=200).files}
    assert packed_name(PREFIX, lost.object) in removed
    assert world.files() == files
    with pytest.raises(CorruptionError, match=damaged):
        read_used_objects(world.log)
    with pytest.raises(CorruptionError, match=damaged):
        world.vacuum()
    world.store.delete(EPOCH_NAMES)
    with pytest.raises(CorruptionError, match=damaged):
        world.vacuum(YEAR, epochs=200)
    assert world.files() == files


@pytest.mark.slow
def test_a_run_whose_epochs_another_vacuum_frees_begins_again() -> None:
    """It neither uses nor remembers the names of some of the epochs."""
    world = remembered(130)
    head = world.log.reader.read_head()
    world.append()
    world.vacuum()
    for known in (None, EpochNames(1, "0" * 32, ((),) * 70)):
        with pytest.raises(ConflictError, match="run it again"):
            read_later_names(world.log.reader, 0, head, known)


def test_a_dry_run_writes_no_file() -> None:
    world = World(1000, limits=SMALL)
    world.append(5)
    plan_vacuum(world.log, VacuumRequest(YEAR))
    assert EPOCH_NAMES not in files_of(world)
