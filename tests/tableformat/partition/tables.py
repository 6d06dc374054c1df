"""Partitioned tables, and the same rows without partitions."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import pyarrow as pa

from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.table import ArrowTable

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("region", pa.string()),
        ("ts", pa.timestamp("us", "UTC")),
        ("price", pa.decimal128(20, 2)),
    ]
)
LAYOUTS = (
    ("region",),
    ("days(ts)", "bucket(4, id)"),
    ("bucket(3, region)", "truncate(10, id)"),
    ("hours(ts)",),
    ("bucket(2, price)", "bucket(5, ts)", "truncate(1, region)"),
    ("months(ts)", "id"),
)
START = datetime.fromisoformat("2025-12-31T00:00:00+00:00")


def rows(order: random.Random, count: int) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "id": order.choice((None, *range(-3, 9))),
                "region": order.choice((None, "", "a", "b", "bc", "é")),
                "ts": order.choice((None, START + timedelta(hours=order.randint(0, 60)))),
                "price": order.choice((None, 0, 1, 2)),
            }
            for _ in range(count)
        ],
        SCHEMA,
    )


def in_memory(partition_by: tuple[str, ...] = (), sort_key: tuple[str, ...] = ()) -> ArrowTable:
    store = MemoryStore()
    log = Log(store, checkpoint_interval=3)
    database = ArrowDatabase(store, log, create_database(store, lone_table=False))
    return database.create_table("t", SCHEMA, partition_by=partition_by, sort_key=sort_key)


def content(table: ArrowTable, where: str | None = None) -> list[str]:
    return sorted(map(str, table.scan(where=where).to_arrow().to_pylist()))
