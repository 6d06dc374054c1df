"""Scans that are narrowed or counted read the same state, with all that it hides from them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.tableformat.table.transaction.transaction import ArrowTransactionTable
from tests.tableformat.table.trips import SCHEMA, ids, rows


def test_a_count_leaves_out_rows_of_deleted_ranges_and_rows_that_expired(tmp_path: Path) -> None:
    table = colonnade.create(
        tmp_path / "t", SCHEMA, sort_key=["id"], data=rows(*range(20)), primary_key=["id"]
    )
    assert table.delete_range("id < 5").rows_deleted is None
    for where in (None, "id < 10", "id >= 3", "amount > 1", "id < 5"):
        assert table.count(where) == len(table.scan(where=where).to_arrow())
    expiring = colonnade.create(
        tmp_path / "e",
        {"id": "long", "until": "timestamp"},
        properties={"ttl.expires": "until"},
    )
    past, future = (
        pa.scalar(1, pa.timestamp("us", "UTC")),
        pa.scalar(2**52, pa.timestamp("us", "UTC")),
    )
    expiring.append({"id": [1, 2, 3], "until": pa.array([past, future, None])})
    assert expiring.count() == len(expiring.scan().to_arrow()) == 2
    assert expiring.count("id > 1") == 2
    assert expiring.count("until IS NULL") == 1


def test_a_count_of_static_columns_and_of_other_columns_of_an_epoch(tmp_path: Path) -> None:
    table = colonnade.create(
        tmp_path / "t",
        {"site": "string", "id": "long", "owner": "string"},
        primary_key=["site", "id"],
        static=["owner"],
    )
    table.append({"site": ["a", "a", "b"], "id": [1, 2, 3], "owner": ["x", "x", "y"]})
    for where in ("owner = 'x'", "owner <> 'x'", "owner IS NULL", "id > 1 AND owner = 'x'"):
        scan = table.scan(where=where)
        assert scan.count() == len(scan.to_arrow()) == len(table.scan().filter(where).to_arrow())
    epoch = table.epoch
    table.rename_column("id", "number")
    older = table.scan(schema_epoch=epoch)
    assert older.filter("id > 1").select("id").to_pylist() == [{"id": 2}, {"id": 3}]
    assert older.filter("id > 1").count() == 2


def test_an_ordered_scan_stays_ordered_when_it_is_narrowed(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, sort_key=["id desc"])
    numbers = random.Random(3).sample(range(100), 100)
    for at in range(0, 100, 10):
        table.append(rows(*numbers[at : at + 10]))
    scan = table.scan(order="key").filter("id < 50").select("id").limit(3)
    assert ids(scan) == [49, 48, 47]
    assert table.scan(order="key").count() == 100


def test_what_a_narrowed_scan_of_a_transaction_reads_is_a_conflict(tmp_path: Path) -> None:
    """Each way to look at rows counts as a read of them, also a count that the log tells."""
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", rows(1), properties={"isolation": "serializable"})
    looks: dict[str, Callable[[ArrowTransactionTable], object]] = {
        "count": lambda t: t.count(),
        "length": len,
        "filter": lambda t: t.scan(["name"]).limit(0).select("name").to_arrow(),
        "filtered": lambda t: t.scan(["name"]).filter("id > 0").count(),
    }
    for number, look in enumerate(looks.values(), 2):
        tx = database.transaction()
        look(tx.table("t"))
        tx.table("t").append(rows(100 + number))
        table.append(rows(number))
        with pytest.raises(colonnade.ConflictError):
            tx.commit()
