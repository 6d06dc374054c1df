"""Handles of a database that was dropped, where another one has grown and lost epochs since."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import (
    AlterProperties,
    ArrowDatabase,
    ArrowTable,
    CommitSettings,
    ConflictError,
    NotFoundError,
)
from colonnade.manifests.log.dropping import drop_database
from colonnade.manifests.log.log import Log
from colonnade.manifests.store import LocalStore

SCHEMA = pa.schema([("a", pa.int64())])
ROW = pa.table({"a": [1]}, SCHEMA)


def _made(path: Path, appends: int, tables: int = 0) -> ArrowDatabase:
    db = colonnade.create_database(path)
    for number in range(tables):
        db.create_table(f"t{number}", SCHEMA)
    table = db.create_table("a", SCHEMA)
    for _ in range(appends):
        table.append(ROW)
    return db


def _in_transaction(db: ArrowDatabase) -> None:
    with db.transaction() as tx:
        tx.table("a").append(ROW)


CALLS: dict[str, Callable[[ArrowDatabase, ArrowTable], Any]] = {
    "append": lambda db, table: table.append(ROW),
    "batch": lambda db, table: table.append(ROW, commit=CommitSettings(batch=("x", 1))),
    "scan": lambda db, table: table.scan().to_arrow(),
    "delete": lambda db, table: table.delete("a = 1"),
    "upsert": lambda db, table: table.upsert(ROW, on=["a"]),
    "overwrite": lambda db, table: table.overwrite(ROW),
    "add column": lambda db, table: table.add_column("b", "long", lambda rows: rows["a"]),
    "alter": lambda db, table: table.alter(AlterProperties({"x": "y"})),
    "compact": lambda db, table: table.optimize().executeCompaction(),
    "history": lambda db, table: table.history(),
    "restore": lambda db, table: table.restore(epoch=3),
    "transaction": lambda db, table: _in_transaction(db),
    "create": lambda db, table: db.create_table("b", SCHEMA),
    "drop": lambda db, table: db.drop_table("a"),
    "tag": lambda db, table: db.tag("x"),
    "vacuum": lambda db, table: db.vacuum(0, force=True),
}


@pytest.mark.parametrize("tables", [0, 20])
def test_every_call_says_that_the_database_was_replaced_and_none_calls_it_damaged(
    tables: int, tmp_path: Path
) -> None:
    path = tmp_path / "db"
    handles = []
    old = _made(path, 3, tables)
    for name in CALLS:
        db = ArrowDatabase(old._store, Log(old._store, pause=lambda _: None), old._snapshot)
        handles.append((name, db, db.table("a")))
    drop_database(Log(LocalStore(path)), cascade=True)
    new = _made(path, 9, tables)
    new.vacuum(0, force=True)
    kept, rows = new._refresh(), new.table("a").scan().to_arrow()
    for name, db, table in handles:
        # A writer that reads nothing first may only learn that epochs were removed.
        with pytest.raises((NotFoundError, ConflictError)):
            CALLS[name](db, table)
        with pytest.raises(NotFoundError, match="was removed or replaced"):
            table.refresh()
    assert (new._refresh(), new.table("a").scan().to_arrow()) == (kept, rows)
