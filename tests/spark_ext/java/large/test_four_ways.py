"""Both writers and both readers, in Java and in Python, agree on the rows in all four pairs.

Every type in every encoding that the writers choose for it, in every place, with NULL in none,
some or all rows, and with rows deleted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.model.deletion_vector import DeletionVector, write_deletion_vector
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import (
    ArrayType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
    assign_ids,
)
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.scan.plan import ScanPlan
from colonnade.tableformat.scan.run import read_plan
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.spark_ext.java.read_tool import TYPES, ReadTool, expected_rows, plan_of, spark_schema
from tests.spark_ext.java.write_tool import (
    JOB,
    PLACES,
    PREFIX,
    WriteTool,
    blocks,
    by_python,
    stated,
)
from tests.strategies import make_batch

ROWS = 640
BLOCK_ROWS = 260  # so that blocks end among deleted rows, and among live rows

TEXTS = ("string", "binary", "string collate UNICODE_CI")

NESTED: dict[str, Any] = {
    "array": ArrayType(element=SchemaField(name="element", type="string")),
    "map": MapType(
        key=SchemaField(name="key", type="long", nullable=False),
        value=SchemaField(name="value", type="decimal(38,10)"),
    ),
    "struct": StructType(
        fields=(
            SchemaField(name="x", type="timestamp"),
            SchemaField(name="y", type=ArrayType(element=SchemaField(name="element", type="int"))),
        )
    ),
}
KINDS: dict[str, Any] = {**{text: text for text in TYPES}, **NESTED}

COLUMNS = ("all", "holes", "few", "few_holes", "near", "one", "none", "required")
"""Different values, few, and some close to each other; NULL in some rows, in all, in none."""

STEPS = {
    **dict.fromkeys(("short", "int", "long", "date", "timestamp", "timestamp_ntz"), 1),
    **dict.fromkeys(("interval year to month", "interval day to second"), 1),
    "time(6)": 1000,
    "decimal(9,2)": 1,
}
"""Types that are stored as numbers, with the distance between two neighbours."""

DELETED = {
    "none": (),
    "some": range(0, ROWS, 7),
    "a block and more": range(200, 600),
    "all": range(ROWS),
}


def table_of(kind: Any, seed: int) -> tuple[TableSchema, pa.RecordBatch]:
    """A column of one type for each of COLUMNS."""
    fields = [SchemaField(name=name, type=kind, nullable=name != "required") for name in COLUMNS]
    schema = assign_ids(TableSchema(fields=tuple(fields)), 1)[0]
    lone = TableSchema(fields=(schema.fields[-1],))
    values = make_batch(lone, ROWS, seed).column(0)
    rng = np.random.default_rng(seed)
    few = rng.integers(0, 3, ROWS)
    rows = {"few": few, "few_holes": few, "one": np.ones(ROWS, int)}
    nulls = {"holes": 0.3, "few_holes": 0.3, "none": 1.0}
    kinds = arrow_schema(schema)
    arrays = []
    for column in kinds:
        taken = values.take(pa.array(rows.get(column.name, np.arange(ROWS))))
        if column.name == "near" and kind in STEPS:
            taken = near_values(column.type, STEPS[kind])
        elif column.name == "near" and kind in TEXTS:
            texts = [f"{at * 7919 % 1000:x}" * (1 + at % 3) for at in range(ROWS)]
            taken = pa.array(texts).cast(column.type)
        arrays.append(with_nulls(taken, rng.random(ROWS) < nulls.get(column.name, 0.0)))
    return schema, pa.RecordBatch.from_arrays(arrays, schema=kinds)


def near_values(kind: pa.DataType, step: int) -> pa.Array:
    numbers = [(at * 37 % 60 + 7) * step for at in range(ROWS)]
    if pa.types.is_decimal(kind):
        return pa.array([Decimal(each).scaleb(-kind.scale) for each in numbers], kind)
    return pa.array(numbers, pa.int64()).cast(f"int{kind.bit_width}").view(kind)


def with_nulls(values: pa.Array, at: Any) -> pa.Array:
    """Return the values with NULL in some rows; a field of a struct that is not nullable stays."""
    if pa.types.is_struct(values.type):
        fields = [values.type.field(i) for i in range(values.type.num_fields)]
        parts = [values.field(i) for i in range(len(fields))]
        return pa.StructArray.from_arrays(parts, fields=fields, mask=pa.array(at))
    return values.take(pa.array(np.arange(ROWS), mask=at))


def read_both(
    tool: ReadTool, url: Path, schema: TableSchema, entry: RowSetEntry, gone: Any
) -> dict[str, list[Any]]:
    """The rows that each reader sees beside deleted ones."""
    store = LocalStore(url)
    vectors = {}
    if gone:
        vectors[0] = write_deletion_vector(store, PREFIX, JOB, DeletionVector.of(gone))
    plan = plan_of(schema, [entry], vectors, prefix=PREFIX)
    found = pa.Table.from_batches(
        read_plan(store, ScanPlan.from_json(json.dumps(plan))), arrow_schema(schema)
    ).combine_chunks()
    whole = found.to_batches() or [pa.RecordBatch.from_pylist([], found.schema)]
    return {
        "python": expected_rows(whole[0], schema),
        "java": tool.rows(str(url), plan, spark_schema(schema)),
    }


def cases() -> Iterator[Any]:
    """Each type is in each place: in one of them always, in the other places in some runs."""
    for at, kind in enumerate(KINDS):
        for turn, place in enumerate(PLACES):
            often = at % len(PLACES) == turn
            yield pytest.param(kind, place, marks=() if often else pytest.mark.long)


@pytest.mark.parametrize(("kind", "place"), list(cases()))
def test_two_writers_and_two_readers_agree(
    writer: WriteTool, tool: ReadTool, folders: Iterator[Path], kind: str, place: str
) -> None:
    schema, rows = table_of(KINDS[kind], sum(map(ord, kind)))
    options = {"block_rows": BLOCK_ROWS, **PLACES[place]}
    urls = {"python": next(folders), "java": next(folders)}
    entries = {
        "python": by_python(urls["python"], schema, rows, **options),
        "java": writer.write(urls["java"], schema, rows, options=options),
    }
    known = blocks(urls["python"], schema, entries["python"][0])
    assert known == blocks(urls["java"], schema, entries["java"][0])
    encodings = {c: {each.encoding for each in k} for c, k in zip(COLUMNS, known, strict=True)}
    check_encodings(kind, encodings)

    expected = expected_rows(rows, schema)
    for deleted in DELETED.values():
        left = [row for at, row in enumerate(expected) if at not in set(deleted)]
        for by, (entry,) in entries.items():
            assert entry.place == stated(place)
            for reader, found in read_both(tool, urls[by], schema, entry, deleted).items():
                assert found == left, f"written by {by}, read by {reader}"


def check_encodings(kind: str, encodings: dict[str, set[str]]) -> None:
    """The columns are what they are here for; test_encodings.py reads whatever else there is."""
    assert encodings["none"] == {"null"}
    if kind not in (*NESTED, "variant", "string collate UNICODE_CI"):
        assert encodings["one"] == {"constant"}
    if kind in STEPS:
        assert encodings["near"] == {"narrowed"}
    if kind in TEXTS:
        assert "lengths" in encodings["near"]
    if kind in ("string", "binary", "double", "timestamp"):
        assert "dictionary" in encodings["few"]
