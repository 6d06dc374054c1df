"""Stubs are put before files are deleted, whoever stops or overtakes the vacuum that puts them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.model.epoch import Stub
from colonnade.manifests.object_names import (
    HINT,
    epoch_name,
)
from colonnade.manifests.store import MemoryStore
from tests.log_samples import append, make_log
from tests.manifests.epochs.blocks import Blocks
from tests.manifests.vacuum.world import busy, during

Harm = Callable[[MemoryStore, int], None]

LOGS = pytest.mark.parametrize(
    "old",
    [partial(Blocks, 12, block=16), partial(Blocks, epochs=32)],
    ids=["in one block", "freed"],
)


def stubs_of(log: Blocks) -> list[int]:
    """Return the slots that have stubs."""
    return sorted(n for n in log.numbers() if isinstance(read_slot(log.store, n), Stub))


@pytest.mark.parametrize("left", [(7,), (4, 7), (1, 3, 5, 7), (2, 7)])
def test_stubs_that_a_killed_run_put_out_of_order_are_completed(left: tuple[int, ...]) -> None:
    world = busy()
    epochs = {number: world.store.get(epoch_name(number)) for number in left}
    floor = world.vacuum(threads=2).floor
    assert floor == max(left)
    for number, data in epochs.items():
        world.store.put(epoch_name(number), data, sync=False)
    world.vacuum(dry_run=True)
    world.vacuum()
    assert all(isinstance(read_slot(world.store, n), Stub) for n in range(1, floor + 1))
    world.check_tidy()


@pytest.mark.parametrize("lost", ["first", "each"])
@LOGS
def test_a_vacuum_puts_lost_stubs_again(old: Callable[[], Blocks], lost: str) -> None:
    log = old()
    floor = log.vacuum()
    stubs = stubs_of(log)
    assert stubs[-1] == floor
    assert len(stubs) > 2
    for number in stubs[:1] if lost == "first" else stubs[:-1]:
        log.store.delete(epoch_name(number))
    log.send(append())
    log.vacuum(epochs=4)
    assert all(isinstance(read_slot(log.store, number), Stub) for number in stubs)
    log.check()


def lose(store: MemoryStore, number: int) -> None:
    store.delete(epoch_name(number))


def damage(store: MemoryStore, number: int) -> None:
    whole = store.get(epoch_name(number))
    store.put(epoch_name(number), whole[:-9] + b"!" + whole[-8:], sync=True)


@LOGS
@pytest.mark.parametrize("harm", [lose, damage])
def test_no_single_stub_is_needed(old: Callable[[], Blocks], harm: Harm) -> None:
    """Readers, writers and the next vacuum go on, and that vacuum puts a stub at its floor."""
    log = old()
    log.vacuum()
    head = make_log(log.store).read_head().epoch
    whole, states = dict(log.store._objects), list(log.states)
    stubs = stubs_of(log)
    for number in {*stubs[:2], stubs[len(stubs) // 2], *stubs[-2:]}:
        log.store._objects, log.states = dict(whole), list(states)
        harm(log.store, number)
        assert make_log(log.store).read_head().epoch == head, number
        log.send(append())
        floor = log.vacuum(epochs=1)
        assert isinstance(read_slot(log.store, floor), Stub)
        log.store.delete(HINT)
        log.check()


def test_a_vacuum_that_sleeps_overwrites_no_newer_stub_with_harm() -> None:
    world = busy()

    def meanwhile() -> None:
        world.append(3)
        world.overwrite()
        world.vacuum()
        world.store.delete(HINT)

    during(world, ("put", epoch_name(2)), meanwhile)
    world.check_tidy()


def test_epochs_become_stubs_before_their_files_are_deleted() -> None:
    world = busy()

    def look() -> None:
        for epoch in range(1, 7):
            with pytest.raises(NotFoundError, match="removed by retention"):
                world.log.read_at(epoch)

    during(world, ("delete", ""), look)
