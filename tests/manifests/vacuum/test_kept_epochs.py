"""States that tags keep are read from their anchors, however far a killed vacuum came."""

from __future__ import annotations

from contextlib import suppress

import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.operations import Tag
from colonnade.manifests.object_names import CHECKPOINTS
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.faults import Fault, FaultyStore, Stopped
from tests.log_samples import append, change, contents, entry
from tests.manifests.vacuum.world import World

NOW = VacuumRequest(hours=0, epochs=2, threads=1, trust_clock=True)


def tagged() -> World:
    """Make a database of 15 epochs; the tag `t` keeps the seventh."""
    world = World(interval=3)
    for _ in range(12):
        world.head = world.log.commit(append(entry()), world.head)
    world.head = world.log.commit(change(Tag(name="t", epoch=7)), world.head)
    return world


def calls_of_a_vacuum() -> int:
    watched = FaultyStore(tagged().store)
    vacuum(World.open(tagged(), watched), NOW)
    return len(watched.trace)


@pytest.mark.slow
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
def test_a_tag_is_readable_wherever_a_vacuum_was_killed_and_whichever_one_object_is_lost(
    every: int,
) -> None:
    for stop in range(1, calls_of_a_vacuum() + 1, every):
        world = tagged()
        wanted = contents(world.log, world.log.reader.read_at(7))
        faulty = FaultyStore(world.store, {stop: Fault.STOP_AFTER})
        with suppress(Stopped):
            vacuum(world.open(faulty), NOW)
        stored = dict(world.store._objects)
        for name in [each for each in stored if each.startswith(CHECKPOINTS)]:
            world.store._objects.clear()
            world.store._objects.update(stored)
            world.store.delete(name)
            log = world.open(world.store)
            found = log.reader.read_at(7, head=log.reader.read_head())
            try:
                assert contents(log, found) == wanted
            except CorruptionError as error:
                pytest.fail(f"after call {stop}, without {name}: {error}")
