"""DataFusion hands the columns and the filter of a query to a dataset. Its package is set-up's."""

from __future__ import annotations

import importlib
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import colonnade
from colonnade.tableformat.engines.dataset import ScanFragment
from tests.setup import lakes

QUERIES = {
    "id < 10 AND name = 'n3'": 1,
    "name IN ('n1', 'n2') OR id = 999": 287,
    "day IS NULL": 500,
    "NOT (price > 3)": 2,
    "day = DATE '2026-01-01' AND price >= 100": 450,
}
"""Conditions, and how many of the rows meet them."""


@pytest.mark.long
@pytest.mark.parametrize("condition", QUERIES)
def test_datafusion_finds_the_rows_and_hands_over_its_filter(
    condition: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(lakes.installed())])
    session = importlib.import_module("datafusion").SessionContext()
    columns = {"id": "bigint", "name": "string", "price": "double", "day": "date"}
    table = colonnade.create(tmp_path / "t", columns)
    table.append(
        [
            {
                "id": id,
                "name": f"n{id % 7}",
                "price": None if id % 2 else float(id),
                "day": None if id % 2 else date(2026, 1, 1),
            }
            for id in range(1000)
        ]
    )
    asked: list[dict[str, Any]] = []
    read = ScanFragment.scanner

    def noted(fragment: ScanFragment, *arguments: Any, **options: Any) -> Any:
        asked.append(options)
        return read(fragment, *arguments, **options)

    monkeypatch.setattr(ScanFragment, "scanner", noted)
    session.register_dataset("t", table.dataset())
    found = session.sql(f"SELECT id FROM t WHERE {condition}").to_arrow_table()
    assert found.num_rows == QUERIES[condition] == table.count(condition)
    assert all(each["filter"] is not None and "id" in each["columns"] for each in asked)
    assert asked
