"""Sends numbered batches, some of them twice, as a stream does whose driver was replaced."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.chance import random_rows
from tests.simulation.statements import Kind, Step
from tests.simulation.world import World

FIRST_ROW = 2_000_000


@dataclass(frozen=True)
class Streamer:
    """Appends the next batch, or one that was sent before; each must land once.

    Of the batches, `replaces` make the table again with their rows alone. Such a streamer also
    sends batches that are older than the last one, and makes the table again without a batch.
    """

    weight: float = 1.0
    replaces: float = 0.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Send one batch. Its rows follow from its number, so a second landing shows."""
        if self.replaces and order.random() < self.replaces / 4:
            step = Step("replace_table", "plain", random_rows(order, world.new_ids(2)))
            world.ask_of(database, world.intend(step))
            return
        steps = (-2, -1, 0, 1, 1, 1) if self.replaces else (0, 1, 1)
        number = max(world.oracle.batches.get("stream", -1) + order.choice(steps), 0)
        rows = ((FIRST_ROW + number, 1), (FIRST_ROW + 100_000 + number, None))
        again = self.replaces > 0 and order.random() < self.replaces
        kind: Kind = "replace_table" if again else "append"
        world.ask_of(database, world.intend(Step(kind, "plain", rows), batch=("stream", number)))
