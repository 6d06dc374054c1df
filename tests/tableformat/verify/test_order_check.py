"""Rows that are not in the order of the sort key are found."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset import writer as rowset_writer
from tests.tableformat.verify.damaged import ROWS, SCHEMA, make, rows


@pytest.mark.parametrize("at", [99, 100, 101, 250])
def test_rows_that_are_not_in_the_order_of_the_sort_key_are_found(
    place: str, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = make(MemoryStore())
    ids = [*range(ROWS)]
    ids[at - 1], ids[at] = ids[at], ids[at - 1]
    table = db.create_table("c", SCHEMA, sort_key=["s", "id"])
    monkeypatch.setattr(rowset_writer, "sort_indices", lambda *_: pa.array(range(ROWS)))
    table.append(rows().set_column(0, "id", [ids]).set_column(2, "s", [["x"] * ROWS]))
    assert db.verify(3).findings == ()
    [found] = db.verify(4).findings
    assert (found.table, found.rows) == ("c", (at - 1, at))
    assert f"row {at} belongs before row {at - 1}" in found.problem
