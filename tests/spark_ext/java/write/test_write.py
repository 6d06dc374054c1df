"""Rows written by the JVM are what Python reads, in the same encodings and with the same bounds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.rowset.encodings import lengths
from colonnade.tableformat.rowset.stored.source import RowSetSource
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from tests.examples_of import examples
from tests.spark_ext.java.read_tool import ReadTool, expected_rows, plan_of, spark_schema
from tests.spark_ext.java.write_tool import (
    PLACES,
    PREFIX,
    WriteTool,
    blocks,
    by_python,
    read,
    stated,
)
from tests.strategies import PRIMITIVES, batches, identical, make_batch, schemas
from tests.tagged import tagged


def forms() -> Iterator[Any]:
    """Each type in each place, from both forms of Spark's rows: in one of them always."""
    for at, text in enumerate(PRIMITIVES):
        for turn, place in enumerate(PLACES):
            for unsafe in (True, False):
                often = (at + turn) % 2 == unsafe
                yield pytest.param(text, unsafe, place, marks=() if often else pytest.mark.long)


@pytest.mark.parametrize(("text", "unsafe", "place"), list(forms()))
def test_every_type_is_written_like_python_does(
    writer: WriteTool, folders: Iterator[Path], text: str, unsafe: bool, place: str
) -> None:
    fields = [SchemaField(name=f"c{i}", type=text, nullable=i > 0) for i in range(3)]
    schema = assign_ids(TableSchema(fields=tuple(fields)), 1)[0]
    rows = make_batch(schema, 301, sum(map(ord, text)))
    options = {"block_rows": 100, "block_bytes": 2000, **PLACES[place]}
    url, other = next(folders), next(folders)
    (entry,) = writer.write(url, schema, rows, unsafe=unsafe, options=options)
    (expected,) = by_python(other, schema, rows, **options)
    assert identical(read(url, schema, (entry,)), rows)
    assert blocks(url, schema, entry) == blocks(other, schema, expected)
    assert entry.statistics == expected.statistics
    assert (entry.place, entry.rows, entry.cuts) == (stated(place), 301, expected.cuts)


@settings(
    max_examples=examples(80),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_every_schema_comes_back(
    writer: WriteTool, tool: ReadTool, folders: Iterator[Path], data: st.DataObject
) -> None:
    schema = data.draw(schemas())
    rows = data.draw(batches(schema, min_rows=1, max_rows=60))
    options = {
        "block_rows": data.draw(st.sampled_from((1, 7, 65_536))),
        "block_bytes": data.draw(st.sampled_from((16, 200, 8 * 2**20))),
        **PLACES[data.draw(st.sampled_from(tuple(PLACES)))],
    }
    url, other = next(folders), next(folders)
    unsafe = data.draw(st.booleans())
    (entry,) = writer.write(url, schema, rows, options=options, unsafe=unsafe)
    (expected,) = by_python(other, schema, rows, **options)
    assert identical(read(url, schema, (entry,)), rows)
    if options["block_bytes"] > 200:
        assert blocks(url, schema, entry) == blocks(other, schema, expected)
    assert entry.statistics == expected.statistics
    plan = plan_of(schema, (entry,), prefix=PREFIX)
    found = tool.rows(str(url), plan, spark_schema(schema))
    assert found == expected_rows(rows, schema)


def test_blocks_are_divided_and_statistics_cut_as_in_python(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    rng = np.random.default_rng(7)
    count = 20_000
    names = np.array([f"name {i} " + "é" * (i % 90) for i in range(300)])
    rows = pa.record_batch(
        {
            "wide": pa.array([chr(0xD7FF) * 70 + str(i) for i in range(count)]),
            "few": pa.array(names[rng.integers(0, 300, count)]),
            "raw": pa.array([bytes([255]) * 80] * count, pa.binary()),
            "id": pa.array(rng.permutation(count) + 2**40),
            "near": pa.array(rng.integers(0, 60_000, count)),
            "few_longs": pa.array(rng.choice([2**62, -(2**62), 5], count)),
            "random": pa.array(rng.integers(-(2**62), 2**62, count)),
            "price": pa.array(rng.integers(0, 10**9, count)).cast(pa.decimal128(19, 0)),
            "few_prices": pa.array(rng.integers(0, 9, count) * 10**12).cast(pa.decimal128(38, 0)),
            "ratio": pa.array(rng.random(count)),
            "steps": pa.array(rng.integers(0, 11, count) / 10),
            "zeros": pa.array(np.where(rng.random(count) < 0.5, 0.0, -0.0)),
            "notes": pa.array([str(i) for i in range(count)], mask=rng.random(count) < 0.2),
            "letters": pa.array([f"{i}" + "é" * (i % 200) for i in range(count)]),
            "files": pa.array([b"\0" * (i == 7) * 70_000 + b"%d" % i for i in range(count)]),
            "holes": pa.array(rng.random(count), mask=rng.random(count) < 0.3),
        }
    )
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    url, other = next(folders), next(folders)
    (entry,) = writer.write(url, schema, rows)
    parts = [rows.slice(at, 500) for at in range(0, count, 500)]
    (expected,) = by_python(other, schema, *parts)
    assert identical(read(url, schema, (entry,)), rows)
    found = blocks(url, schema, entry)
    assert found == blocks(other, schema, expected)
    texts = [each.encoding for column in found[12:15] for each in column]
    assert texts == [lengths.NAME] * 3
    assert entry.statistics == expected.statistics
    assert entry.bytes < 1.02 * expected.bytes


def test_a_row_that_is_wider_than_a_block_is_held_alone(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    texts = ["a", "x" * 200_000, "b", "c", "y" * 300_000]
    rows = pa.record_batch({"id": pa.array(range(5)), "text": pa.array(texts)})
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    url = next(folders)
    (entry,) = writer.write(url, schema, rows, unsafe=True, options={"block_bytes": 150_000})
    assert entry.cuts == (1, 2, 4, 5)
    assert identical(read(url, schema, (entry,)), rows)


def test_columns_are_found_by_name_in_any_order_and_case(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    inner = pa.struct([("x", pa.int32()), ("y", pa.string())])
    rows = pa.record_batch(
        {"a": pa.array([1, 2]), "s": pa.array([{"x": 3, "y": "t"}, None], inner)}
    )
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    other = pa.struct([("Y", pa.string()), ("X", pa.int32())])
    given_rows = pa.record_batch(
        {"S": pa.array([{"Y": "t", "X": 3}, None], other), "A": pa.array([1, 2])}
    )
    url = next(folders)
    shown = spark_schema(schema_from_arrow(given_rows.schema))
    entries = writer.write(url, schema, given_rows, row_schema=shown)
    assert identical(read(url, schema, entries), rows)


def test_bounds_of_floats_are_what_python_writes(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2**64, 300, np.uint64).view(np.float64)
    powers = 2.0 ** np.arange(-1074, 1024, 23)
    tens = 10.0 ** np.arange(-20, 25)
    plain = np.array([0.1, 1e16, 123456789012345680.0, 9007199254740993.0, 5e-324, -1e-5, 1e22])
    found = np.concatenate([values, powers, tens, plain, -tens])
    finite = found[np.isfinite(found)]
    columns = {f"c{i}": pa.array([value]) for i, value in enumerate(finite)}
    rows = pa.record_batch(columns)
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    url = next(folders)
    (entry,) = writer.write(url, schema, rows)
    footer = RowSetSource(LocalStore(url), PREFIX, entry).footer().columns
    texts = [footer[each.id].statistics.min for each in schema.fields]
    assert texts == [tagged(float(value)) for value in finite]
