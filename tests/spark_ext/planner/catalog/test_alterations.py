"""Spark's changes of a table become the alterations that the statement means."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import ConflictError
from colonnade.spark_ext.planner.catalog.alterations import ALTERATIONS, alterations
from colonnade.spark_ext.planner.catalog.databases import alter_table
from colonnade.spark_ext.planner.messages.catalog import AlterTable
from colonnade.spark_ext.planner.messages.changes import Change
from colonnade.tableformat.table.alteration import AddColumn, DropColumn, ReplaceColumns


def added(name: str, kind: str = "integer") -> dict[str, Any]:
    place = {"after": None, "first": False, "comment": None, "nullable": True}
    return {"kind": "add_column", "column": [name], "type": f'"{kind}"', **place}


def dropped(*column: str) -> dict[str, Any]:
    return {"kind": "drop_column", "column": list(column), "if_exists": False}


@pytest.fixture
def path(tmp_path: Path) -> str:
    made = colonnade.create(tmp_path / "t", pa.schema({"a": pa.int32(), "b": pa.string()}))
    made.append(pa.table({"a": pa.array([1], pa.int32()), "b": ["x"]}))
    return str(tmp_path / "t")


def test_every_change_that_spark_asks_for_is_an_alteration() -> None:
    assert ALTERATIONS.keys() == set(get_args(get_args(Change)[0]))


def test_drops_of_all_columns_before_additions_replace_the_columns(path: str) -> None:
    changes = [dropped("a"), dropped("b"), added("c"), added("a", "long")]
    alter_table({"path": path, "changes": changes})
    table = colonnade.open(path)
    assert table.epoch == 3
    assert table.scan().to_arrow().to_pylist() == [{"c": None, "a": 1}]


def test_a_column_that_a_concurrent_writer_has_added_is_not_dropped_unseen(path: str) -> None:
    alter_table({"path": path, "changes": [added("late")]})
    with pytest.raises(ConflictError, match="'t' have changed since the statement was planned"):
        alter_table({"path": path, "changes": [dropped("a"), dropped("b"), added("a")]})
    assert colonnade.open(path).schema.names == ["a", "b", "late"]


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ([dropped("a"), dropped("b")], [DropColumn, DropColumn]),
        ([added("c"), added("d")], [AddColumn, AddColumn]),
        ([added("c"), dropped("a")], [AddColumn, DropColumn]),
        ([dropped("s", "a"), added("c")], [DropColumn, AddColumn]),
        ([dropped("a"), added("a")], [ReplaceColumns]),
    ],
)
def test_only_a_statement_that_replaces_columns_drops_before_it_adds(
    changes: list[dict[str, Any]], kinds: list[type]
) -> None:
    asked = AlterTable.model_validate({"path": "t", "changes": changes}).changes
    assert [type(each) for each in alterations(asked)] == kinds
