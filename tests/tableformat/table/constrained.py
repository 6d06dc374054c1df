"""A small table whose rows constraints are tried on."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa

from colonnade import (
    ArrowTable,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.operations import AddCheck
from tests.log_samples import change

SCHEMA = TableSchema(
    fields=(
        SchemaField(name="key", type="long", nullable=False),
        SchemaField(name="a", type="int"),
        SchemaField(name="b", type="int"),
        SchemaField(name="note", type="string"),
        SchemaField(name="at", type=StructType(fields=(SchemaField(name="x", type="double"),))),
    )
)


def row(key: int, a: int | None = 1, b: int | None = 2) -> dict[str, Any]:
    return {"key": key, "a": a, "b": b, "note": f"n{key}", "at": {"x": float(key)}}


def table_of(*rows: dict[str, Any], schema: pa.Schema | None = None) -> pa.Table:
    kinds = {
        "key": pa.int64(),
        "a": pa.int32(),
        "b": pa.int32(),
        "note": pa.string(),
        "at": pa.struct([("x", pa.float64())]),
    }
    return pa.Table.from_pylist(list(rows), schema or pa.schema(list(kinds.items())))


def contents(table: ArrowTable, **state: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.scan(**state).to_arrow().to_pylist()
    return sorted(found, key=lambda each: each["key"])


def only_spark(table: ArrowTable, sql: str = "octet_length(note) < 9", *columns: int) -> None:
    """Add a constraint as a statement of Spark does, whose condition only Spark can evaluate."""
    constraint = CheckConstraint(name="spark", sql=sql, columns=columns or (4,))
    table._log.commit(
        change(AddCheck(table=table._state.id, constraint=constraint)), table._snapshot
    )
    table.refresh()


def large(count: int) -> pa.Table:
    rows = [row(key) for key in range(count)]
    noise = random.Random(7)
    return table_of(*({**each, "note": noise.randbytes(40).hex()} for each in rows))
