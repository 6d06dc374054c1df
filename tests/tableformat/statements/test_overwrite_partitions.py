"""A dynamic overwrite replaces the partitions of its rows, and no other ones."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colonnade
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.log.log import Log
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows
from tests.tableformat.partition.tables import LAYOUTS, SCHEMA, content, in_memory, rows


def partitions(table: ArrowTable) -> list[Any]:
    log = Log(table._log.store)
    return [r.entry.partition for r in log.rowsets.read(log.reader.read_head().table(table.name))]


@pytest.mark.slow
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
    location, base = locate_existing(table.path), table._snapshot
    job = plan_write(location, base, "overwrite_partitions")
    tasks = [one(2, "a"), one(3, "c"), one(4, "a")]
    entries = [e for task in tasks for e in write_rows(job, task.to_batches())]
    log = Log(location.store)
    assert {commit_written(job, entries, log, each).epoch for each in (base, None)} == {5}
    nothing = plan_write(location, log.reader.read_head(), "overwrite_partitions")
    assert commit_written(nothing, (), log).epoch == 5
    found = colonnade.open(table.path).scan(["id", "region"]).to_arrow().to_pylist()
    assert sorted((r["region"], r["id"]) for r in found) == [
        ("a", 2),
        ("a", 4),
        ("b", 1),
        ("c", 3),
    ]
