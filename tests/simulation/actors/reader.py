"""Reads: the head, an earlier epoch or a tag, with and without a condition."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.manifests.errors import CorruptionError
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.chance import random_condition
from tests.simulation.rows import Condition
from tests.simulation.world import World


@dataclass(frozen=True)
class Reader:
    """Compares one scan with the model."""

    weight: float = 6.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Read one table at one epoch. A scan sees everything that was there before it began."""
        oracle, mended = world.oracle, world.mended
        least = oracle.head
        epoch, tag = None, None
        if order.random() < 0.4:
            epoch = least = order.randint(2, oracle.head)
        elif oracle.tags and order.random() < 0.3:
            tag = order.choice(sorted(oracle.tags))
            least = oracle.tags[tag]
        if tag is not None:
            table = database.table("plain")
        else:
            named = order.choice(sorted(oracle.states[least]))
            table = database.table(named, epoch=epoch)
        name = table.name
        where = Condition()
        if order.random() < 0.5:
            where = random_condition(order, oracle.states[least].get(name, {}))
        scan = table.scan(where=where.sql(), epoch=epoch, tag=tag)
        try:
            found = scan.to_arrow()
        except CorruptionError as error:
            if oracle.keeps(scan.epoch) and world.losses == mended:
                raise AssertionError(f"epoch {scan.epoch}, which is kept, is damaged") from error
            return
        oracle.check_read(scan.epoch, name, where, found, least)
