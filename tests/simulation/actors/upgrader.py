"""Upgrades a database that was made without blocks of slots."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.manifests.log.upgrade import upgrade
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.world import World


@dataclass(frozen=True)
class Upgrader:
    """Asks for an upgrade. Only the first one that commits changes anything."""

    weight: float = 1.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Upgrade, and check that a database with blocks keeps them."""
        before = database._refresh()
        result = upgrade(database._log, slot_block=world.block)
        after = database._refresh()
        assert after.blocks is not None, "an upgrade has left slots as they were"
        if before.blocks is not None:
            assert (result.epoch, after.blocks) == (None, before.blocks), "blocks have moved"
