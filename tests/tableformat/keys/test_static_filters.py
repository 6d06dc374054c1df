"""A condition on static columns selects the right rows, and skips the data of other partitions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colonnade
from colonnade import RenameColumn
from colonnade.tableformat.keys import static_filters
from colonnade.tableformat.keys.static_filters import by_partitions
from colonnade.tableformat.predicate import parse_predicate
from colonnade.tableformat.table.table import ArrowTable
from tests.tableformat.predicate.oracle import Oracle, random_predicate, random_value

TYPES = {"k": "string", "d": "double", "n": "int", "s": "string", "x": "double"}
SCHEMA = pa.schema(
    [
        pa.field("k", pa.string(), nullable=False),
        pa.field("d", pa.float64(), nullable=False),
        pa.field("n", pa.int32(), nullable=False),
        ("s", pa.string()),
        ("x", pa.float64()),
    ]
)


@pytest.fixture(scope="module")
def random_rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[ArrowTable, list[Any]]:
    """A table of about 20 RowSets whose partition key has two columns, and its rows as dicts."""
    rng = random.Random(7)
    path = tmp_path_factory.mktemp("statics") / "t"
    table = colonnade.create(
        path, SCHEMA, primary_key=["k", "d", "n"], partition_key=["k", "d"], static=["s", "x"]
    )
    rows: list[dict[str, Any]] = []
    seen = set[Any]()
    for _ in range(25):
        key = {
            "k": random_value(rng, "string"),
            "d": rng.choice([-1.5, 0.0, -0.0, 1.0, 3.0, 1e300]),
        }
        static = {
            name: None if rng.random() < 0.3 else random_value(rng, TYPES[name]) for name in "sx"
        }
        numbers = {random_value(rng, "int") for _ in range(rng.randrange(4))}
        if tuple(key.values()) in seen:
            continue
        seen.add(tuple(key.values()))
        table.upsert(pa.Table.from_pylist([{**key, **static}], SCHEMA.remove(2)))
        added = [{**key, "n": n} for n in numbers]
        if added:
            table.append(pa.Table.from_pylist(added, pa.schema([*SCHEMA][:3])))
        rows += [{**each, **static} for each in added]
    return table, rows


@pytest.mark.slow
@given(seed=st.integers(0, 2**32))
def test_a_scan_returns_the_rows_that_meet_any_predicate(
    random_rows: tuple[ArrowTable, list[Any]], seed: int
) -> None:
    table, rows = random_rows
    predicate, oracle = random_predicate(random.Random(seed), TYPES), Oracle(TYPES)
    wanted = [(r["k"], r["d"], r["n"]) for r in rows if oracle.truth(predicate, r)]
    found = table.scan(["k", "d", "n"], predicate).to_arrow().to_pylist()
    assert sorted(tuple(each.values()) for each in found) == sorted(wanted)
    assert table.scan([], predicate).to_arrow().num_rows == len(wanted)


def rooms(path: Path, partitions: int = 20, rows: int = 5) -> ArrowTable:
    """A table with one RowSet for each device; device i is in room i % 10, the last one in none."""
    schema = pa.schema([("device", pa.int64()), ("n", pa.int32()), ("room", pa.string())])
    table = colonnade.create(path, schema, primary_key=["device", "n"], static=["room"])
    for device in range(partitions):
        columns = [np.full(rows, device), np.arange(rows, dtype=np.int32)]
        own = pa.table(columns, names=["device", "n"])
        last = device == partitions - 1
        table.append(
            own if last else own.append_column("room", pa.array([f"r{device % 10}"] * rows))
        )
    return table


def opened(table: ArrowTable, where: str, **options: Any) -> set[int]:
    """The devices whose RowSets a scan reads."""
    scan = table.scan(where=where, **options)
    return {int(each.rowset.id) for each in scan._plan.rowsets}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "read"),
    [
        ("room = 'r3'", {3, 13}),
        ("room IN ('r3', 'r4') AND n < 2", {3, 4, 13, 14}),
        ("room = 'r3' AND device > 5", {13}),
        ("room = 'r3' AND device = 4", set()),
        ("room = 'nowhere'", set()),
        ("room > 'r6' AND NOT (room = 'r8')", {7, 9, 17}),
        ("room = 'r3' OR device = 4", {*range(20)}),
        ("room IS NULL", {*range(20)}),
        ("room IS NOT NULL", {*range(19)}),
    ],
)
def test_only_rowsets_of_partitions_whose_values_allow_it_are_read(
    tmp_path: Path, where: str, read: set[int]
) -> None:
    table = rooms(tmp_path / "t")
    assert opened(table, where) == read
    transaction = colonnade.open_database(tmp_path / "t").transaction()
    plan = transaction.table("t").scan(where=where)._plan
    assert {int(each.rowset.id) for each in plan.rowsets} == read


@pytest.mark.slow
def test_an_earlier_epoch_is_read_by_its_own_values_and_names(tmp_path: Path) -> None:
    table = rooms(tmp_path / "t")
    before = table.refresh().epoch
    table.update({"room": "'r3'"}, "device = 4")
    table.alter(RenameColumn("room", "place"))
    assert opened(table, "place = 'r3'") == {3, 4, 13}
    assert opened(table, "room = 'r3'", epoch=before) == {3, 13}
    assert opened(table, "place = 'r3'", epoch=before, schema_epoch=before + 2) == {3, 13}


@pytest.mark.slow
def test_statements_find_their_rows_by_partition(tmp_path: Path) -> None:
    table = rooms(tmp_path / "t")
    assert table.update({"room": "'r99'"}, "room = 'r5' AND device < 10").rows_updated == 5
    assert table.delete("room = 'r6' AND n >= 2").rows_deleted == 6
    assert table.delete("room = 'r99'").rows_deleted == 5
    left = table.scan(["device", "n"]).to_arrow().to_pylist()
    assert sorted((r["device"], r["n"]) for r in left) == [
        (d, n) for d in range(20) for n in range(5) if d != 5 and (d % 10 != 6 or n < 2)
    ]


@pytest.mark.slow
def test_many_partitions_become_a_range_of_keys(tmp_path: Path) -> None:
    schema = pa.schema([("device", pa.int64()), ("n", pa.int32()), ("room", pa.string())])
    table = colonnade.create(tmp_path / "t", schema, primary_key=["device", "n"], static=["room"])
    devices = np.arange(100_000)
    rooms = np.where(devices % 7 == 0, "a", "b").astype(object)
    rooms[40_000:40_300] = "c"
    columns = [devices, np.zeros(len(devices), np.int32), rooms]
    table.append(pa.table(columns, schema=schema))
    scan = table.scan(where="room = 'c'")
    assert "40299" in str(scan._plan.predicate)
    assert sorted(scan.to_arrow()["device"].to_pylist()) == [*range(40_000, 40_300)]
    assert table.scan(where="room = 'a'").to_arrow().num_rows == sum(
        d % 7 == 0 for d in range(100_000) if not 40_000 <= d < 40_300
    )


@pytest.mark.slow
def test_values_that_are_large_are_not_read_for_a_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = rooms(tmp_path / "t")
    monkeypatch.setattr(static_filters, "_MOST_BYTES", 100)
    where = parse_predicate("room = 'r3'")
    assert by_partitions(table._log, table._state, where) is where
    assert table.scan(where="room = 'r3'").to_arrow().num_rows == 10
