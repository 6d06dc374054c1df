"""Removes old epochs without a grace period: an epoch that is not kept is removed at once."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.world import World


@dataclass(frozen=True)
class Vacuumer:
    """Vacuums, and keeps some of the newest epochs; gives pins up before, that never end else."""

    weight: float = 1.5

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """One run. Its clock may be wrong, and says nothing."""
        if order.random() < 0.5:
            for name in sorted(database._refresh().pins):
                with suppress(NotFoundError):
                    database.unpin(name)
        kept = order.choice((1, 2, 3, 8))
        vacuum(database._log, VacuumRequest(0, kept, trust_clock=order.random() < 0.7, threads=1))
