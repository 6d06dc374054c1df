"""Random changes of a keyed table, made to its model as well."""

from __future__ import annotations

import random

from colonnade import ArrowTable
from tests.keyed_world import KeyedWorld, random_rows, table_of


def upsert_at_random(table: ArrowTable, world: KeyedWorld, rng: random.Random) -> None:
    columns = world.columns(rng)
    batch = random_rows(rng, columns, rng.randrange(7))
    counts = table.upsert(table_of(batch, columns))
    assert (counts.rows_updated, counts.rows_inserted) == world.upsert(batch)


def change_at_random(table: ArrowTable, world: KeyedWorld, rng: random.Random) -> None:
    """Upsert, delete rows, update rows, or compact the table."""
    key = rng.randrange(4)
    match rng.randrange(5):
        case 0 | 1:
            upsert_at_random(table, world, rng)
        case 2:
            table.delete(f"a = {key}")
            world.rows = {each: row for each, row in world.rows.items() if each[0] != key}
        case 3:
            table.update({"number": "7"}, f"a >= {key}")
            for each, row in world.rows.items():
                row["number"] = 7 if each[0] >= key else row["number"]
        case 4:
            table.optimize().option("min-rowsets", 2).executeCompaction()
