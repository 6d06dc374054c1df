"""A table in memory. Each test knows every value in its rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from colonnade import ArrowTable
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import plan_write

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        ("text", pa.string()),
        ("price", pa.decimal128(9, 2)),
        ("day", pa.date32()),
        ("flag", pa.bool_()),
    ]
)


def row(i: int, **changed: Any) -> dict[str, Any]:
    made = {
        "id": i,
        "text": f"t{i}",
        "price": Decimal(i),
        "day": dt.date(2020, 1, 1) + dt.timedelta(i),
        "flag": i % 2 == 0,
    }
    return {**made, **changed}


def rows(*ids: int, **changed: Any) -> pa.Table:
    return pa.Table.from_pylist([row(i, **changed) for i in ids], SCHEMA)


def made(
    store: ObjectStore | None = None,
    schema: pa.Schema = SCHEMA,
    key: Sequence[str] = (),
    **design: Any,
) -> ArrowTable:
    """An empty table in memory whose writers never wait."""
    store = store or MemoryStore()
    location = Location(store, "t", exists=True)
    log = Log(store, pause=lambda _: None)
    base = create_database(store, lone_table=False)
    create = new_table("t", as_table_schema(schema), primary_key=key, **design)
    job = plan_write(location, base, "append", create=create)
    return ArrowTable(location, log, commit_written(job, (), log, base))


def another(table: ArrowTable) -> ArrowTable:
    """A second writer of the same table, at the same epoch."""
    return ArrowTable(table._location, table._log, table._snapshot)


def filled(store: ObjectStore | None = None) -> ArrowTable:
    """The rows 0 to 9 and 100 to 109 in two RowSets."""
    table = made(store)
    table.append(rows(*range(10)))
    table.append(rows(*range(100, 110)))
    return table


def ids(table: ArrowTable) -> list[int]:
    table.refresh()
    return sorted(table.scan(["id"]).to_arrow()["id"].to_pylist())


def found(table: ArrowTable, where: str) -> list[dict[str, Any]]:
    return sorted(table.scan(where=where).to_arrow().to_pylist(), key=lambda r: r["id"])


def log_of(table: ArrowTable) -> StatementLog:
    """The log for a statement on the state of a table that was read last."""
    return StatementLog.begin(table._log, table._snapshot, table._state)
