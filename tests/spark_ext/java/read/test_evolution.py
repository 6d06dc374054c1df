"""Columns and rules change between statements: both readers read each epoch as a model has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from colonnade.manifests.store import LocalStore
from tests.evolution.steps import evolve, reads
from tests.evolution.world import World
from tests.spark_ext.java.read_tool import ReadTool, expected_rows, spark_schema


def check(tool: ReadTool, world: World, url: str) -> None:
    """Compare both readers with the model, and so with each other, at every epoch."""
    for name, scan, expected in reads(world):
        assert scan.to_arrow().sort_by("k").to_pydict() == expected.to_pydict(), name
        schema = scan._plan.output_schema
        [batch] = expected.combine_chunks().to_batches() or [None]
        found = tool.rows(url, json.loads(scan._plan.to_json()), spark_schema(schema))
        wanted = [] if batch is None else expected_rows(batch, schema)
        at = expected.column_names.index("k")
        assert sorted(found, key=lambda row: int(row[at])) == wanted, name


@pytest.mark.parametrize(
    "seed", [1001, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1002, 1040))]
)
def test_both_readers_have_the_rows_and_types_of_the_model_at_every_epoch(
    tool: ReadTool, tmp_path: Path, seed: int
) -> None:
    store = LocalStore(str(tmp_path))
    world = World(store, seed, placed=seed % 3 == 0, ruled=seed % 2 == 1)
    evolve(world, 15 if seed == 1001 else 40)
    check(tool, world, store.url)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1100, 1104))
def test_both_readers_agree_on_rows_of_many_blocks(
    tool: ReadTool, tmp_path: Path, seed: int
) -> None:
    store = LocalStore(str(tmp_path))
    world = World(store, seed, batches=(5, 20_000), ruled=True, depth=3)
    evolve(world, 12)
    check(tool, world, store.url)
