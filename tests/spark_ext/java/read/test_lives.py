"""The Java reader shows at each epoch of a life what the Python reader shows.

The life compares the Python reader with a model (`tests/lived.py`).
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from colonnade.manifests.store import LocalStore
from colonnade.spark_ext.planner.read.scan_tasks import statics_json
from colonnade.tableformat.scan.plan import ScanPlan
from tests.lived import Life
from tests.spark_ext.java.read_tool import ReadTool, expected_rows, spark_schema


def read(tool: ReadTool, url: str, plan: ScanPlan) -> list[Any]:
    """Read a plan as the tasks of Spark do, which get static values apart."""
    if not plan.rowsets:
        return []
    statics = plan.view.statics
    how: dict[str, Any] = {}
    if statics is not None:
        how["statics"] = statics_json(statics)
    alone = replace(plan, view=replace(plan.view, statics=None))
    task = json.loads(alone.to_json())
    answer = tool.answer(url, task, spark_schema(plan.output_schema), **how)
    assert "rows" in answer, answer
    return list(answer["rows"])


def compare(tool: ReadTool, path: Path, seed: int, steps: int) -> None:
    store = LocalStore(str(path))
    life = Life(seed, store=store)
    for _ in range(steps):
        life.step()
    for epoch in [*life.known, None]:
        scan = life.table.scan(epoch=epoch)
        batches = scan.to_arrow().combine_chunks().to_batches()
        expected = [
            row for each in batches for row in expected_rows(each, scan._plan.output_schema)
        ]
        assert read(tool, store.url, scan._plan) == expected, f"epoch {epoch}"


@pytest.mark.parametrize("seed", range(3))
def test_both_readers_show_the_same_at_each_epoch_of_a_life(
    tool: ReadTool, tmp_path: Path, seed: int
) -> None:
    compare(tool, tmp_path, seed, 12)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 130))
def test_both_readers_show_the_same_at_each_epoch_of_many_long_lives(
    tool: ReadTool, tmp_path: Path, seed: int
) -> None:
    compare(tool, tmp_path, seed, 40)
