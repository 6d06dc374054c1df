"""Spark is told the generated columns, and a session that does not fill them is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import colonnade
from colonnade import InvalidInputError, SchemaField, TableSchema
from colonnade.spark_ext.planner.reads import load
from colonnade.spark_ext.planner.writes import plan_write

SCHEMA = TableSchema(
    fields=(SchemaField(name="n", type="int"), SchemaField(name="twice", type="long"))
)


@pytest.fixture
def table(tmp_path: Path) -> colonnade.ArrowTable:
    return colonnade.create(f"{tmp_path}/t", SCHEMA, generated={"twice": "n * 2"})


def plan(table: colonnade.ArrowTable, **more: Any) -> dict[str, Any]:
    read = load({"path": table.path, "options": {}})
    args = {"path": table.path, "schema": read["schema"], "options": {}, "overwrite": False}
    return plan_write({**args, "seen": read, "design": None, "where": None, **more})


def test_spark_is_told_the_generated_columns(table: colonnade.ArrowTable) -> None:
    assert load({"path": table.path, "options": {}})["generated"] == [
        {"column": "twice", "sql": "n * 2", "reads": ["n"], "time_zone": "UTC"}
    ]


def test_rows_of_a_session_that_fills_no_generated_columns_are_refused(
    table: colonnade.ArrowTable,
) -> None:
    for more in ({}, {"generated": False}):
        with pytest.raises(InvalidInputError, match="'twice', which this session of Spark does"):
            plan(table, **more)
    assert plan(table, generated=True)["job"]


def test_an_overwrite_of_the_columns_keeps_no_expression_by_surprise(
    table: colonnade.ArrowTable,
) -> None:
    options = {"overwriteSchema": "true"}
    with pytest.raises(InvalidInputError, match="generated column 'twice'.* drop it first"):
        plan(table, options=options, overwrite=True, generated=True)
