"""DELETE removes the rows of its condition, and reads as little as possible."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade import col
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset.reader import RowSetReader
from tests.faults import FaultyStore
from tests.tableformat.statements.tables import another, filled, ids, rows


def test_delete_counts_what_it_took_and_history_shows_it() -> None:
    table = filled()
    counts = table.delete("id < 3 OR id = 105")
    assert ids(table) == [*range(3, 10), *range(100, 105), *range(106, 110)]
    assert (counts.rows_deleted, counts.rowsets_touched, counts.epoch) == (4, 2, table.epoch)
    newest = table.history()[0]
    assert newest.operation == "delete"
    assert newest.parameters == {"where": "id < 3 OR id = 105"}
    assert newest.metrics == counts.metrics()
    assert newest.bytes_added == counts.bytes_written > 0


def test_a_rowset_whose_rows_are_all_gone_is_dropped() -> None:
    table = filled()
    table.delete(col("id") < 5)
    counts = table.delete("id < 10")
    assert table._state.rowsets.rowset_count == 1
    assert (counts.rows_deleted, counts.bytes_written) == (5, 0)
    assert table.delete().rows_deleted == 10
    assert table._state.rowsets.rowset_count == 0


def test_a_delete_that_statistics_decide_reads_no_data() -> None:
    store = FaultyStore(MemoryStore())
    table = filled(store)
    table.append(rows(*range(1000, 9000)))
    store.trace.clear()
    assert table.delete("id >= 1000").rows_deleted == 8000
    assert table.delete(col("day").is_null()).rows_deleted == 0
    assert [call for call in store.trace if not call.name.startswith("_manifest/")] == []


def test_a_delete_reads_only_the_columns_of_its_condition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    plain = RowSetReader.read

    def spy(self: Any, columns: Any, **options: Any) -> Any:
        read.extend(column.name for column in columns)
        return plain(self, columns, **options)

    monkeypatch.setattr(RowSetReader, "read", spy)
    filled().delete("id = 3 AND text <> 'x'")
    assert read == ["id", "text"]


def test_a_deletion_counts_only_rows_that_were_live() -> None:
    table = filled()
    other = another(table)
    other._open.refresh = lambda: other._snapshot  # type: ignore[method-assign]
    table.delete("id < 4")
    assert other.delete("id < 6").rows_deleted == 2
    assert table._log.reader.read_head().epoch == 5
