"""Ranges are deleted without reading a row, and every reader sees what a model of rows says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.range_tombstones import MOST_REGIONS
from colonnade.tableformat.predicate import parse_predicate
from colonnade.tableformat.statements.ranges import evaluate_range
from colonnade.tableformat.table.epochs.erase import erase
from colonnade.tableformat.table.epochs.history import counts_of
from tests.clocked import Clocked
from tests.faults import FaultyStore

SCHEMA = pa.schema(
    [
        pa.field("device", pa.int64(), nullable=False),
        pa.field("ts", pa.int32(), nullable=False),
        pa.field("seen", pa.struct([("x", pa.float64()), ("tags", pa.list_(pa.string()))])),
    ]
)
DEVICES, TIMES = 12, 40


def rows(seed: int, count: int) -> pa.Table:
    random_ = np.random.default_rng(seed)
    seen = [
        None if i % 7 == 0 else {"x": float(i), "tags": [None, "a" * (i % 5)][: i % 3]}
        for i in range(count)
    ]
    return pa.table(
        {
            "device": random_.integers(0, DEVICES, count),
            "ts": random_.integers(0, TIMES, count).astype(np.int32),
            "seen": pa.array(seen, SCHEMA.field("seen").type),
        },
        schema=SCHEMA,
    )


def sorted_rows(table: pa.Table) -> list[tuple[int, int, str]]:
    found = table.to_pylist()
    return sorted((row["device"], row["ts"], repr(row["seen"])) for row in found)


@pytest.mark.slow
def test_a_range_costs_one_small_epoch_and_reads_no_row(tmp_path: Path) -> None:
    whole = colonnade.create(tmp_path / "t", SCHEMA, sort_key=["device", "ts"])
    whole.append(rows(1, 200_000))
    store = FaultyStore(whole._log.store)
    where = parse_predicate("device = 7 AND ts < 20")
    assert evaluate_range(StatementLog(Log(store), None), whole._state, where) is not None
    assert not store.trace
    done = whole.delete_range("device = 7 AND ts < 20")
    assert done.rows_deleted is None
    assert done.ranges_deleted == 1
    newest = max((tmp_path / "t" / "_manifest").glob("*.json"), key=lambda p: p.stat().st_mtime)
    assert newest.stat().st_size <= 1_000
    assert whole.history(1)[0].metrics["ranges_deleted"] == 1
    assert "rows_deleted" not in whole.history(1)[0].metrics
    transaction = whole.history(1)[0].transaction
    counts = counts_of(whole._log, whole._snapshot, transaction, 0)
    assert counts.rows_deleted is None


def test_rowsets_that_lie_wholly_inside_a_range_are_dropped_in_its_epoch(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, sort_key=["device", "ts"])
    every = rows(2, 4_000)
    devices = np.array(every["device"])
    for device in range(4):
        table.append(every.filter(pa.array(devices == device)))
    table.append(every.filter(pa.array(devices >= 2)))
    done = table.delete("device >= 1 AND device <= 2")
    assert done.rows_deleted is None
    assert [entry.id for entry in table._log.rowsets.read(table._state, which="all")] == [
        0,
        3,
        4,
    ]


def test_a_range_that_bounds_decide_is_counted_and_leaves_no_tombstone(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, sort_key=["device"])
    table.append(rows(3, 500))
    assert table.delete("device >= 0").rows_deleted == 500
    assert not table._state.range_tombstones


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("ts = 3", "leaves out a leading column"),
        ("device > 3 AND ts = 3", "leaves out a leading column"),
        ("device = NULL", "NULL or NaN"),
        ("seen.x = 1", "NOT NULL"),
        ("device <> 3", "not a range"),
        (f"device IN ({', '.join(map(str, range(129)))})", "or more than 128 of them"),
    ],
)
def test_only_ranges_of_the_leading_columns_are_deleted_as_ranges(
    where: str, said: str, tmp_path: Path
) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, sort_key=["device", "ts"])
    table.append(rows(4, 100))
    epoch = table.epoch
    with pytest.raises(InvalidInputError, match=said) as refused:
        table.delete_range(where)
    assert "'t'" in str(refused.value)
    assert table.refresh().epoch == epoch
    expected = table.scan().to_arrow().num_rows - table.scan(where=where).to_arrow().num_rows
    table.delete(where)
    assert table.scan().to_arrow().num_rows == expected


def test_a_range_of_floating_point_numbers_ends_below_nan() -> None:
    schema = pa.schema([pa.field("x", pa.float64(), nullable=False)])
    table = Clocked(schema, sort_key=["x"]).table
    table.append(pa.table({"x": [1.0, 2.0, 3.0, float("nan")]}, schema=schema))
    with pytest.raises(InvalidInputError, match="ends below NaN, which is above every number"):
        table.delete_range("x >= 2.0")
    table.delete_range("x >= 2.0 AND x <= 2.5")
    assert str(table.scan().to_arrow()["x"].to_pylist()) == "[1.0, 3.0, nan]"


def test_partition_columns_and_the_primary_key_make_ranges_too(tmp_path: Path) -> None:
    table = colonnade.create(
        tmp_path / "t", SCHEMA, partition_by=["device"], primary_key=["device", "ts"]
    )
    keys = [(d, t) for d in range(4) for t in range(10)]
    table.append(
        pa.table(
            {
                "device": pa.array([d for d, _ in keys]),
                "ts": pa.array([t for _, t in keys], pa.int32()),
                "seen": pa.nulls(len(keys), SCHEMA.field("seen").type),
            },
            schema=SCHEMA,
        )
    )
    assert table.delete("device = 2").rows_deleted == 10  # a whole partition
    assert table.delete_range("device IN (0, 1) AND ts > 7").ranges_deleted == 2
    assert table.scan().to_arrow().num_rows == 30 - 4
    assert table.get((0, 8)) is None
    assert table.get((0, 7)) is not None
    again = pa.table({"device": [0], "ts": pa.array([8], pa.int32())})
    table.append(again)  # the key is free
    table.upsert(again)
    assert table.scan(where="device = 0 AND ts >= 7").to_arrow().num_rows == 2


def test_a_transaction_deletes_its_own_rows_by_their_numbers(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = colonnade.create(tmp_path / "db" / "t", SCHEMA, sort_key=["device", "ts"])
    table.append(rows(5, 300))
    database.refresh()
    with database.transaction() as transaction:
        own = transaction.table("t")
        own.append(rows(6, 300))
        own.delete("device = 3 AND ts < 30")
        own.delete_range("device = 4 AND ts < 30")
        inside = own.scan().to_arrow().num_rows
    expected = pa.concat_tables([rows(5, 300), rows(6, 300)])
    kept = [r["device"] not in (3, 4) or r["ts"] >= 30 for r in expected.to_pylist()]
    expected = expected.filter(pa.array(kept))
    assert inside == expected.num_rows
    assert sorted_rows(table.scan().to_arrow()) == sorted_rows(expected)
    assert not table._state.range_tombstones


def test_a_table_with_128_ranges_reads_rows_again(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, sort_key=["device", "ts"])
    table.append(rows(7, 2_000))
    many = ", ".join(map(str, range(TIMES)))
    for device in range(MOST_REGIONS // TIMES):
        assert table.delete(f"device = {device} AND ts IN ({many})").rows_deleted is None
    assert table.delete(f"device = 9 AND ts IN ({many})").rows_deleted is not None


def test_an_erased_person_is_in_no_file_though_a_range_had_deleted_him(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, sort_key=["device", "ts"])
    table.append(rows(9, 5_000))
    table.delete("device = 5 AND ts < 20")
    report = erase(table, "device = 5")
    assert not report.held_by
    assert table.scan(where="device = 5").to_arrow().num_rows == 0
