"""Keeps: tags, pins, and going back to what was."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.statements import Step
from tests.simulation.world import World


@dataclass(frozen=True)
class Keeper:
    """Names an epoch, pins one, or restores one."""

    weight: float = 2.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Do one of them to a random epoch."""
        epoch = order.randint(2, world.oracle.head)
        match order.choice(("tag", "untag", "pin", "unpin", "restore", "restore")):
            case "tag":
                database.tag(f"t{order.randint(0, 3)}", epoch)
            case "untag":
                database.untag(f"t{order.randint(0, 3)}")
            case "pin":
                database.pin(f"p{order.randint(0, 1)}", 60, epoch)
            case "unpin":
                database.unpin(f"p{order.randint(0, 1)}")
            case "restore":
                name = order.choice(sorted(world.oracle.states[epoch]))
                world.ask_of(database, world.intend(Step("restore", name, epoch=epoch)))
