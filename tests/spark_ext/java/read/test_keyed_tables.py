"""Both readers have the rows of a keyed table at every epoch, whatever its writers did before."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from colonnade.manifests.store import LocalStore
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.keyed_world import KEY, SCHEMA, KeyedWorld
from tests.spark_ext.java.read_tool import ReadTool, expected_rows, spark_schema
from tests.tableformat.statements.keyed.test_keyed_tables import Run
from tests.tableformat.statements.tables import made


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 40))]
)
def test_both_readers_have_the_rows_of_a_dictionary_at_every_epoch(
    tool: ReadTool, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    world = KeyedWorld.chosen(rng)
    store = LocalStore(str(tmp_path))
    table = made(store, arrow_schema(SCHEMA), KEY, properties=world.properties)
    run = Run(rng, table, world)
    run.note()
    for _ in range(8 if seed == 1 else 40):
        run.step()
    run.finish()  # compares the reader in Python with the dictionary
    for epoch in run.epochs:
        scan = table.scan(epoch=epoch)
        schema = scan._plan.output_schema
        batches = scan.to_arrow().combine_chunks().to_batches()
        wanted = expected_rows(batches[0], schema) if batches else []
        found = tool.rows(store.url, json.loads(scan._plan.to_json()), spark_schema(schema))
        assert sorted(found, key=str) == sorted(wanted, key=str), (seed, epoch)
