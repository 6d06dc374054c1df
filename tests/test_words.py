"""Each row of the page of words that people know: its code runs, and does what the row says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import colonnade
from colonnade import col
from tests.words import ROWS, WordRow, make_database, untried

IDS = "ids(found)"
COLUMNS = "table.refresh() and table.columns"
AFTER = "ids(table)"
PRICES = "sorted(table.to_arrow()['price'].to_pylist())"
NEW = "ids(colonnade.open('new'))"

CHECKS: dict[str, tuple[str, Any]] = {
    "len(table)": ("found", 3),
    "table.columns": ("found", ["id", "item", "price"]),
    "table.dtypes": ("found", {"id": "long", "item": "string", "price": "double"}),
    "table.head(2)": ("isinstance(found, pa.Table) and found.num_rows", 2),
    "table.take(2)": ("len(found)", 2),
    'table.to_pandas(["id", "price"])': ("list(found.columns)", ["id", "price"]),
    'table.to_pandas(where=col("price") > 2)': (IDS, [2]),
    'table.to_pandas(where="price > 2")': (IDS, [2]),
    'table.to_pandas(where=col("id").isin([1, 3]))': (IDS, [1, 3]),
    'table.to_pandas(where=col("price").between(1, 2))': (IDS, [1, 3]),
    'table.to_pandas(where=col("item").is_null())': (IDS, [3]),
    'table.to_pandas(where=col("item").startswith("p"))': (IDS, [1]),
    "table.get(1)": ("found['item']", "pen"),
    "table.to_pylist()": ("found == orders", True),
    "list(table.scan())": ("found == orders", True),
    "table.append(frame)": (AFTER, [1, 2, 3, 4, 5]),
    'table.update({"price": 3.0}, "id = 1")': (PRICES, [1.0, 3.0, 5.0]),
    'table.update({"price": "3.0"}, "id = 1")': (PRICES, [1.0, 3.0, 5.0]),
    'table.delete("id = 1")': (AFTER, [2, 3]),
    'table.rename_column("item", "what")': (COLUMNS, ["id", "what", "price"]),
    'table.drop_column("item")': (COLUMNS, ["id", "price"]),
    'colonnade.create("new", frame)': (NEW, [4, 5]),
    'colonnade.create("new", frame.lazy())': (NEW, [4, 5]),
    'colonnade.create("new", schema)': (NEW, []),
    'colonnade.open("shop/orders").to_pandas()': (IDS, [1, 2, 3]),
    'colonnade.open("shop/orders").to_polars()': (IDS, [1, 2, 3]),
    'colonnade.open("shop/orders").scan()': (IDS, [1, 2, 3]),
    'colonnade.open("shop/orders")': ("found.name", "orders"),
    'colonnade.open_database("shop")': ("found.tables()", ["orders"]),
    'table.scan().select("id", "price")': ("found.columns", ["id", "price"]),
    'table.scan().filter(col("price") > 2)': (IDS, [2]),
    "table.limit(2)": ("found.count()", 2),
    "table.limit(2).to_arrow()": ("found.num_rows", 2),
    "table.scan().to_polars()": ("found.height", 3),
    "table.num_rows": ("found", 3),
    "table.count()": ("found", 3),
    "table.scan().count()": ("found", 3),
    "table.schema": ("found.names", ["id", "item", "price"]),
    'col("id").isin([1, 3])': ("ids(table.scan(where=found))", [1, 3]),
    'col("id") == 1': ("ids(table.scan(where=found))", [1]),
    'col("item").is_null()': ("ids(table.scan(where=found))", [3]),
    'col("price").between(1, 2)': ("ids(table.scan(where=found))", [1, 3]),
    'col("item").startswith("p")': ("ids(table.scan(where=found))", [1]),
    "table.upsert(frame)": (AFTER, [1, 2, 3, 4, 5]),
    '"orders" in db': ("found", True),
    "table.overwrite(frame)": (AFTER, [4, 5]),
    'table.overwrite(frame, "id >= 3")': (AFTER, [1, 2, 4, 5]),
    "table.append(frame, evolve=True)": (AFTER, [1, 2, 3, 4, 5]),
    "table.version": ("found == table.epoch", True),
    "table.epoch": ("found", 1),
    'table.to_pandas(columns=["id"])': ("list(found.columns)", ["id"]),
    "table.to_arrow()": ("found.num_rows", 3),
    "table.scan().to_reader()": ("found.read_all().num_rows", 3),
    "table.scan(epoch=1)": (IDS, [1, 2, 3]),
    "table.history(1)": ("[each.epoch for each in found]", [1]),
    "table.history()": ("[each.epoch for each in found]", [1]),
    "table.restore(1)": (AFTER, [1, 2, 3]),
    'table.alter(colonnade.AddColumn(("tip", "double")))': ("table.dtypes['tip']", "double"),
    'table.alter(colonnade.AddConstraint("paid", "price > 0"))': (
        "table.constraints",
        {"paid": "price > 0"},
    ),
    'table.alter(colonnade.AlterProperties({"team": "a"}))': ("table.properties", {"team": "a"}),
    "table.optimize().executeCompaction()": (AFTER, [1, 2, 3]),
    "table.vacuum(dry_run=True)": ("found.epochs_removed", 0),
    "table.properties": ("found", {}),
    "list(db)": ("found", ["orders"]),
    'db["orders"]': ("found.name", "orders"),
    'db.create_table("new", schema)': ("found.columns", ["id", "item", "price"]),
    'db.rename_table("orders", "sales")': ("db.tables()", ["sales"]),
    'db.drop_table("orders")': ("db.tables()", []),
    'table.scan(["id"], "price > 2")': (IDS, [2]),
    "db.transaction()": ("found.tables()", ["orders"]),
    'db.tag("v1", 1)': ("db.tags()", {"v1": 1}),
    "table.path": ("found.endswith('shop/orders')", True),
}
"""What is true after the code of a row: an expression, and its value. `found` is the result."""


def ids(found: Any) -> list[int]:
    return sorted(pa.table(found)["id"].to_pylist())


HERE = [row for row in ROWS if not row.through_spark]


@pytest.mark.parametrize("row", HERE, ids=[" ".join(row[:2]) for row in HERE])
def test_the_code_of_a_row_does_what_its_word_means(
    row: WordRow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"colonnade": colonnade, "col": col, "pa": pa, "ids": ids}
    make_database(names)
    fresh = {"id": [4, 5], "item": ["cap", "box"], "price": [1.5, 9.0]}
    names["frame"] = pl.DataFrame(fresh) if row.section == "Polars" else pd.DataFrame(fresh)
    names["schema"] = names["table"].schema
    names["found"] = eval(row.code, names)
    expression, value = CHECKS[row.code]
    assert eval(expression, names) == value, row.word


def test_each_row_has_a_check_and_each_check_a_row() -> None:
    assert untried(CHECKS, through_spark=False) == set()
    assert len(HERE) > 80
