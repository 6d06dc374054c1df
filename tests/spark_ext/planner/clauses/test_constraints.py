"""The planner refuses a write that Spark planned before the table got a constraint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import AddConstraint, ConflictError, DropConstraint, SchemaField, TableSchema
from colonnade.spark_ext.planner.catalog.databases import alter_table
from colonnade.spark_ext.planner.clauses.constraints import require_checked
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.spark_ext.planner.read.load import load
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.write.writes import commit_write, plan_write
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.run import write_rows
from tests.task_reports import rows_report

SCHEMA = TableSchema(
    fields=(SchemaField(name="id", type="long"), SchemaField(name="name", type="string"))
)


@pytest.fixture
def table(tmp_path: Path) -> colonnade.ArrowTable:
    return colonnade.create(f"{tmp_path}/t", SCHEMA, constraints={"first": "id > 0"})


def seen(table: colonnade.ArrowTable) -> NamedView:
    return NamedView.model_validate(load({"path": table.path, "options": {}})["view"])


def plan(table: colonnade.ArrowTable) -> dict[str, Any]:
    read = load({"path": table.path, "options": {}})
    args = {"path": table.path, "columns": read["columns"], "options": {}}
    return plan_write({**args, "view": read["view"]})


def test_spark_is_told_the_constraints(table: colonnade.ArrowTable) -> None:
    loaded = load({"path": table.path, "options": {}})
    assert loaded["constraints"] == [{"name": "first", "condition": "id > 0", "columns": []}]


def test_rows_that_were_planned_before_a_constraint_are_not_committed(
    table: colonnade.ArrowTable,
) -> None:
    planned = plan(table)
    job = WriteJob.model_validate_json(planned["job"])
    entries = write_rows(job, [pa.record_batch({"id": [10], "name": ["x"]})], table._log.store)
    table.alter(AddConstraint("second", "id < 9"))
    names = {name: planned[name] for name in ("job", "database")}
    with pytest.raises(ConflictError, match="got the constraint 'second' after epoch 1"):
        commit_write({**names, "messages": [rows_report(entries)]})


def test_a_write_on_the_newest_state_needs_rows_that_spark_checked_against_its_constraints(
    table: colonnade.ArrowTable,
) -> None:
    read = seen(table)
    table.alter(AddConstraint("second", "id < 9"))
    location, head = SNAPSHOTS.head(place(table.path))
    with pytest.raises(ConflictError, match="'t' got the constraint 'second' after .* epoch 1"):
        require_checked(location, head, read)
    require_checked(location, head, seen(table))
    table.alter(DropConstraint("second"), DropConstraint("first"))
    require_checked(*SNAPSHOTS.head(place(table.path)), read)


def added(table: colonnade.ArrowTable, condition: str, epoch: int) -> int:
    change: dict[str, Any] = {"kind": "add_constraint", "name": "new", "condition": condition}
    change |= {"columns": ["name"], "epoch": epoch}
    alter_table({"path": table.path, "changes": [change]})
    return colonnade.open(table.path).epoch


@pytest.mark.parametrize("condition", ["octet_length(name) < 5", "name LIKE 'x%'"])
def test_a_constraint_follows_the_rows_that_spark_has_checked(
    table: colonnade.ArrowTable, condition: str
) -> None:
    assert added(table, condition, 1) == 2
    assert table._refresh().table("t").constraints[1].columns == (2,)


def test_rows_that_spark_did_not_check_are_checked_here_or_refused(
    table: colonnade.ArrowTable,
) -> None:
    table.append(pa.table({"id": [1], "name": ["xy"]}))
    with pytest.raises(ConflictError):
        added(table, "octet_length(name) < 5", 1)
    with pytest.raises(colonnade.InvalidInputError, match="name = 'xy'"):
        added(table, "name LIKE 'y%'", 1)
    assert added(table, "name LIKE 'x%'", 1) == 3
