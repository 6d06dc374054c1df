"""A task that merges RowSets returns the rows, and the order of rows, that Python returns."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.tableformat.scan.arrow_scan import Scan
from colonnade.tableformat.write import pipeline
from tests.compaction_tables import take
from tests.spark_ext.java.read_tool import TYPES, ReadTool, expected_rows, spark_schema
from tests.strategies import make_batch

KEYS = [text for text in TYPES if text != "variant" and "collate" not in text]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    options = pipeline.write_options
    monkeypatch.setattr(
        pipeline, "write_options", lambda *a, **k: replace(options(*a, **k), block_rows=6)
    )


def check(tool: ReadTool, scan: Scan, url: str) -> None:
    plan = json.loads(scan._plan.to_json())
    answer = tool.answer(url, plan, spark_schema(scan._plan.output_schema), merged=True)
    rows = [
        row for batch in scan.to_batches() for row in expected_rows(batch, scan._plan.output_schema)
    ]
    assert answer.get("rows") == rows, answer.get("error", answer.get("crash"))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("key", KEYS)
def test_rows_with_keys_of_any_type_are_merged_as_in_python(
    tool: ReadTool, tmp_path: Path, key: str
) -> None:
    rng = random.Random(key)
    fields = (
        SchemaField(name="v", type="string"),
        SchemaField(name="k", type=key),
        SchemaField(name="n", type=rng.choice(KEYS)),
    )
    schema = assign_ids(TableSchema(fields=fields), 1)[0]
    order = [f"k{rng.choice(('', ' desc'))}", "n desc"]
    table = colonnade.create(tmp_path / "t", schema, sort_key=order)
    for count in (25, 1, 30, 14):
        rows = make_batch(schema, count, rng.randrange(2**32))
        table.append(pa.Table.from_batches([rows]))
    take(table, [rng.sample(range(count), count // 3) for count in (25, 1, 30, 14)])
    check(tool, table.scan(order="key"), f"file:{tmp_path}/t")
    check(tool, table.scan(["n", "k"], order="key"), f"file:{tmp_path}/t")


def test_one_rowset_after_another_is_a_merge_too(tool: ReadTool, tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.int64()), ("v", pa.string())])
    table = colonnade.create(tmp_path / "t", schema, sort_key=["k desc"])
    for first in (100_000, 0, 50_000):
        numbers = range(first, first + 70_000)
        table.append(pa.table({"k": numbers, "v": [f"row {n % 99}" for n in numbers]}, schema))
    table.delete("k BETWEEN 60000 AND 90000")
    check(tool, table.scan(order="key"), f"file:{tmp_path}/t")
