"""Rows that merge by their keys: the planner knows which columns the user gave, or refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import AddConstraint, AlterProperties, ArrowTable
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.spark_ext.planner.read.load import load
from colonnade.spark_ext.planner.write.merging import columns_of_append, merge_by_key
from colonnade.spark_ext.planner.write.writes import commit_write, plan_write
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.run import write_rows
from tests.task_reports import rows_report

COLUMNS = pa.schema([("id", pa.int64()), pa.field("v", pa.string(), nullable=False)])
MERGE = {"onDuplicate": "merge"}


def make(path: Path, **properties: str) -> ArrowTable:
    table = colonnade.create(path, COLUMNS, primary_key=["id"], properties=properties)
    table.append(pa.table([[1, 2], ["a", "b"]], COLUMNS))
    return table


def ask(path: str, names: list[str], **options: str) -> dict[str, Any]:
    loaded = load({"path": path, "options": {}})
    args = {"path": path, "view": loaded["view"], "names": names, "options": options}
    return columns_of_append(args)


def plan(path: str, given: Any, **options: str) -> WriteJob:
    return WriteJob.model_validate_json(planned(path, given, {}, **options)["job"])


def planned(path: str, given: Any, new: dict[str, str], **options: str) -> dict[str, Any]:
    """The plan of a write that brings `new` columns."""
    loaded = load({"path": path, "options": {}})
    fields = json.loads(loaded["columns"])["fields"]
    for name, kind in new.items():
        fields.append({"name": name, "type": kind, "nullable": True, "metadata": {}})
    columns = json.dumps({"type": "struct", "fields": fields})
    evolving = {"columns": columns, "by_name": True} if new else None
    seen = {**loaded["view"], "evolving": evolving}
    args = {
        "path": path,
        "columns": columns,
        "options": options,
        "view": seen,
        "user_columns": given,
    }
    return plan_write(args)


def test_columns_that_were_not_given_may_be_null_until_rows_merge(tmp_path: Path) -> None:
    path = make(tmp_path / "t").path
    found = ask(path, ["ID"], **MERGE)
    assert found["user_columns"] == {"columns": ["ID"], "checked": True, "keys": None}
    fields = json.loads(found["columns"])["fields"]
    assert [(each["name"], each["nullable"]) for each in fields] == [("id", False), ("v", True)]
    job = plan(path, found["user_columns"], **MERGE)
    assert job.incoming_columns == (1,)
    assert [each.nullable for each in job.target.table_schema.fields] == [False, True]
    assert job.settings.on_duplicate == "merge"


@pytest.mark.parametrize(
    ("properties", "options", "merged"),
    [
        ({}, {}, False),
        ({}, {"onDuplicate": "ignore"}, False),
        ({"onDuplicate": "merge"}, {}, True),
        ({"onDuplicate": "merge"}, {"onDuplicate": "error"}, False),
    ],
)
def test_the_option_goes_before_the_property(
    tmp_path: Path, properties: dict[str, str], options: dict[str, str], merged: bool
) -> None:
    path = make(tmp_path / "t", **properties).path
    assert (ask(path, ["id"], **options)["user_columns"] is not None) == merged
    unknown = {"columns": None}
    if merged:
        with pytest.raises(InvalidInputError, match="cannot tell which columns"):
            plan(path, unknown, **options)
    else:
        assert plan(path, unknown, **options).incoming_columns is None
    assert plan(path, None, **options).incoming_columns is None


def test_spark_checks_constraints_only_where_rows_are_whole(tmp_path: Path) -> None:
    table = make(tmp_path / "t")
    table.alter(AddConstraint("early", "v < 'm'"))
    assert ask(table.path, ["id", "v"], **MERGE)["user_columns"]["checked"]
    assert not ask(table.path, ["id"], **MERGE)["user_columns"]["checked"]


def test_a_statement_is_refused_that_was_analyzed_for_another_way_to_merge(tmp_path: Path) -> None:
    table = make(tmp_path / "t", onDuplicate="merge")
    table.alter(AddConstraint("early", "v < 'm'"))
    found = ask(table.path, ["id", "v"])
    table.alter(AlterProperties({"merge.v": "concat"}))
    with pytest.raises(ConflictError, match="merges rows by their keys in another way"):
        plan(table.path, found["user_columns"])
    table.alter(AlterProperties({"onDuplicate": "ignore"}))
    with pytest.raises(ConflictError, match="the statement with the columns id, v"):
        plan(table.path, found["user_columns"])


def test_a_choice_for_a_table_without_a_key_is_refused(tmp_path: Path) -> None:
    path = colonnade.create(tmp_path / "t", COLUMNS).path
    with pytest.raises(InvalidInputError, match="no primary key, by which onDuplicate"):
        plan(path, None, **MERGE)


@pytest.mark.parametrize("beside", [False, True])
def test_rows_that_bring_a_column_meet_the_state_before_their_slot(
    tmp_path: Path, beside: bool
) -> None:
    table = make(tmp_path / "t")
    given = {"columns": ["id", "more"], "checked": True}
    plan = planned(table.path, given, {"more": "long"}, **MERGE)
    job = WriteJob.model_validate_json(plan["job"])
    entries = write_rows(job, pa.table({"id": [2], "more": [5]}).to_batches())
    if beside:
        table.update({"v": "'new'"}, "id = 2")
    names = {name: plan[name] for name in ("job", "database")}
    commit_write({**names, "messages": [rows_report(entries)]})
    table.refresh()
    assert table.get(2) == {"id": 2, "v": "new" if beside else "b", "more": 5}
    assert table.get(1) == {"id": 1, "v": "a", "more": None}


def ask_merge(path: str, names: list[str], **more: Any) -> Any:
    loaded = load({"path": path, "options": {}})
    seen = {**loaded["view"], "evolving": more.pop("evolving", None)}
    args = {"path": path, "view": seen, "names": names, "options": {}, "keys": ["id"]}
    return merge_by_key({**args, "bytes": 1, "most": None, **more})["user_columns"]


def test_a_merge_by_the_key_states_its_columns(tmp_path: Path) -> None:
    path = make(tmp_path / "t").path
    given = ask_merge(path, ["id", "v"])
    assert given == {"columns": ["id", "v"], "checked": False, "keys": ["id"]}
    job = plan(path, given)
    assert (job.is_merge, job.incoming_columns, job.parameters) == (True, (1, 2), {})


@pytest.mark.parametrize(
    "more",
    [
        {"bytes": 65 << 20},
        {"bytes": 9, "most": "8"},
        {"names": ["id"], "bytes": 9 << 20},
        {"keys": ["v"]},
        {"keys": ["id", "v"]},
        {"options": {"ttl": "1h"}},
        {"evolving": {"columns": "", "by_name": True}},
    ],
)
def test_a_merge_that_is_large_or_means_something_else_joins(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    assert ask_merge(make(tmp_path / "t").path, **{"names": ["id", "v"], **more}) is None


def test_a_merge_joins_where_rows_expire(tmp_path: Path) -> None:
    stamped = pa.schema([("id", pa.int64()), ("at", pa.timestamp("us", "UTC"))])
    lasting = colonnade.create(
        tmp_path / "l", stamped, primary_key=["id"], properties={"ttl.expires": "at"}
    )
    assert ask_merge(lasting.path, ["id", "at"]) is None


def test_a_merge_by_the_key_is_refused_where_the_table_has_changed_since(tmp_path: Path) -> None:
    table = make(tmp_path / "t")
    given = ask_merge(table.path, ["id", "v"])
    table.alter(AlterProperties(set={"merge.v": "concat:,"}))
    with pytest.raises(ConflictError, match="in another way than when"):
        plan(table.path, given)
