"""Damages caches, and one of the two copies of each object of an anchor."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.manifests.checkpoint.reader import read_state
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.named_objects import named_objects
from colonnade.manifests.object_names import HINT, SEGMENT_NAMES, checkpoint_name
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.vacuum.copies import damaged_places
from colonnade.manifests.vacuum.floor import read_anchor
from colonnade.manifests.vacuum.hinted_checkpoints import cached_objects
from colonnade.manifests.vacuum.references import StateObjects
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.world import World


@dataclass(frozen=True)
class Vandal:
    """Cuts, flips or removes one object. Other work may only become slower."""

    weight: float = 0.8

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Damage one of them on the disk itself."""
        disk = world.disk
        if order.random() < 0.4:
            name = _of_an_anchor(world, order)
            world.damaged.add(name)
        else:
            name = order.choice([*_cached(world), HINT, SEGMENT_NAMES])
            world.damaged_caches.add(name)
        try:
            data = bytearray(disk.get(name))
        except Exception:
            return
        match order.choice(("flip", "digit", "digit", "cut", "remove")):
            case "flip":
                data[order.randrange(len(data))] ^= 1 << order.randrange(8)
                disk.put(name, bytes(data), sync=False)
            case "digit":
                # Still a number, but another one: only a checksum can tell.
                digits = [place for place, byte in enumerate(data) if byte in b"0123456789"]
                data[order.choice(digits)] ^= 1
                disk.put(name, bytes(data), sync=False)
            case "cut" if len(data) > 1:
                disk.put(name, bytes(data[: order.randrange(1, len(data))]), sync=False)
            case _:
                disk.delete(name)


def _of_an_anchor(world: World, order: random.Random) -> str:
    """One place of an object that an anchor is made of and that is whole at both; else the hint.

    A vacuum may be about to write the other one.
    """
    objects = StateObjects(world.disk)
    if world.oracle.anchor_list is not None:
        objects.add_anchor_list(world.oracle.anchor_list)
    for anchor in world.oracle.anchors:
        objects.add_root(anchor)
        objects.add(read_state(world.disk, anchor))
    whole = [part for part in objects.parts if not damaged_places(world.disk, part)]
    return order.choice(order.choice(whole).places) if whole else HINT


def _cached(world: World) -> list[str]:
    """The parts of checkpoints that the hint leads to, and that nothing else does: only caches.

    An anchor leads to some, and an epoch to the segments that it names.
    """
    log = LogReader(world.disk)
    try:
        found = cached_objects(world.disk, 0)
    except CorruptionError:
        return []
    for anchor in world.oracle.anchors:
        found -= read_anchor(log, anchor)[1]
    for epoch in world.oracle.epochs:
        found.difference_update(named_objects(epoch.ops))
    return sorted(map(checkpoint_name, found))
