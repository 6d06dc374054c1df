"""Deleted ranges and lifetimes at real sizes, with every type and nesting, in both readers."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from colonnade import AlterProperties
from colonnade.manifests.clock import DAY_MS
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.scan.plan import plan_scan, split_plan
from colonnade.tableformat.scan.run import read_plan
from tests.clocked import HOUR_MS, MINUTE_MS, NOON_MS, Clocked
from tests.large_tables import TableMaker, same_rows
from tests.spark_ext.java.read_tool import TYPES, ReadTool, expected_rows, spark_schema

SHARE_BYTES = 2 * 2**20


def cases() -> list[Any]:
    return [pytest.param(seed, marks=() if seed < 1 else pytest.mark.long) for seed in range(12)]


def timed(maker: TableMaker, columns: int) -> TableSchema:
    at = SchemaField(name="at", type="timestamp")
    fields = (*maker.schema(columns).fields, at)
    return assign_ids(TableSchema(fields=fields), 1)[0]


class World:
    """A table, and its stored rows in a model that knows when each of them expires."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = random.Random(seed)
        self.maker = TableMaker(seed, TYPES, longest=400)
        self.schema = timed(self.maker, 3 if seed else 1)
        self.size = 300_000 if seed else 20_000
        self.store = LocalStore(str(folder))
        self.expiring = [f.name for f in self.schema.fields[2:-1] if f.nullable]
        lives = {"ttl": "2 days", "ttl.column": "at", "ttl.grace": "none"}
        lives |= {f"ttl.{name}": "5 hours" for name in self.expiring}
        self.clock = Clocked(self.schema, lives, store=self.store, sort_key=["id"])
        self.table = self.clock.table
        self.stored = self.table.scan().to_arrow()

    def append(self, rows: int) -> None:
        made = self.maker.rows(self.schema, rows, first=self.stored.num_rows)
        minutes = np.array(made["id"]) * 7919 % (4 * 24 * 60)
        times = (NOON_MS - minutes * MINUTE_MS) * 1000
        type_ = made.schema.field("at").type
        ats = pa.array(times, mask=minutes % 11 == 0).cast(type_)
        made = made.set_column(made.num_columns - 1, made.schema.field("at"), ats)
        self.table.append(made)
        self.stored = pa.concat_tables([self.stored, made])

    def expected(self) -> pa.Table:
        """The rows of the model that a reader sees now."""
        now = self.clock.now_ms
        ages = now - np.array(self.stored["at"].cast(pa.int64()).fill_null(2**60)) / 1000
        rows = self.stored.filter(pa.array(ages < 2 * DAY_MS))
        old = ages[ages < 2 * DAY_MS] >= 5 * HOUR_MS
        places = pa.array(np.arange(rows.num_rows), mask=old)
        for name in self.expiring:
            at = rows.schema.get_field_index(name)
            rows = rows.set_column(at, rows.schema.field(at), rows.column(at).take(places))
        return rows

    def check(self, tool: ReadTool) -> None:
        found = self.table.scan().to_arrow()
        assert same_rows(found, self.expected())
        view = self.table._log.rowsets.view(self.table._state, None, self.clock.now_ms)
        plan = plan_scan(view, self.table.epoch)
        columns = spark_schema(self.schema)
        for share in split_plan(plan, SHARE_BYTES):
            batches = list(read_plan(self.store, share))
            rows = [row for batch in batches for row in expected_rows(batch, self.schema)]
            assert tool.rows(self.store.url, json.loads(share.to_json()), columns) == rows


@pytest.mark.parametrize("seed", cases())
def test_both_readers_hide_what_a_model_of_all_rows_hides(
    seed: int, tool: ReadTool, tmp_path: Path
) -> None:
    world = World(seed, tmp_path / "db")
    world.append(world.size * 2 // 3)
    world.append(world.size // 3)
    world.check(tool)
    for _ in range(4):
        low = world.rng.randrange(world.size)
        high = min(world.size, low + world.rng.choice((1, 900, world.size // 6)))
        world.table.delete(f"id >= {low} AND id < {high}")
        ids = np.array(world.stored["id"])
        world.stored = world.stored.filter(pa.array((ids < low) | (ids >= high)))
    assert world.table._state.range_tombstones
    world.check(tool)
    before, epoch = world.stored, world.table.epoch
    world.clock.now_ms += 3 * HOUR_MS
    world.check(tool)
    compaction = world.table.optimize().option("run-bytes", "none").option("min-rowsets", 2)
    compaction.option("deleted-share", 0).executeCompaction()
    assert not world.table._state.range_tombstones
    world.check(tool)
    purged = world.expected()
    lives = ("ttl", "ttl.column", "ttl.grace", *(f"ttl.{name}" for name in world.expiring))
    world.table.alter(AlterProperties(remove=lives))
    assert same_rows(world.table.scan().to_arrow(), purged)
    world.table.restore(epoch=epoch)
    assert same_rows(world.table.scan().to_arrow(), before)
    assert not world.table.verify(4).findings
