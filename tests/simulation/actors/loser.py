"""Opens a copy of the database that has lost its hint and all marks of freed slots."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.object_names import FREED, HINT, epoch_name
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.world import World


@dataclass(frozen=True)
class Loser:
    """Reads the head of the copy. It is the newest epoch, or an error says that one is missing."""

    weight: float = 3.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Copy what is on the disk at one moment."""
        disk, copy = world.disk, MemoryStore(now_ms=lambda: 0)
        names = [info.name for info in disk.list("")]
        left = [name for name in names if name != HINT and not name.startswith(FREED)]
        for name in (epoch_name(0), *left):
            copy.put_if_absent(name, disk.get(name))
        try:
            head = LogReader(copy).read_head()
        except CorruptionError:
            return
        assert head.epoch == world.oracle.head, "a log that has lost its marks ends too early"
