"""Each row of the page of words that people know: its code runs, and does what the row says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import colonnade
from colonnade import col

PAGE = (Path(__file__).parents[1] / "docs" / "words-you-know.md").read_text("utf-8")
ROW = re.compile(r"^\| `(.+?)` \| `(.+?)` \| (.*?) ?\|$", re.MULTILINE)

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


def rows() -> Iterator[tuple[str, str, str]]:
    """Each row of the page that Python alone can try: its section, the word, and the code here."""
    for section in PAGE.split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        if not title.startswith("Delta"):  # those need Spark
            yield from ((title, word, code) for word, code, _ in ROW.findall(text))


def ids(found: Any) -> list[int]:
    return sorted(pa.table(found)["id"].to_pylist())


ROWS = [*rows()]


@pytest.mark.parametrize(("section", "word", "code"), ROWS, ids=[" ".join(row[:2]) for row in ROWS])
def test_the_code_of_a_row_does_what_its_word_means(
    section: str, word: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"colonnade": colonnade, "col": col, "pa": pa, "ids": ids}
    made = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert made is not None
    exec(made[1], names)
    fresh = {"id": [4, 5], "item": ["cap", "box"], "price": [1.5, 9.0]}
    names["frame"] = pl.DataFrame(fresh) if section == "Polars" else pd.DataFrame(fresh)
    names["schema"] = names["table"].schema
    assert code in CHECKS, f"{code} of {section} is tried by no check"
    names["found"] = eval(code, names)
    expression, value = CHECKS[code]
    assert eval(expression, names) == value, word


def test_each_check_is_of_a_row_and_each_line_of_a_table_is_a_row() -> None:
    assert set(CHECKS) - {code for _, _, code in ROWS} == set()
    for section in PAGE.split("\n## ")[1:]:
        lines = re.findall(r"^\| [^-].*\|$", section, re.MULTILINE)
        assert len(ROW.findall(section)) == len(lines) - 1, section.partition("\n")[0]
    assert len(ROWS) > 80
