"""A statement and its options do not both say how a new table is arranged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import InvalidInputError
from colonnade.spark_ext.planner.write.writes import plan_write

SCHEMA = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": name, "type": "long", "nullable": True, "metadata": {}} for name in "ab"
        ],
    }
)
IDENTITY = {"transform": "identity", "column": ["a"], "argument": None}
PLAIN: dict[str, Any] = {
    "columns": SCHEMA,
    "layout": {},
    "properties": {},
    "replace": True,
}
STATED: dict[str, list[dict[str, Any]]] = {
    "partitionBy": [{"layout": {"partitioning": [IDENTITY]}}],
    "sortKey": [{"layout": {"cluster_by": [["a"]]}}, {"properties": {"sortKey": "a"}}],
    "primaryKey": [{"properties": {"primaryKey": "a"}}],
}


def planned(path: Path, design: dict[str, Any], **options: str) -> dict[str, Any]:
    args = {"path": str(path), "columns": SCHEMA, "options": options}
    return plan_write({**args, "design": PLAIN | design})


@pytest.mark.parametrize(
    ("option", "stated"), [(option, each) for option, every in STATED.items() for each in every]
)
@pytest.mark.parametrize("asked", ["a", "b"])
def test_an_option_that_says_again_what_the_statement_says_is_refused(
    tmp_path: Path, option: str, stated: dict[str, Any], asked: str
) -> None:
    planned(tmp_path / "t", stated)
    planned(tmp_path / "t", {}, **{option: asked})
    with pytest.raises(InvalidInputError, match=f"The option {option} and another part of this"):
        planned(tmp_path / "t", stated, **{option: asked})


def test_a_statement_that_replaces_a_table_may_say_that_it_replaces_its_columns(
    tmp_path: Path,
) -> None:
    colonnade.create(tmp_path / "t", pa.schema({"x": pa.int64()}))
    assert planned(tmp_path / "t", {}, overwriteSchema="true")["exact"]
