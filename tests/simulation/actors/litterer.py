"""Leaves in freed slots what writers that slept leave there."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.manifests.epochs.freed_slots import freed_slots
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.operations import DropDatabase, Operation
from colonnade.manifests.object_names import epoch_name
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.world import World


@dataclass(frozen=True)
class Litterer:
    """Puts late epochs into slots: a copy of the epoch that was in the slot, or another epoch."""

    weight: float = 1.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Put up to three, each right after the other."""
        epochs, disk = world.oracle.epochs, world.disk
        freed = freed_slots(disk, database._refresh().blocks)
        if not freed:
            return
        begin = order.choice((freed.start, order.choice(freed)))
        for number in range(begin, min(begin + order.randint(1, 3), freed.stop)):
            epoch = epochs[number]
            others: tuple[tuple[Operation, ...], ...] = (epoch.ops, (DropDatabase(),), ())
            if order.random() < 0.7:
                changes = {"transaction": new_transaction_id(), "ops": order.choice(others)}
                epoch = epoch.model_copy(update=changes)
            disk.litter(epoch_name(number), encode_epoch(epoch))
