"""Spark reads tables whose columns only Python fills, and changes nothing of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import InvalidInputError
from colonnade.spark_ext.planner.evolution import evolve_table, merge_columns
from colonnade.spark_ext.planner.reads import load
from colonnade.spark_ext.planner.writes import plan_write

COLUMNS = pa.schema({"n": pa.int32(), "filled": pa.int64()})
KINDS: dict[str, dict[str, Any]] = {
    "generated": {"generated": {"filled": "n * 2"}},
}


@pytest.fixture(params=KINDS)
def table(tmp_path: Path, request: pytest.FixtureRequest) -> colonnade.ArrowTable:
    made = colonnade.create(str(tmp_path / "t"), COLUMNS, **KINDS[request.param])
    made.append(pa.table({"n": pa.array([1], pa.int32())}))
    return made


def plan(table: colonnade.ArrowTable, **more: Any) -> dict[str, Any]:
    read = load({"path": table.path, "options": {}})
    args = {"path": table.path, "schema": read["schema"], "options": {}, "overwrite": False}
    return plan_write({**args, "seen": read, "design": None, "where": None, **more})


def test_spark_reads_the_columns(table: colonnade.ArrowTable) -> None:
    schema = json.loads(load({"path": table.path, "options": {}})["schema"])
    assert [each["name"] for each in schema["fields"]] == ["n", "filled"]


def test_rows_of_spark_are_refused(table: colonnade.ArrowTable) -> None:
    for more in ({}, {"overwrite": True}):
        with pytest.raises(InvalidInputError, match="column 'filled', which Spark cannot fill"):
            plan(table, **more)


def test_no_column_is_added_for_rows_that_are_refused(table: colonnade.ArrowTable) -> None:
    before, read = table.epoch, load({"path": table.path, "options": {}})
    fields = json.loads(read["schema"])["fields"]
    new = {"name": "new", "type": "integer", "nullable": True, "metadata": {}}
    wider = json.dumps({"type": "struct", "fields": [*fields, new]})
    merged = {"path": table.path, "columns": wider, "by_name": True}
    place = {"after": None, "first": False, "comment": None, "nullable": True}
    added = {"kind": "add_column", "column": ["new"], "type": '"integer"', **place}
    with pytest.raises(InvalidInputError, match="write the table with colonnade.open"):
        merge_columns({**merged, "options": {"mergeSchema": "true"}})
    with pytest.raises(InvalidInputError, match="write the table with colonnade.open"):
        evolve_table({"path": table.path, "changes": [added], "exact": False})
    assert table.refresh().epoch == before


def test_an_overwrite_of_the_columns_keeps_no_expression_by_surprise(tmp_path: Path) -> None:
    table = colonnade.create(str(tmp_path / "t"), COLUMNS, generated={"filled": "n * 2"})
    with pytest.raises(InvalidInputError, match="generated column 'filled'.* drop it first"):
        plan(table, options={"overwriteSchema": "true"}, overwrite=True)


def test_an_overwrite_of_the_columns_ends_no_identity_by_surprise(tmp_path: Path) -> None:
    identity = {"filled": colonnade.IdentityColumn()}
    table = colonnade.create(str(tmp_path / "t"), COLUMNS, identity=identity)
    with pytest.raises(InvalidInputError, match="identity column 'filled'.* drop it first"):
        plan(table, options={"overwriteSchema": "true"}, overwrite=True)
