"""What notebooks show of tables, databases, scans, changes, counts and findings."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from tests.tableformat.test_html import shown

SCHEMA = pa.schema([pa.field("id", pa.int64(), False), ("name", pa.string())])


@pytest.fixture
def table(tmp_path: Path) -> colonnade.ArrowTable:
    database = colonnade.create_database(tmp_path / "db")
    database.create_table("b", SCHEMA)
    made = database.create_table("a", SCHEMA, primary_key=["id"], comment="<b>of</b> 2026")
    made.append(pa.table({"id": [1, 2], "name": ["<script>", None]}, SCHEMA))
    return made


def test_a_table_shows_its_columns_its_size_its_key_and_its_last_changes(
    table: colonnade.ArrowTable,
) -> None:
    texts = shown(table)
    assert texts[0] == repr(table) == f"ArrowTable({table.path!r}, epoch=3)"
    facts = {name: texts[texts.index(name) + 1] for name in texts[:-1]}
    assert (facts["epoch"], facts["rows"], facts["RowSets"]) == ("3", "2", "1")
    assert (facts["primary key"], facts["comment"]) == ("id", "<b>of</b> 2026")
    assert {"size", "long", "NOT NULL", "append", "create_table"} <= set(texts)


def test_a_database_shows_its_tables(table: colonnade.ArrowTable, tmp_path: Path) -> None:
    texts = shown(colonnade.open_database(tmp_path / "db"))
    assert texts[0] == f"ArrowDatabase({str(tmp_path / 'db')!r}, epoch=3)"
    assert texts[texts.index("tables") + 1] == "2"
    assert texts.index("a") < texts.index("b")


def test_a_notebook_shows_tables_and_databases_as_they_are_now(
    table: colonnade.ArrowTable, tmp_path: Path
) -> None:
    database = colonnade.open_database(tmp_path / "db")
    colonnade.open(tmp_path / "db" / "a").append([{"id": 3, "name": "c"}])
    for handle in (table, database):
        texts = shown(handle)
        assert texts[0] == repr(handle)
        assert texts[texts.index("epoch") + 1] == "4"
    assert shown(table)[shown(table).index("rows") + 1] == "3"


def test_a_scan_shows_its_first_rows(table: colonnade.ArrowTable) -> None:
    scan = table.scan(where="id < 9")
    assert "\n" not in repr(scan)
    assert repr(scan).startswith("Scan(columns=['id', 'name'], epoch=3")
    assert shown(scan)[1:] == ["id", "name", "1", "<script>", "2", "NULL"]
    assert shown(scan.limit(1))[1:] == ["id", "name", "1", "<script>"]


def test_changes_counts_and_findings_are_shown(table: colonnade.ArrowTable) -> None:
    history = table.history()
    assert isinstance(history, list)
    assert {"epoch", "append", "create_table"} <= set(shown(history))
    assert "\n" not in repr(history)
    counts = table.update({"name": "'x'"}, "id = 1")
    assert "\n" not in repr(counts)
    assert shown(counts)[:5] == ["RowCounts", "epoch", "4", "rows_updated", "1"]
    report = table.verify()
    assert "\n" not in repr(report)
    assert "Nothing is damaged." in shown(report)


def test_what_cannot_be_read_is_said_where_it_would_be_shown(
    table: colonnade.ArrowTable, tmp_path: Path
) -> None:
    scan = table.scan()
    colonnade.open_database(tmp_path / "db").drop_table("a")
    table._refresh()
    assert "error" in shown(table)
    assert shown(scan)[1:3] == ["id", "name"]
