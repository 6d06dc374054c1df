"""Rows written by the JVM are what Python reads, in the same encodings and with the same bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manifests.entries import RowSetEntry
from manifests.schema import SchemaField, TableSchema, assign_ids
from manifests.store import LocalStore
from tableformat.arrow_types import schema_from_arrow
from tableformat.block import BlockEntry
from tableformat.column import column_of
from tableformat.rowset_reader import RowSetReader
from tableformat.rowset_writer import RowSetWriter
from tableformat.write_job import WriteSettings, write_options
from tests.spark_ext.java.read_tool import ReadTool, expected_rows, plan_of, spark_schema
from tests.spark_ext.java.write_tool import JOB, PREFIX, WriteTool, read
from tests.strategies import PRIMITIVES, batches, identical, make_batch, schemas

PLACES = {
    "inline": {"inline_bytes": 2**20},
    "packed": {"inline_bytes": 0},
    "directory": {"inline_bytes": 0, "packed_bytes": 0},
}


@pytest.fixture(scope="module")
def writer(class_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WriteTool]:
    with WriteTool(class_path, tmp_path_factory.mktemp("writer")) as running:
        yield running


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new folder each time."""
    return (tmp_path_factory.mktemp("db") for _ in iter(int, 1))


def by_python(
    url: Path, schema: TableSchema, *rows: pa.RecordBatch, **options: Any
) -> tuple[RowSetEntry, ...]:
    """The same rows written by the Python writer."""
    chosen = replace(write_options(schema, (), WriteSettings()), **options)
    with RowSetWriter(LocalStore(url), PREFIX, JOB, schema, (), chosen) as writer:
        for batch in rows:
            writer.write(batch)
        return writer.close()


def blocks(url: Path, schema: TableSchema, entry: RowSetEntry) -> list[list[BlockEntry]]:
    """For each column what the index knows about its blocks, but for how many bytes they take.

    Arrow counts the bits of a slice in whole bytes of where it comes from, so that even the decoded
    size depends on it.
    """
    reader = RowSetReader(LocalStore(url), PREFIX, entry)
    found = []
    for field in schema.fields:
        opened = reader._open(column_of(field))
        assert opened is not None
        found.append(
            [replace(each, length=0, crc32c=0, decoded=0) for each in opened.index.entries]
        )
    return found


def one_column(array: pa.Array) -> tuple[TableSchema, pa.RecordBatch]:
    batch = pa.record_batch([array], ["a"])
    return assign_ids(schema_from_arrow(batch.schema), 1)[0], batch


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("unsafe", [True, False])
@pytest.mark.parametrize("text", PRIMITIVES)
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
    assert (entry.place, entry.rows, entry.cuts) == (place, 301, expected.cuts)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
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
