"""Rows of another partition than their RowSet's are found."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.partition import writer
from colonnade.tableformat.partition.divide import divide
from tests.tableformat.verify.damaged import SCHEMA, make, rows


def test_rows_of_another_partition_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*given: Any) -> tuple[Any, Any]:
        codes, partitions = divide(*given)
        codes[7] = (codes[7] + 1) % len(partitions)
        return codes, partitions

    db = make(MemoryStore())
    table = db.create_table("p", SCHEMA, partition_by=["bucket(2, id)", "truncate(1, s)"])
    table.append(rows())
    assert db.verify(4).is_sound
    monkeypatch.setattr(writer, "divide", wrong)
    table.append(rows())
    assert db.verify(3).is_sound
    [found] = db.verify(4).findings
    assert found.table == "p"
    assert "outside of its partition" in found.problem
