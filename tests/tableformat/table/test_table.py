"""Tables and databases through Arrow: what a user without Spark does and what may go wrong."""

from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pytest

import colonnade
from colonnade import col
from tests.tableformat.table.trips import SCHEMA, ids, rows


def test_a_scan_reads_the_epoch_it_was_made_at(table: colonnade.ArrowTable) -> None:
    table.append(rows(1))
    scan = table.scan()
    table.overwrite(rows(2))
    assert ids(scan) == [1]


def test_columns_and_where_narrow_a_scan(table: colonnade.ArrowTable) -> None:
    table.append(rows(1, 2, 3, 4))
    scan = table.scan(["amount", "ID"], where="id > 1 AND name <> 'n3'")
    assert scan.to_arrow().to_pydict() == {"amount": [1.0, 2.0], "id": [2, 4]}
    assert ids(table.scan(where=(col("id") > 3) | col("name").isin(["n1"]))) == [1, 4]
    assert table.scan([], where="id > 1").to_arrow().num_rows == 3


def test_rowsets_that_cannot_match_are_not_planned(table: colonnade.ArrowTable) -> None:
    for start in range(0, 50, 10):
        table.append(rows(*range(start, start + 10)))
    assert len(table.scan(where="id = 25")._plan.rowsets) == 1


def test_duckdb_and_polars_read_a_scan(table: colonnade.ArrowTable) -> None:
    table.append(rows(1, 2, 3))
    scan = table.scan(where="id >= 2")
    assert duckdb.sql("SELECT sum(id) FROM scan").fetchall() == [(5,)]
    assert polars.DataFrame(scan)["id"].sum() == 5


def test_a_sort_key_orders_the_rows_of_a_rowset(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "sorted", SCHEMA, sort_key=["name desc", "id"])
    table.append(rows(2, 3, 1))
    assert ids(table.scan()) == [3, 2, 1]


@pytest.mark.parametrize(
    ("ask", "error", "match"),
    [
        ({"epoch": 99}, colonnade.NotFoundError, "99"),
        ({"epoch": -1}, colonnade.NotFoundError, "-1"),
        ({"timestamp": "1999-01-01"}, colonnade.NotFoundError, "1999"),
        ({"timestamp": "0099-01-01"}, colonnade.NotFoundError, r"0099-01-01 00:00:00\.000 UTC"),
        ({"timestamp": "yesterday"}, colonnade.InvalidInputError, "yesterday"),
        ({"epoch": 1, "timestamp": "2026-01-01"}, colonnade.InvalidInputError, "exactly one of"),
        ({"columns": ["nope"]}, colonnade.NotFoundError, "nope"),
        ({"columns": ["id", "ID"]}, colonnade.InvalidInputError, "more than once"),
        ({"where": "nope = 1"}, colonnade.ColonnadeError, "nope"),
        ({"where": "id = "}, colonnade.InvalidInputError, "id ="),
    ],
)
def test_a_scan_that_cannot_be_says_why(
    table: colonnade.ArrowTable, ask: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        table.scan(**ask)


def test_a_dropped_table_stays_readable_at_earlier_epochs(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("a", SCHEMA)
    before = table.append(rows(1))
    database.drop_table("a")
    assert database.tables() == []
    with pytest.raises(colonnade.NotFoundError):
        database.table("a")
    database.create_table("a", SCHEMA).append(rows(2))
    again = database.table("a")
    assert (ids(again.scan()), ids(again.scan(epoch=before))) == ([2], [1])
    with pytest.raises(colonnade.ConflictError):
        table.append(rows(3))


def test_other_stores_can_be_read_and_say_why_they_are_not_written(
    table: colonnade.ArrowTable,
) -> None:
    table.append(rows(1))
    remote = colonnade.open(f"simplecache::file://{table.path}")
    assert ids(remote.scan()) == [1]
    with pytest.raises(colonnade.InvalidInputError, match="read-only"):
        remote.append(rows(2))


def test_a_schema_that_cannot_be_stored_is_refused_by_column_and_type(tmp_path: Path) -> None:
    with pytest.raises(colonnade.InvalidInputError, match="'when'.*month_day_nano"):
        colonnade.create(tmp_path / "t", pa.schema([("when", pa.month_day_nano_interval())]))
    assert not (tmp_path / "t").exists()
    with pytest.raises(colonnade.InvalidInputError, match="by more than case"):
        colonnade.create(tmp_path / "t", pa.schema([("a", pa.int8()), ("A", pa.int8())]))
