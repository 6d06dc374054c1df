"""Partition layouts between Java and the planner: created, changed, read by partition, replaced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import ColonnadeError
from colonnade.spark_ext.planner.procedures import by_name
from colonnade.spark_ext.planner.read import grouping, metadata, reads
from colonnade.spark_ext.planner.read.load import load
from colonnade.spark_ext.planner.write import writes
from colonnade.tableformat.scan.plan import plan_scan
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.run import write_rows
from tests.spark_ext.planner.catalog.test_databases import DESIGN, planned
from tests.task_reports import rows_report

BUCKET: dict[str, Any] = {"transform": "bucket", "column": ["id"], "argument": 4}
LAYOUT: list[dict[str, Any]] = [
    BUCKET,
    {"transform": "identity", "column": ["name"], "argument": None},
]
SCAN: dict[str, Any] = {
    "filters": [],
    "parallelism": 1,
    "grouped": True,
    "columns": ["id", "name"],
}


def write(path: Path, ids: list[int], name: str | None = "a", **changed: Any) -> dict[str, Any]:
    """Write rows as Spark does, one task; the plan of it."""
    plan = planned(path, **changed)
    rows = pa.table({"id": ids, "name": pa.array([name] * len(ids), pa.string())})
    job = WriteJob.model_validate_json(plan["job"])
    message = rows_report(write_rows(job, rows.to_batches()))
    writes.commit_write({"job": plan["job"], "database": plan["database"], "messages": [message]})
    return plan


def ids(path: Path) -> list[int]:
    return sorted(colonnade.open(path).scan().to_arrow()["id"].to_pylist())


def made(path: Path, layout: list[dict[str, Any]]) -> Path:
    write(path, [], design={**DESIGN, "layout": {**DESIGN["layout"], "partitioning": layout}})
    return path


def loaded(path: Path) -> dict[str, Any]:
    return load({"path": str(path), "options": {}})


def test_a_table_is_created_with_a_layout_which_writes_are_told(tmp_path: Path) -> None:
    path = made(tmp_path / "t", [{**BUCKET, "transform": "BUCKET"}, *LAYOUT[1:]])
    assert loaded(path)["partitioning"] == LAYOUT
    plan = write(path, [1, 2, 3])
    assert plan["partitioning"] == LAYOUT
    target = json.loads(plan["job"])["target"]
    assert target["partition_layout_id"] == 1
    assert [f["transform"] for f in target["partition_fields"]] == ["bucket", "identity"]


def test_tasks_of_a_scan_read_one_partition_each_where_all_have_the_layout(tmp_path: Path) -> None:
    path = made(tmp_path / "t", [BUCKET])
    for _ in range(2):
        write(path, list(range(50)))
    found = reads.scan({"view": loaded(path)["view"], **SCAN})
    assert found["partitioning"] == [BUCKET]
    assert sorted(found["partitions"]) == [["i:0"], ["i:1"], ["i:2"], ["i:3"]]
    for task, values in zip(found["tasks"], found["partitions"], strict=True):
        rowsets = json.loads(task)["plan"]["view"]["rowsets"]
        assert len(rowsets) == 2
        assert all(each["entry"]["partition"] == values for each in rowsets)
    colonnade.open(path).partition_by("bucket(4, id)", "name")
    mixed = reads.scan({"view": loaded(path)["view"], **SCAN})
    assert (mixed["partitioning"], mixed["partitions"]) == ([], [])
    assert loaded(path)["partitioning"] == LAYOUT


def test_partitions_are_replaced_by_the_statement_or_by_the_option(tmp_path: Path) -> None:
    path = made(tmp_path / "t", LAYOUT[1:])
    write(path, [1, 2], "a")
    write(path, [3], "b")
    write(path, [4], "a", overwrite=True, dynamic=True)
    assert ids(path) == [3, 4]
    write(path, [5], "b", overwrite=True, options={"partitionOverwriteMode": "Dynamic"})
    assert ids(path) == [4, 5]
    write(path, [], "b", overwrite=True, dynamic=True)
    write(
        path, [6], "c", overwrite=True, dynamic=True, options={"partitionOverwriteMode": "static"}
    )
    assert ids(path) == [6]
    write(path, [7], "c", overwrite=True, dynamic=True, design={**DESIGN, "replace": True})
    assert ids(path) == [7]
    assert loaded(path)["partitioning"] == []


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"options": {"partitionOverwriteMode": "dynamic"}}, "for writes of mode overwrite"),
        (
            {"overwrite": True, "options": {"partitionOverwriteMode": "often"}},
            "static or dynamic, not 'often'",
        ),
        ({"options": {"partitionBy": "id"}}, "partitioned differently"),
        (
            {
                "overwrite": True,
                "options": {"partitionOverwriteMode": "dynamic", "replaceWhere": "id = 1"},
            },
            "excludes partitionOverwriteMode dynamic",
        ),
    ],
)
def test_a_write_with_contradicting_partitions_is_refused(
    tmp_path: Path, changed: dict[str, Any], sentence: str
) -> None:
    path = made(tmp_path / "t", [BUCKET])
    with pytest.raises(ColonnadeError, match=sentence):
        planned(path, **changed)
    assert planned(path, options={"partitionBy": "bucket(4, id)"})["partitioning"] == [BUCKET]
    nested = [{"transform": "days", "column": ["a", "b"], "argument": None}]
    with pytest.raises(ColonnadeError, match="by whole columns, not by days of"):
        planned(tmp_path / "u", design={**DESIGN, "layout": {"partitioning": nested}})


def test_partitions_are_told_and_changed_by_a_procedure(tmp_path: Path) -> None:
    path = made(tmp_path / "t", LAYOUT)
    write(path, [1, 1, 1], None)
    call = {"name": "set_partitioning", "arguments": {"table": str(path), "fields": "name"}}
    assert by_name.call_procedure(call)["rows"] == [[3, 2]]
    write(path, [1], "x")
    found = metadata.metadata({"path": str(path), "name": "partitions"})["rows"]
    assert [row[:5] for row in found] == [
        ["bucket(4, id)=0, name=null", 1, 1, 3, 0],
        ["name=x", 2, 1, 1, 0],
    ]
    rowsets = metadata.metadata({"path": str(path), "name": "rowsets"})["rows"]
    assert [row[-2:] for row in rowsets] == [["bucket(4, id)=0, name=null", 1], ["name=x", 2]]
    call["arguments"] = {"table": str(path), "fields": ""}
    assert by_name.call_procedure(call)["rows"] == [[5, 0]]


@pytest.mark.slow
def test_a_read_is_divided_by_partition_only_where_that_is_fair(tmp_path: Path) -> None:
    def partition_count(fair: bool) -> int:
        return len(reads.scan({"view": loaded(path)["view"], **SCAN, "fair": fair})["partitions"])

    path = made(tmp_path / "t", [{"transform": "identity", "column": ["id"], "argument": None}])
    write(path, list(range(grouping.MANY_TASKS)))
    assert partition_count(fair=True) == grouping.MANY_TASKS
    write(path, [-1])
    assert partition_count(fair=True) == 0
    assert partition_count(fair=False) == grouping.MANY_TASKS + 1
    found = reads.list_partitions({"view": loaded(path)["view"]})["partitions"]
    assert sorted(found) == sorted([f"i:{at}"] for at in range(-1, grouping.MANY_TASKS))


def test_a_large_partition_is_not_read_by_one_task(tmp_path: Path) -> None:
    path = made(tmp_path / "t", [BUCKET])
    write(path, list(range(100)))
    table = colonnade.open(path)
    plan = plan_scan(metadata.present_view(table), table.epoch, ["id"])
    total, largest = plan.byte_count, max(rowset.byte_count for rowset in plan.rowsets)
    assert grouping.is_fair(plan, total, 1, largest)
    assert not grouping.is_fair(plan, total, 1, largest - 1)
    assert grouping.is_fair(plan, total // 2, 1, largest // 2)
    nothing = plan.of(())
    assert not grouping.is_fair(nothing, 0, 1, largest)
