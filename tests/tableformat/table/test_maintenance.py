"""Maintenance of a table changes no row."""

from __future__ import annotations

from pathlib import Path

import pytest

import colonnade
from tests.tableformat.table.trips import rows


def test_no_upkeep_changes_a_row(table: colonnade.ArrowTable, tmp_path: Path) -> None:
    for first in range(6):
        table.append(rows(first, first + 10))
    table.delete("id IN (3, 14)")
    expected = sorted([0, 10, 1, 11, 2, 12, 13, 4, 5, 15])

    def found() -> list[int]:
        return sorted(table.scan(["id"]).to_arrow()["id"].to_pylist())

    assert found() == expected
    table.optimize().where("id >= 0").executeCompaction()
    assert found() == expected
    assert table.vacuum(0, force=True).bytes_removed > 0
    assert found() == expected
    assert table.verify(4).findings == ()
    with pytest.raises(colonnade.InvalidInputError):
        table.repair([0], rescue=tmp_path / "lost.parquet")
    assert found() == expected
