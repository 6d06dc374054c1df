"""Tasks in the order of the sort key: what they read, and that their rows really have the order."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colonnade
from colonnade import ArrowTable, SetSortKey
from colonnade.manifests.store import open_store
from colonnade.spark_ext.planner.read import in_order, reads, task_split
from colonnade.spark_ext.planner.read.load import load
from colonnade.tableformat.scan.plan import ScanPlan
from colonnade.tableformat.scan.run import read_plan

SCHEMA = pa.schema([("k", pa.int64()), ("b", pa.int64()), ("v", pa.string())])


def planned(path: Path, *columns: str, **asked: Any) -> dict[str, Any]:
    loaded = load({"path": str(path), "options": {}})
    defaults: dict[str, Any] = {"filters": [], "in_order": True, "parallelism": 2}
    wanted = columns or ("k", "b", "v")
    return reads.scan({"view": loaded["view"], **defaults, "columns": wanted, **asked})


def tasks(found: dict[str, Any]) -> list[ScanPlan]:
    return [ScanPlan.from_json(json.dumps(json.loads(task)["plan"])) for task in found["tasks"]]


def rows(path: Path, plan: ScanPlan) -> list[dict[str, Any]]:
    return [row for batch in read_plan(open_store(str(path)), plan) for row in batch.to_pylist()]


def table_of(path: Path, parts: list[list[int]], **design: Any) -> ArrowTable:
    table = colonnade.create(path, SCHEMA, **{"sort_key": ["k"], **design})
    for part in parts:
        data = {"k": part, "b": [abs(k) % 3 for k in part], "v": [f"v{k}" for k in part]}
        table.append(pa.table(data, SCHEMA))
    return table


def test_rowsets_that_follow_one_another_are_read_in_turn_and_others_are_merged(
    tmp_path: Path,
) -> None:
    table_of(tmp_path / "t", [[20, 25], [0, 9], [10, 12], [24, 30], [9, 10]])
    found = planned(tmp_path / "t")
    assert found["ordered_by"] == [{"column": "k", "descending": False}]
    assert (found["in_order"], found["merges"]) == (True, True)
    read = [[each.rowset.id for each in plan.rowsets] for plan in tasks(found)]
    assert read == [[1, 2, 4], [0, 3]]
    assert [row["k"] for plan in tasks(found) for row in rows(tmp_path / "t", plan)] == [
        *(0, 9, 9, 10, 10, 12, 20, 24, 25, 30)
    ]
    apart = planned(
        tmp_path / "t",
        filters=[{"op": ">", "args": [{"column": ["k"]}, {"type": "bigint", "value": "12"}]}],
    )
    assert [[each.rowset.id for each in plan.rowsets] for plan in tasks(apart)] == [[0, 3]]


def test_rowsets_that_do_not_overlap_are_not_merged(tmp_path: Path) -> None:
    table_of(tmp_path / "t", [[20, 25], [0, 9], [10, 12]])
    found = planned(tmp_path / "t")
    [plan] = tasks(found)
    assert (found["in_order"], found["merges"], plan.order) == (True, False, None)
    assert [row["k"] for row in rows(tmp_path / "t", plan)] == [0, 9, 10, 12, 20, 25]


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.lists(
        st.lists(st.none() | st.integers(-9, 9), min_size=1, max_size=6), min_size=1, max_size=6
    ),
    st.sampled_from([["k"], ["k desc"], ["k desc", "v"], ["b", "k"]]),
    st.sampled_from([(), ("bucket(3, k)",), ("b",)]),
    st.integers(1, 4),
)
def test_the_rows_of_every_task_are_in_the_order_that_is_reported(
    tmp_path_factory: pytest.TempPathFactory,
    parts: list[list[int | None]],
    key: list[str],
    layout: tuple[str, ...],
    parallelism: int,
) -> None:
    path = tmp_path_factory.mktemp("db") / "t"
    table = colonnade.create(path, SCHEMA, sort_key=key, partition_by=layout)
    for part in parts:
        data = {"k": part, "b": [(k or 0) % 3 for k in part], "v": [f"v{k}" for k in part]}
        table.append(pa.table(data, SCHEMA))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(task_split, "MIN_TASK_BYTES", 1)
        columns = random.Random(len(parts)).choice([("k", "b", "v"), ("v", "k"), ("b", "v")])
        found = planned(path, *columns, parallelism=parallelism, grouped=True)
    every = []
    for plan in tasks(found):
        read = rows(path, plan)
        every += read
        for field in reversed(found["ordered_by"]):
            name, descending = field["column"], field["descending"]
            read = sorted(
                read, key=lambda row: (row[name] is not None, row[name] or 0), reverse=descending
            )
        assert [[row[f["column"]] for f in found["ordered_by"]] for row in read] == [
            [row[f["column"]] for f in found["ordered_by"]] for row in rows(path, plan)
        ]
    whole = table.scan(columns).to_arrow().to_pylist()
    assert sorted(map(repr, every)) == sorted(map(repr, whole))
    first = key[0].removesuffix(" desc")
    assert bool(found["ordered_by"]) == found["in_order"] == (first in columns)
    if found["in_order"] and found["partitioning"]:
        assert len({tuple(each or ()) for each in found["partitions"]}) == len(found["tasks"])


def test_too_many_rowsets_that_overlap_and_another_sort_key_claim_no_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_of(tmp_path / "t", [[0, 9], [1, 8], [2, 7]])
    monkeypatch.setattr(in_order, "MOST_MERGED", 2)
    found = planned(tmp_path / "t")
    assert (found["in_order"], found["merges"], found["ordered_by"]) == (False, False, [])
    table.alter(SetSortKey(("v",)))
    monkeypatch.undo()
    assert planned(tmp_path / "t")["ordered_by"] == []
    assert planned(tmp_path / "t", "k")["in_order"] is False
