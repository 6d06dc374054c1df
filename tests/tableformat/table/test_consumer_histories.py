"""What a consumer has read, applied one after another, makes the rows of its table.

Two consumers read a table whose rows are written, restored, compacted and vacuumed at random, and
which has another name at times. Some transactions write the table that they read, or fail.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from colonnade import ArrowDatabase, ArrowTable
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore

CONSUMERS = ("gold", "silver")
CAME = ("insert", "update_postimage")
Copy = Counter[tuple[int, int]]


class World:
    """Table `rows`, the table `seen` of what transactions have written, and a copy by consumer."""

    def __init__(self, seed: int, *, keyed: bool) -> None:
        self.rng = random.Random(seed)
        self.store = MemoryStore()
        create_database(self.store, lone_table=False)
        database = self.database()
        columns = {"k": "long NOT NULL", "v": "long"}
        database.create_table("rows", columns, primary_key=["k"] if keyed else [])
        database.create_table("seen", columns)
        self.name, self.copies = "rows", {name: Copy() for name in CONSUMERS}
        for name in CONSUMERS:
            self.database().create_consumer(name, "rows", 0)

    def database(self) -> ArrowDatabase:
        log = Log(self.store, pause=lambda _: None)
        return ArrowDatabase(self.store, log, log.reader.read_head())

    def table(self) -> ArrowTable:
        return self.database()[self.name]

    def row(self) -> dict[str, Any]:
        return {"k": self.rng.randrange(20), "v": self.rng.randrange(9)}

    def write(self) -> None:
        table, row = self.table(), self.row()
        match self.rng.randrange(8):
            case 0:
                table.overwrite([row])
            case 1:
                table.update({"v": f"v + {row['v'] % 2}"}, f"k % 3 = {row['k'] % 3}")
            case 2:
                table.delete(f"k % 5 = {row['k'] % 5}")
            case 3:
                table.restore(max(3, table.epoch - self.rng.randrange(1, 4)))
            case 4:
                table.optimize().option("min-rowsets", 2).executeCompaction()
            case 5:
                self.database().vacuum(retention_hours=0, force=True)
            case 6:
                name, self.name = self.name, f"rows_{table.epoch}"
                self.database().rename_table(name, self.name)
            case _:
                table.append([{**row, "k": 1000 + table.epoch}])

    def read(self, consumer: str, *, fails: bool = False) -> None:
        """Read in a transaction that writes what it has read, and at times the table itself."""
        with self.database().transaction() as tx:
            net = self.rng.random() < 0.3
            new = tx.changes(self.name, consumer, net=net).to_pylist()
            tx.table("seen").append([{"k": len(new), "v": 0}])
            if self.rng.random() < 0.3:
                tx.table(self.name).update({"v": "v + 1"}, "k < 5")
            if fails:
                raise RuntimeError
        self.apply(consumer, new)

    def apply(self, consumer: str, changes: Iterable[dict[str, Any]]) -> None:
        for each in changes:
            count = 1 if each["_change_type"] in CAME else -1
            self.copies[consumer][each["k"], each["v"]] += count


@pytest.mark.slow
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_what_consumers_read_makes_the_rows_of_the_table(seed: int, *, keyed: bool) -> None:
    world = World(seed, keyed=keyed)
    for _ in range(40):
        if world.rng.random() < 0.7:
            world.write()
        elif world.rng.random() < 0.3:
            with pytest.raises(RuntimeError):
                world.read(world.rng.choice(CONSUMERS), fails=True)
        else:
            world.read(world.rng.choice(CONSUMERS))
    with world.database().transaction() as tx:
        for name in CONSUMERS:
            world.apply(name, tx.changes(world.name, name).to_pylist())
    rows = Copy((each["k"], each["v"]) for each in world.table().to_pylist())
    for name in CONSUMERS:
        assert {row: count for row, count in world.copies[name].items() if count} == rows
