"""A database to look at, and the command line."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from tests.cli.runner import SCHEMA, Run, order_rows, run_command


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `colonnade` as people do, to whom tracebacks are not shown."""
    monkeypatch.delenv("COLONNADE_TRACEBACK", raising=False)
    return run_command


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A database: `orders` in three RowSets with two rows deleted, and `users`, empty."""
    database = colonnade.create_database(tmp_path / "shop")
    orders = database.create_table("orders", SCHEMA, sort_key=["day desc"], comment="of 2026")
    for start in (0, 10, 20):
        orders.append(order_rows(start, 10))
    orders.delete("id in (3, 4)")
    database.create_table("users", pa.schema([("name", pa.string())]))
    return tmp_path / "shop"
