"""Loses the oldest state for good, and begins the history at a later checkpoint."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.manifests.checkpoint.reader import UNUSABLE, read_state
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.vacuum.references import StateObjects
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.store import ProcessStore
from tests.simulation.world import World


@dataclass(frozen=True)
class Salvager:
    """Damages an object of the floor's anchor at both of its places, and repairs the database."""

    weight: float = 6.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Lose a state if none is lost, and give it up, unless this process is killed before."""
        if not world.oracle.floor:
            vacuum(database._log, VacuumRequest(0, 6, trust_clock=True, threads=1))
        if not world.is_lost and not _lose(world, order):
            return
        store = database._log.store
        assert isinstance(store, ProcessStore)
        if order.random() < 0.7:
            store.stop_within(order.randint(1, 120))
        try:
            database.repair(give_up_lost_epochs=order.random() < 0.8)
        except CorruptionError:
            # Perhaps a tag or a pin keeps a lost epoch.
            for tag in database.tags():
                database.untag(tag)
            for pin in database.pins():
                database.unpin(pin)


def _lose(world: World, order: random.Random) -> bool:
    """Damage one object that no later checkpoint needs. Returns whether there was one."""
    disk, oracle = world.disk, world.oracle
    later = world.sound_checkpoints()
    anchors = [anchor for anchor in oracle.anchors if anchor.epoch == oracle.floor]
    if not later or not anchors:
        return False
    needed = StateObjects(disk)
    for state in later:
        needed.add(state)
    objects = StateObjects(disk)
    try:
        objects.add(read_state(disk, anchors[0]))
    except UNUSABLE:
        return False  # A vacuum has begun to remove it.
    objects.add_root(anchors[0])
    others = {part.object for part in needed.parts}
    parts = [part for part in objects.parts if part.object not in others]
    if not parts:
        return False
    part = order.choice(parts)
    gone = order.random() < 0.5
    for name in part.places:
        if gone:
            disk.delete(name)
        else:
            disk.put(name, b"?" * part.length, sync=False)
    world.lose()
    return True
