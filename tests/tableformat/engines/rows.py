"""The same random rows as a table of many small blocks and as a Parquet file, and filters on them.

A filter of each engine must choose the rows that the engine chooses of the Parquet file.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pyarrow.parquet as pq

from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.table import ArrowTable
from tests.tableformat.scan import tables

UTC = dt.timezone.utc
COLUMNS: dict[str, tuple[str, pa.DataType, tuple[Any, ...]]] = {
    "n": ("long", pa.int64(), (0, 1, 2, 3, -1, 2**53 + 1, -(2**63), 2**63 - 1)),
    "i": ("int", pa.int32(), (0, 1, 2, -5, 2**31 - 1)),
    "f": ("double", pa.float64(), (0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan)),
    "g": ("float", pa.float32(), (0.0, 0.5, -2.0, math.inf, math.nan)),
    "d": ("decimal(9,2)", pa.decimal128(9, 2), tuple(map(Decimal, ("0.00", "-1.25", "1.50")))),
    "s": ("string", pa.string(), ("", "a", "ab", "é", "a'b", "日本", "ab" * 20, "a\0")),
    "y": ("date", pa.date32(), (dt.date(1582, 1, 1), dt.date(1969, 12, 31), dt.date(2024, 2, 29))),
    "t": (
        "timestamp_ntz",
        pa.timestamp("us"),
        (dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(2026, 1, 1)),
    ),
    "z": (
        "timestamp",
        pa.timestamp("us", "UTC"),
        (dt.datetime(1969, 12, 31, 23, tzinfo=UTC), dt.datetime(2026, 1, 1, tzinfo=UTC)),
    ),
    "b": ("boolean", pa.bool_(), (True, False)),
}
"""Columns: Colonnade's type, Arrow's type, and the values to choose from, beside NULL."""

SCHEMA = pa.schema([("k", pa.int64()), *((name, each[1]) for name, each in COLUMNS.items())])
"""The columns, and `k`, which numbers the rows."""


def random_rows(order: random.Random, count: int = 200) -> pa.Table:
    """Rows of which neighbours have few different values, so that bounds of blocks matter."""
    rows = []
    for first in range(0, count, 10):
        some = {
            name: order.choices([*values, None], k=order.randint(1, 3))
            for name, (_, _, values) in COLUMNS.items()
        }
        rows += [
            {"k": k, **{name: order.choice(values) for name, values in some.items()}}
            for k in range(first, first + 10)
        ]
    return pa.Table.from_pylist(rows, SCHEMA)


def table_of(rows: pa.Table, order: random.Random) -> ArrowTable:
    """A table of some RowSets, of which some rows were deleted that `rows` lacks."""
    store = MemoryStore()
    types = {"k": "long", **{name: each[0] for name, each in COLUMNS.items()}}
    table = tables.new(store, types)
    cut = order.randrange(1, rows.num_rows)
    for part in (rows.slice(0, cut), rows.slice(cut)):
        tables.append(store, table, part, order.choice([*tables.PLACES]), block_rows=8)
    lost = rows.slice(0, 20).set_column(0, "k", pa.array(range(-20, 0), pa.int64()))
    tables.append(store, table, lost, "packed", block_rows=8)
    table.delete("k < 0")
    return table


def parquet_of(rows: pa.Table, folder: Path) -> str:
    """The rows as a Parquet file, without statistics: those of Parquet leave NaN out.

    So engines skip row groups whose only matches are NaN.
    """
    path = str(folder / "rows.parquet")
    pq.write_table(rows, path, row_group_size=50, write_statistics=False)
    return path


def literal(value: Any) -> str:
    """A value in the SQL of DuckDB."""
    match value:
        case bool() | int() | Decimal():
            return str(value)
        case float():
            return f"CAST('{value}' AS DOUBLE)"
        case str():
            return "'" + value.replace("\0", "").replace("'", "''") + "'"
        case dt.datetime() if value.tzinfo is not None:
            return f"TIMESTAMPTZ '{value.isoformat()}'"
        case dt.datetime():
            return f"TIMESTAMP '{value}'"
    return f"DATE '{value}'"


def random_condition(order: random.Random, depth: int = 0) -> str:
    """A condition in the SQL of DuckDB.

    It has no IS NOT DISTINCT FROM, with which DuckDB 1.5 refuses to read any dataset. It has few
    comparisons with NaN, because DuckDB hands over `f <= NaN` as TRUE, though NULL is not.
    """
    if depth < 3 and order.random() < 0.5:
        left, right = random_condition(order, depth + 1), random_condition(order, depth + 1)
        return order.choice((f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left})"))
    name = order.choice([*COLUMNS])
    values = [each for each in COLUMNS[name][2] if each == each]
    one, other = (literal(order.choice(values)) for _ in range(2))
    return order.choice(
        (
            f"{name} {order.choice(('=', '<', '<=', '>', '>=', '<>'))} {one}",
            f"{name} {order.choice(('=', '<', '<=', '>', '>=', '<>'))} {one}",
            f"{one} < {name}",
            f"{name} IN ({one}, {other})",
            f"({name} = {one} OR {name} > {other} OR {name} IS NULL)",
            f"{name} NOT IN ({one}, {other})",
            f"{name} BETWEEN {one} AND {other}",
            f"{name} IS NULL",
            f"{name} IS NOT NULL",
            "s LIKE 'a%'",
            "f = 'NaN'::DOUBLE",
            "g < 'NaN'::FLOAT",
            "n < i",
            "n > 1.5",
            "d > 1",
            "d = 1.5::DOUBLE",
            "n + 1 > 2",
            "length(s) > 1",
        )
    )


def random_expression(order: random.Random, depth: int = 0) -> polars.Expr:
    """A filter of Polars."""
    if depth < 3 and order.random() < 0.5:
        left, right = random_expression(order, depth + 1), random_expression(order, depth + 1)
        return order.choice((left & right, left | right, ~left))
    name = order.choice([*COLUMNS])
    column = polars.col(name)
    one, other = (polars.lit(order.choice(COLUMNS[name][2])) for _ in range(2))
    values = order.choices(COLUMNS[name][2], k=2)
    choices = [
        column == one,
        column != one,
        column < one,
        column <= one,
        column > one,
        column >= one,
        column.is_between(one, other),
        column.is_in(values),
        column.is_in([values[0], None]),
        column.is_null(),
        column.is_not_null(),
        column.eq_missing(one),
        polars.col("n") < polars.col("i"),
        polars.col("s").str.starts_with("a"),
        polars.col("n") + 1 > 2,
        polars.col("b"),
        polars.col("f").is_nan(),
        polars.col("n") > 1.5,
        polars.col("d") > 1,
    ]
    return order.choice(choices)
