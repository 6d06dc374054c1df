"""A partitioned table has the rows of one that is not, and reads fewer RowSets."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colonnade
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.alteration import DropColumn, RenameColumn
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write.job import plan_write, write_rows

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("region", pa.string()),
        ("ts", pa.timestamp("us", "UTC")),
        ("price", pa.decimal128(20, 2)),
    ]
)
LAYOUTS = (
    ("region",),
    ("days(ts)", "bucket(4, id)"),
    ("bucket(3, region)", "truncate(10, id)"),
    ("hours(ts)",),
    ("bucket(2, price)", "bucket(5, ts)", "truncate(1, region)"),
    ("months(ts)", "id"),
)
CONDITIONS = (
    "id = 3",
    "id IN (1, 2, 77)",
    "id IS NULL",
    "id IS NOT NULL AND region = 'b'",
    "NOT (id = 3)",
    "id <=> NULL OR id = 5",
    "region = 'é' OR id = 4",
    "region IN ('a', 'nothing')",
    "region LIKE 'b%'",
    "price = 1.50 AND id > 3",
    "price IN (1.5, 2.25, NULL)",
    "id NOT IN (1, 2)",
    "ts >= '2026-01-01T12:00:00Z' AND ts < '2026-01-02T00:00:00Z'",
    "ts = '2026-01-01T00:00:00Z'",
    "id = 3.5",
    "id = 99999999999999999999",
)
START = datetime.fromisoformat("2025-12-31T00:00:00+00:00")


def rows(order: random.Random, count: int) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "id": order.choice((None, *range(-3, 9))),
                "region": order.choice((None, "", "a", "b", "bc", "é")),
                "ts": order.choice((None, START + timedelta(hours=order.randint(0, 60)))),
                "price": order.choice((None, 0, 1, 2)),
            }
            for _ in range(count)
        ],
        SCHEMA,
    )


def in_memory(partition_by: tuple[str, ...] = (), sort_key: tuple[str, ...] = ()) -> ArrowTable:
    store = MemoryStore()
    log = Log(store, checkpoint_interval=3)
    database = ArrowDatabase(store, log, create_database(store, lone_table=False))
    return database.create_table("t", SCHEMA, partition_by=partition_by, sort_key=sort_key)


def content(table: ArrowTable, where: str | None = None) -> list[str]:
    return sorted(map(str, table.scan(where=where).to_arrow().to_pylist()))


def partitions(table: ArrowTable) -> list[Any]:
    log = Log(table._log.store)
    return [r.entry.partition for r in log.read_rowsets(log.read_head().table(table.name))]


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(LAYOUTS), st.sampled_from((*LAYOUTS, ())))
def test_any_predicate_gives_the_rows_that_an_unpartitioned_table_gives(
    seed: int, first: tuple[str, ...], then: tuple[str, ...]
) -> None:
    order = random.Random(seed)
    table, plain = in_memory(first), in_memory()
    for step in range(4):
        new = rows(order, order.randint(1, 40))
        table.append(new)
        plain.append(new)
        if step == 2:
            table.partition_by(*then)
            assert table.partitioning == then
    for where in CONDITIONS:
        assert content(table, where) == content(plain, where), where


def test_a_bucket_rules_out_rowsets_of_other_buckets() -> None:
    table = in_memory(("bucket(16, id)",))
    table.append(pa.Table.from_pylist([{"id": key} for key in range(400)], SCHEMA))
    for where, most in (("id = 7", 1), ("id IN (7, 8)", 2), ("id = 7 AND id = 8", 0)):
        assert len(table.scan(where=where).plan.rowsets) == most
    assert len(table.scan(where="id > 7").plan.rowsets) == 16


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(LAYOUTS), st.sampled_from((*LAYOUTS, ())))
def test_a_dynamic_overwrite_replaces_only_the_partitions_of_its_rows(
    seed: int, first: tuple[str, ...], then: tuple[str, ...]
) -> None:
    order = random.Random(seed)
    table = in_memory(first)
    table.append(rows(order, 30))
    table.delete("id = 2")
    if order.random() < 0.5:
        table.partition_by(*then)
    table.append(rows(order, 10))
    new = rows(order, order.randint(0, 4))
    before = table.scan().to_arrow()
    # Which partition a row is of, says a table of one RowSet a row.
    layout = table.partitioning
    wanted = set(key_of(layout, new))
    keys = key_of(layout, before)
    kept = [r for r, k in zip(before.to_pylist(), keys, strict=True) if k not in wanted]
    table.overwrite_partitions(new)
    assert content(table) == sorted(map(str, [*kept, *new.to_pylist()]))


def key_of(layout: tuple[str, ...], data: pa.Table) -> list[Any]:
    probe = in_memory(layout)
    for row in data.to_pylist():
        probe.append(pa.Table.from_pylist([row], SCHEMA))
    return partitions(probe)


def test_an_append_into_a_replaced_partition_conflicts_and_another_does_not(
    tmp_path: Path,
) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, partition_by=["region"])
    for region in ("a", "b"):
        table.append(one(1, region))
    mine, other = colonnade.open(table.path), colonnade.open(table.path)
    other.append(one(2, "b"))
    mine.overwrite_partitions(one(3, "a"))
    late = colonnade.open(table.path)
    other.append(one(4, "a"))
    with pytest.raises(ConflictError, match="that the statement overwrites changed"):
        late.overwrite_partitions(one(5, "a"))
    other.refresh()
    assert sorted(other.scan(["id"]).to_arrow()["id"].to_pylist()) == [1, 2, 3, 4]
    assert other.history(1)[0].operation == "append"
    assert other.history(2)[1].operation == "overwrite_partitions"


def one(key: int, region: str) -> pa.Table:
    return pa.table({"id": [key], "region": [region], "ts": [None], "price": [None]}, SCHEMA)


def test_a_job_of_several_tasks_replaces_partitions_once(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, partition_by=["region"])
    for region in ("a", "b", "c"):
        table.append(one(1, region))
    location, base = locate_existing(table.path), table.snapshot
    job = plan_write(location, base, "overwrite_partitions")
    tasks = [one(2, "a"), one(3, "c"), one(4, "a")]
    entries = [e for task in tasks for e in write_rows(job, task.to_batches())]
    log = Log(location.store)
    assert {commit_written(job, entries, log, each).epoch for each in (base, None)} == {5}
    nothing = plan_write(location, log.read_head(), "overwrite_partitions")
    assert commit_written(nothing, (), log).epoch == 5
    found = colonnade.open(table.path).scan(["id", "region"]).to_arrow().to_pylist()
    assert sorted((r["region"], r["id"]) for r in found) == [
        ("a", 2),
        ("a", 4),
        ("b", 1),
        ("c", 3),
    ]


def test_a_column_of_the_layout_cannot_be_dropped_before_the_layout_is_replaced(
    tmp_path: Path,
) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, partition_by=["days(ts)", "region"])
    table.append(rows(random.Random(1), 20))
    epoch, before = table.epoch, content(table)
    with pytest.raises(InvalidInputError, match="'ts' cannot be dropped: the table is partitioned"):
        table.alter(DropColumn(("ts",)))
    table.alter(RenameColumn(("region",), "Land"))
    assert table.partitioning == ("days(ts)", "Land")
    table.partition_by("Land")
    table.alter(DropColumn(("ts",)))
    table.append(rows(random.Random(2), 3).rename_columns(["id", "Land", "ts", "price"]).drop("ts"))
    assert len(table.scan(where="Land = 'a' AND id IS NOT NULL").to_arrow().columns) == 3
    table.restore(epoch=epoch)
    assert table.partitioning == ("days(ts)", "region")
    assert content(table) == before


def test_the_columns_of_a_layout_are_indexed_wherever_they_stand(tmp_path: Path) -> None:
    schema = pa.schema([(f"c{i}", pa.int64()) for i in range(40)])
    table = colonnade.create(tmp_path / "t", schema, partition_by=["truncate(10, c39)"])
    table.append(pa.table({f"c{i}": range(100) for i in range(40)}, schema))
    assert len(table.scan(where="c39 = 55").plan.rowsets) == 1
