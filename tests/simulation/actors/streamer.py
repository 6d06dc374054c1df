"""Sends numbered batches, some of them twice, as a stream does whose driver was replaced."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.statements import Step
from tests.simulation.world import World

FIRST_ROW = 2_000_000


@dataclass(frozen=True)
class Streamer:
    """Appends the next batch, or one that was sent before; each must land once."""

    weight: float = 1.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Send one batch. Its rows follow from its number, so a second landing shows."""
        number = world.oracle.batches.get("stream", -1) + order.choice((0, 1, 1))
        rows = ((FIRST_ROW + number, 1), (FIRST_ROW + 100_000 + number, None))
        batch = ("stream", max(number, 0))
        world.ask_of(database, world.intend(Step("append", "plain", rows), batch=batch))
