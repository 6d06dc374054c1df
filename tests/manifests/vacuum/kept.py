"""States that tags keep."""

from __future__ import annotations

from collections import Counter

from colonnade.manifests.limits import Limits
from colonnade.manifests.model.operations import (
    AddRowSet,
    Tag,
)
from tests.faults import FaultyStore
from tests.log_samples import ORDERS, change
from tests.manifests.vacuum.world import World


def tagged(epochs: int, tags: int, limits: Limits | None = None) -> World:
    """Make a database of appends with a tag at regular intervals of epochs."""
    world = World(64, limits=limits or Limits())
    state = world.head
    every = epochs // tags
    for number in range(epochs):
        state = world.log.commit(change(AddRowSet(table=ORDERS, rowset=world.write())), state)
        if number % every == 0 and number // every % 10 == 0:
            world.note(state)
    first = world.head.epoch + 1
    names = [Tag(name=f"t{each}", epoch=first + each * every) for each in range(tags)]
    world.commit(*names)
    world.append()
    return world


def reads(world: World, hours: float = 0) -> Counter[str]:
    """How often a vacuum reads each object."""
    store = FaultyStore(world.store)
    world.vacuum(hours, store=store)
    return Counter(call.name for call in store.trace if call.operation.startswith("get"))
