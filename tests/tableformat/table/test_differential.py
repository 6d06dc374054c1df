"""Random statements on random typed rows leave the same rows as DuckDB has after the same SQL."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.table import ArrowTable

COLUMNS: dict[str, tuple[str, pa.DataType, tuple[Any, ...]]] = {
    "k": ("BIGINT", pa.int64(), (0, 1, 2, 3, -1, 2**62)),
    "n": ("BIGINT", pa.int64(), (0, 1, 2, -(2**63), 2**63 - 1, None)),
    "i": ("INTEGER", pa.int32(), (0, 1, -5, 2**31 - 1, None)),
    "d": ("DECIMAL(9,2)", pa.decimal128(9, 2), (Decimal("0.00"), Decimal("-1.25"), None)),
    "s": ("VARCHAR", pa.string(), ("", "a", "é", "a'b", "日本", "ab" * 20, None)),
    "y": ("DATE", pa.date32(), (dt.date(1582, 1, 1), dt.date(2024, 2, 29), None)),
    "t": (
        "TIMESTAMP",
        pa.timestamp("us"),
        (dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(2026, 1, 1), None),
    ),
    "f": ("DOUBLE", pa.float64(), (0.0, 1.5, -2.0, math.inf, -math.inf, math.nan, None)),
    "b": ("BOOLEAN", pa.bool_(), (True, False, None)),
}
"""Columns: name, DuckDB's type, Arrow's type, and the values to choose from."""

SCHEMA = pa.schema([(name, arrow) for name, (_, arrow, _) in COLUMNS.items()])
Row = dict[str, Any]


LAYOUTS = (
    (),
    ("bucket(3, k)",),
    ("years(y)", "truncate(1, s)"),
    ("bucket(2, d)", "hours(t)"),
    ("b", "bucket(4, s)", "truncate(5, i)"),
    ("months(t)",),
)


def made(partition_by: Sequence[str]) -> ArrowTable:
    store = MemoryStore()
    log = Log(store, checkpoint_interval=4)
    database = ArrowDatabase(store, log, create_database(store, lone_table=False))
    return database.create_table("t", SCHEMA, partition_by=partition_by)


def literal(column: str, value: Any) -> str:
    """A value as both write it."""
    match value:
        case None:
            return "NULL"
        case bool() | int() | Decimal():
            return str(value)
        case float():
            return f"CAST('{value}' AS DOUBLE)"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case dt.datetime():
            return f"TIMESTAMP '{value}'"
    return f"DATE '{value}'"


def random_row(order: random.Random, key: int) -> Row:
    row = {name: order.choice(values) for name, (_, _, values) in COLUMNS.items()}
    return {**row, "k": key}


def random_test(order: random.Random, depth: int = 0) -> str:
    """A condition in SQL."""
    if depth < 2 and order.random() < 0.4:
        left, right = random_test(order, depth + 1), random_test(order, depth + 1)
        return order.choice(
            (f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left})", left)
        )
    name = order.choice(list(COLUMNS))
    values = [value for value in COLUMNS[name][2] if value is not None]
    one, other = (literal(name, order.choice(values)) for _ in range(2))
    return order.choice(
        (
            f"{name} {order.choice(('=', '<', '<=', '>', '>=', '<>'))} {one}",
            f"{name} IN ({one}, {other})",
            f"{name} BETWEEN {one} AND {other}",
            f"{name} IS NULL",
            f"{name} IS NOT NULL",
            f"{name} IS NOT DISTINCT FROM {one}",
            "n < k",
        )
    )


def arrow(rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), SCHEMA)


def comparable(rows: Sequence[Row]) -> list[str]:
    """Rows in an order of their own; a NaN is like any other."""
    return sorted(repr(sorted(row.items())) for row in rows)


class Both:
    """One table in Colonnade and one in DuckDB."""

    def __init__(self, order: random.Random, rival: duckdb.DuckDBPyConnection) -> None:
        self._order = order
        self._rival = rival
        self._keys = 0
        self.table = made(order.choice(LAYOUTS))
        rival.execute(
            f"CREATE TABLE t ({', '.join(f'{n} {sql}' for n, (sql, _, _) in COLUMNS.items())})"
        )

    def step(self) -> str:
        """Give both one statement and compare how many rows it changed; returns it."""
        kind = self._order.choice(("insert", "insert", "delete", "update", "merge", "merge"))
        if self._order.random() < 0.1:
            self.table.partition_by(*self._order.choice(LAYOUTS))
        return str(getattr(self, kind)())

    def insert(self) -> str:
        new = arrow([self._row() for _ in range(self._order.randint(1, 30))])
        self.table.append(new)
        self._count("INSERT INTO t SELECT * FROM new", new)
        return f"insert {new.num_rows}"

    def delete(self) -> str:
        where = random_test(self._order)
        assert self.table.delete(where).rows_deleted == self._count(f"DELETE FROM t WHERE {where}")
        return f"delete {where}"

    def update(self) -> str:
        where, names = random_test(self._order), [*COLUMNS][1:]
        chosen = self._order.sample(names, self._order.randint(1, 3))
        sets = {name: literal(name, self._order.choice(COLUMNS[name][2])) for name in chosen}
        if "n" in sets:
            sets["n"] = "k"
        text = ", ".join(f"{name} = {value}" for name, value in sets.items())
        found = self.table.update(sets, where).rows_updated
        assert found == self._count(f"UPDATE t SET {text} WHERE {where}")
        return f"update {text} where {where}"

    def merge(self) -> str:
        old = self._order.sample(range(self._keys), min(self._keys, self._order.randint(0, 4)))
        source = [self._row() for _ in range(self._order.randint(0, 3))]
        new = arrow([*source, *(random_row(self._order, key) for key in old)])
        found = self.table.upsert(new, on="k")
        changed = self._count(
            "MERGE INTO t USING new ON t.k = new.k"
            " WHEN MATCHED THEN UPDATE SET *"
            " WHEN NOT MATCHED THEN INSERT *",
            new,
        )
        assert found.rows_updated + found.rows_inserted == changed
        return f"merge {new.num_rows}"

    def _row(self) -> Row:
        self._keys += 1
        return random_row(self._order, self._keys - 1)

    def _count(self, sql: str, new: pa.Table | None = None) -> int:
        if new is not None:
            self._rival.register("new", new)
        return int((self._rival.execute(sql).fetchone() or (0,))[0])

    def check(self) -> None:
        """Compare all rows."""
        found = self._rival.execute("SELECT * FROM t").fetchall()
        want = [dict(zip(COLUMNS, row, strict=True)) for row in found]
        assert comparable(self.table.scan().to_arrow().to_pylist()) == comparable(want)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 8))]
)
def test_random_statements_leave_the_rows_that_duckdb_has(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = random.Random(seed)
    with duckdb.connect() as rival:
        both, story = Both(order, rival), []
        if seed % 2:
            # So few rows would all move; now every update replaces columns.
            limits = replace(LIMITS, in_place_bytes=-(2**40))
            monkeypatch.setattr(both.table._log.reader, "limits", limits)
        both.insert()
        for _ in range(12):
            story.append(both.step())
            try:
                both.check()
            except AssertionError as error:
                raise AssertionError(f"after {story[-1]} of {story}") from error
