"""Repairs what was damaged: anchors from their second copies, caches from the log."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.world import World


@dataclass(frozen=True)
class Repairer:
    """Repairs the database beside all other actors."""

    weight: float = 0.3

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Run one repair."""
        database.repair()
