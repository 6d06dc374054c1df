"""What tasks wrote is compared by the primary key, and statements of Spark describe a key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable, InvalidInputError
from colonnade.manifests.errors import ColonnadeError
from colonnade.spark_ext.options.write import parse_write_options
from colonnade.spark_ext.planner.catalog.alterations import alteration
from colonnade.spark_ext.planner.messages.changes import SetProperties
from colonnade.spark_ext.planner.messages.clauses import Design
from colonnade.spark_ext.planner.write.writes import commit_write, table_design
from colonnade.spark_ext.write_plan import plan_spark_write
from colonnade.tableformat.location import locate
from colonnade.tableformat.table.alteration import DropPrimaryKey, SetPrimaryKey
from colonnade.tableformat.table.design.properties import shown_properties
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.run import write_rows
from tests.task_reports import rows_report

COLUMNS = pa.schema([("id", pa.int64()), ("v", pa.string())])


def make(path: Path, **design: Any) -> ArrowTable:
    table = colonnade.create(path, COLUMNS, primary_key=["id"], **design)
    table.append(pa.table([[1, 2], ["a", "b"]], COLUMNS))
    return table


def plan(path: str, overwrite: bool = False, **options: str) -> WriteJob:
    chosen = parse_write_options({"path": path, **options})
    base = colonnade.open(path)._snapshot
    return plan_spark_write(locate(path), base, chosen, as_table_schema(COLUMNS), overwrite)


def commit(job: WriteJob, *tasks: dict[int, str]) -> dict[int, str]:
    """Commit the rows of several tasks; return the rows of the table."""
    messages = []
    for rows in tasks:
        table = pa.table([list(rows), list(rows.values())], COLUMNS)
        messages.append(rows_report(write_rows(job, table.to_batches())))
    commit_write({"job": job.model_dump_json(), "messages": messages, "database": None})
    found = colonnade.open(job.address.url).scan().to_arrow()
    assert len(set(found["id"].to_pylist())) == found.num_rows
    return dict(zip(found["id"].to_pylist(), found["v"].to_pylist(), strict=True))


def test_keys_of_several_tasks_are_compared_with_each_other_and_with_the_table(
    tmp_path: Path,
) -> None:
    table = make(tmp_path / "t")
    for tasks in ([{3: "c"}, {2: "x"}], [{3: "c"}, {3: "x"}]):
        with pytest.raises(ColonnadeError, match=r"primary key \(id\)"):
            commit(plan(table.path), *tasks)
    found = commit(plan(table.path, onDuplicate="ignore"), {3: "c", 1: "x"}, {3: "y", 4: "d"})
    assert found == {1: "a", 2: "b", 3: "c", 4: "d"}
    assert commit(plan(table.path, overwrite=True), {1: "z"}) == {1: "z"}


def test_a_job_that_was_planned_before_another_commit_is_compared_at_its_slot(
    tmp_path: Path,
) -> None:
    table = make(tmp_path / "t")
    late, other = plan(table.path), plan(table.path, onDuplicate="ignore")
    table.append(pa.table([[5], ["e"]], COLUMNS))
    with pytest.raises(ColonnadeError, match="id = 5"):
        commit(late, {5: "x"})
    assert commit(other, {5: "x", 6: "f"}) == {1: "a", 2: "b", 5: "e", 6: "f"}


def test_options_create_a_keyed_table_and_do_not_contradict_one(tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    options = parse_write_options({"path": path, "primaryKey": "id"})
    columns = as_table_schema(COLUMNS)
    job = plan_spark_write(locate(path), None, options, columns, False)
    commit(job, {1: "a"})
    assert colonnade.open(path).primary_key == ("id",)
    plan(path, primaryKey="ID")
    with pytest.raises(InvalidInputError, match="another primary key"):
        plan(path, primaryKey="v")
    with pytest.raises(InvalidInputError, match="error, ignore or merge"):
        plan(path, onDuplicate="sometimes")
    replaced = plan(path, overwrite=True, overwriteSchema="true")
    assert replaced.create is not None
    assert replaced.create.primary_key == (1,)


def test_statements_describe_a_key_as_a_property(tmp_path: Path) -> None:
    spark = {"type": "struct", "fields": []}
    field = {"name": "id", "type": "long", "nullable": True, "metadata": {}}
    args: dict[str, Any] = {
        "columns": json.dumps({**spark, "fields": [field]}),
        "layout": {},
        "properties": {"primaryKey": "id", "a": "b"},
    }
    design = table_design(Design.model_validate(args))
    assert (design.spec.primary_key, design.spec.properties) == (("id",), {"a": "b"})
    table = make(tmp_path / "t", properties={"onDuplicate": "ignore"})
    assert shown_properties(table._state) == {"onDuplicate": "ignore", "primaryKey": "id"}
    found = alteration(SetProperties(set={"primaryKey": "id, v"}, remove=()))
    assert isinstance(found, SetPrimaryKey)
    assert found.columns == ("id", "v")
    change = SetProperties(set={}, remove=("primaryKey",))
    assert isinstance(alteration(change), DropPrimaryKey)
