"""The Java reader reads rows of every type and encoding after each step, as a model has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.evolution.pairs import STEPS, after
from tests.spark_ext.java.read_tool import TYPES, ReadTool, expected_rows, spark_schema

QUICK = ("replace columns",)


@pytest.mark.parametrize(
    "step",
    [pytest.param(each, marks=() if each in QUICK else pytest.mark.long) for each in STEPS],
)
def test_each_step_after_a_rowset_of_each_type_and_encoding(
    tool: ReadTool, tmp_path: Path, step: str
) -> None:
    table, expected = after(tmp_path / "t", step, TYPES)
    at = expected.column_names.index("k")
    [batch] = expected.combine_chunks().to_batches()
    for done in ("as written", "compacted"):
        if done == "compacted":
            table.optimize().option("min-rowsets", 2).executeCompaction()
        plan = table.scan()._plan
        wanted = expected_rows(batch, plan.output_schema)
        schema = spark_schema(plan.output_schema)
        found = tool.rows(f"file://{tmp_path / 't'}", json.loads(plan.to_json()), schema)
        found.sort(key=lambda row: int(row[at]))
        for number, name in enumerate(expected.column_names):
            one, other = ([row[number] for row in rows] for rows in (found, wanted))
            assert one == other, f"{step}, {done}: {name}, {expected.schema.field(name).type}"
