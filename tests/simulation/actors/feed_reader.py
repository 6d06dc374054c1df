"""Reads of the changes between two epochs."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.manifests.errors import NotFoundError
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.feeds import read_feed
from tests.simulation.world import World


@dataclass(frozen=True)
class FeedReader:
    """Reads the changes of one table in one range, each of them or the net ones."""

    weight: float = 1.5

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Compare one feed with the models of both ends. Changes that are kept can be read."""
        oracle = world.oracle
        base = order.randint(max(oracle.floor, 2), max(oracle.floor, 2, oracle.head - 1))
        last = order.randint(base, oracle.head)
        there = oracle.tables_between(base, oracle.head)
        if last == base or not there:
            return
        table, net = order.choice(there), order.random() < 0.5
        try:
            read_feed(database, oracle, table, base, last, net=net)
        except NotFoundError as error:
            kept = base >= oracle.floor and table in oracle.tables_between(base, oracle.head)
            if kept:
                raise AssertionError(f"the changes of {table} after {base} are kept") from error
