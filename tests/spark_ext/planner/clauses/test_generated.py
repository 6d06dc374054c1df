"""Spark knows the generated columns, and the planner refuses rows without their values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import IdentityColumn, InvalidInputError
from colonnade.spark_ext.planner.catalog.evolution import columns_for_rows
from colonnade.spark_ext.planner.read.load import load
from colonnade.spark_ext.planner.write.writes import commit_write, plan_write

COLUMNS = pa.schema({"n": pa.int32(), "twice": pa.int64()})
SAID = {"column": "twice", "sql": "n * 2", "reads": ["n"], "time_zone": "UTC"}


@pytest.fixture
def table(tmp_path: Path) -> colonnade.ArrowTable:
    return colonnade.create(str(tmp_path / "t"), COLUMNS, generated={"twice": "n * 2"})


def plan(table: colonnade.ArrowTable, **more: Any) -> dict[str, Any]:
    read = load({"path": table.path, "options": {}})
    seen = {**read["view"], "evolving": more.pop("evolving", None)}
    args = {"path": table.path, "columns": read["columns"], "options": {}, "view": seen}
    return plan_write({**args, **more})


def test_spark_is_told_the_generated_columns(table: colonnade.ArrowTable) -> None:
    assert load({"path": table.path, "options": {}})["generated"] == [SAID]


def test_rows_in_which_spark_computes_no_generated_columns_are_refused(
    table: colonnade.ArrowTable,
) -> None:
    refused: list[dict[str, Any]] = [{}, {"filled": []}, {"filled": ["n"]}, {"overwrite": True}]
    for more in refused:
        with pytest.raises(InvalidInputError, match="'twice', which this statement of Spark does"):
            plan(table, **more)
    assert plan(table, filled=["twice"])["job"]
    assert plan(table, filled=None, overwrite=True)["job"]


def test_an_overwrite_of_the_columns_keeps_no_expression_by_surprise(
    table: colonnade.ArrowTable,
) -> None:
    options = {"overwriteSchema": "true"}
    with pytest.raises(InvalidInputError, match="generated column 'twice'.* drop it first"):
        plan(table, options=options, overwrite=True, filled=["twice"])


def test_an_overwrite_of_the_columns_ends_no_identity_by_surprise(tmp_path: Path) -> None:
    table = colonnade.create(f"{tmp_path}/t", COLUMNS, identity={"twice": IdentityColumn()})
    with pytest.raises(InvalidInputError, match="identity column 'twice'.* drop it first"):
        plan(table, options={"overwriteSchema": "true"}, overwrite=True)


def test_a_statement_makes_a_table_with_generated_columns(tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in (("n", "integer"), ("twice", "long"))
    ]
    schema = json.dumps({"type": "struct", "fields": fields})
    said = {**SAID, "time_zone": "Asia/Tokyo"}
    design = {"columns": schema, "layout": {}, "generated": [said], "properties": {}}
    args = {"path": path, "columns": schema, "options": {}}
    job = json.loads(plan_write({**args, "design": design, "filled": None})["job"])
    made = [each.get("generated") for each in job["create"]["table_schema"]["fields"]]
    places = [{"offset": 0, "length": 1, "field": 1}]
    stated = {"sql": "n * 2", "columns": [1], "references": places}
    assert made == [None, {**stated, "time_zone": "Asia/Tokyo"}]


def test_a_statement_may_add_columns_but_not_widen_one_that_an_expression_reads(
    table: colonnade.ArrowTable,
) -> None:
    place = {"after": None, "first": False, "comment": None, "nullable": True}
    added = {"kind": "add_column", "column": ["new"], "type": '"integer"', **place}
    schema = brought(table, added)
    planned = plan(table, columns=schema, filled=["twice"], evolving=asking(added))
    commit_write({"job": planned["job"], "database": planned["database"], "messages": []})
    wider = {"kind": "widen_column", "column": ["n"], "type": '"long"'}
    with pytest.raises(InvalidInputError, match="'n' cannot be .*'twice'"):
        brought(table, wider)
    with pytest.raises(InvalidInputError, match="'n' cannot be .*'twice'"):
        plan(table, columns=schema, filled=["twice"], evolving=asking(wider))
    table.refresh()
    assert table._state.schema.names == ("n", "twice", "new")


def asking(change: dict[str, Any]) -> dict[str, Any]:
    return {"changes": [change], "exact": False}


def brought(table: colonnade.ArrowTable, change: dict[str, Any]) -> str:
    """Return the Spark schema of a table with what a statement asks for."""
    args = {"path": table.path, "options": {}}
    rows = {**args, "view": load(args)["view"], "rows": asking(change)}
    schema: str = columns_for_rows(rows)["columns"]
    return schema
