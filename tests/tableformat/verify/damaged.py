"""Tables with damage, and what a verification finds of it."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.table.alteration import DropColumn
from colonnade.tableformat.table.database import ArrowDatabase

SCHEMA = pa.schema([("id", pa.int64()), ("x", pa.float64()), ("s", pa.string())])
ROWS = 300


def rows(first: int = 0, count: int = ROWS) -> pa.Table:
    ids = range(first, first + count)
    texts = [None if i % 7 == 0 else f"text {i} " + "é" * (i % 90) for i in ids]
    values = [float("nan") if i % 50 == 0 else i / 3 for i in ids]
    return pa.table({"id": ids, "x": values, "s": texts}, SCHEMA)


def make(store: ObjectStore) -> ArrowDatabase:
    """Two tables; `a` lost rows and a column. Epochs 4 and 8 are checkpoints."""
    log = Log(store, checkpoint_interval=4, pause=lambda _: None)
    db = ArrowDatabase(store, log, create_database(store, lone_table=False))
    a = db.create_table("a", SCHEMA)
    a.append(rows())
    a.append(rows(ROWS))
    a.delete("id IN (0, 3, 99, 250)")
    db.create_table("b", SCHEMA, sort_key=["id desc"]).append(rows())
    a.refresh()
    a.alter(DropColumn(("x",)))
    a.append(pa.table({"id": [1], "s": ["y"]}))
    return db


def flip(store: ObjectStore, name: str, at: int) -> None:
    data = bytearray(store.get(name))
    data[at] ^= 4
    store.put(name, bytes(data), sync=False)


def data_files(store: ObjectStore) -> Iterator[str]:
    return (info.name for info in store.list("") if not info.name.startswith("_manifest"))
