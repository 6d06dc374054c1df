"""Columns change between statements: the Java reader reads each epoch as a plain model has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from colonnade.manifests.store import LocalStore
from tests.evolving import World
from tests.spark_ext.java.read_tool import ReadTool, expected_rows, spark_schema

STEPS = 20


@pytest.mark.parametrize(
    "seed", [1000, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1001, 1030))]
)
def test_every_epoch_has_the_rows_and_types_of_the_model(
    tool: ReadTool, tmp_path: Path, seed: int
) -> None:
    store = LocalStore(str(tmp_path))
    world = World(store, seed)
    for _ in range(STEPS):
        world.step()
    for epoch in world.epochs:
        scan = world.open().scan(epoch=epoch)
        schema = scan.plan.output_schema
        [expected] = world.expected(epoch).combine_chunks().to_batches() or [None]
        found = tool.rows(store.url, json.loads(scan.plan.to_json()), spark_schema(schema))
        wanted = [] if expected is None else expected_rows(expected, schema)
        assert sorted(found, key=lambda row: int(row[0])) == wanted, f"epoch {epoch}"
